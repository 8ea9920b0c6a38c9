"""Promotion: common dtypes and shapes of operands, limits of dtypes, and indices of triangles, as in NumPy, for tensors.

Nothing here has a gradient.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy import finfo as finfo
from numpy import iinfo as iinfo

from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..support.error_hints import answering

P = ParamSpec("P")
R = TypeVar("R")


def _plain(value: Any) -> Any:
    """A tensor's dtype; an array, a dtype or a (weakly typed) number unchanged."""
    return value.dtype if isinstance(value, TensorBase) else value


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The broadcast shape of arrays with these shapes.

    Parameters
    ----------
    *shapes : int or tuple of int

    Returns
    -------
    tuple of int
    """
    return np.broadcast_shapes(*shapes)


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether a dtype, or the dtype of a tensor, can be cast to another dtype.

    Parameters
    ----------
    from_ : dtype or Tensor
    to : dtype
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}

    Returns
    -------
    bool
    """
    return np.can_cast(from_.dtype if isinstance(from_, TensorBase) else from_, to, casting)


def promote_types(a: Any, b: Any) -> Any:
    """The smallest dtype that both dtypes can be cast to.

    Parameters
    ----------
    a, b : dtype

    Returns
    -------
    dtype
    """
    return np.promote_types(a, b)


def result_type(*operands: Any) -> Any:
    """The dtype of an operator's result for these operands.

    Parameters
    ----------
    *operands : Tensor, array, dtype or number

    Returns
    -------
    dtype
    """
    return np.result_type(*map(_plain, operands))


def _unlike_pytorch(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse two equal numbers by position: the second is a diagonal in NumPy, but usually the number of columns is meant."""

    @wraps(function)
    def called(*args: P.args, **keywords: P.kwargs) -> R:
        if len(args) > 1 and isinstance(args[1], int) and args[0] == args[1] > 1:
            name, (rows, columns) = function.__name__, args[:2]
            raise TypeError(f"{name}: ({rows}, {columns}) are rows and a diagonal in NumPy, rows and columns in PyTorch; write "
                            f"{name}({rows}, m={columns}), with k= for the diagonal")  # fmt: skip
        return function(*args, **keywords)

    return called


@_unlike_pytorch
@answering
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """Indices of the elements on and below diagonal `k` of an n by m matrix.

    Parameters
    ----------
    n : int
    k : int
    m : int, optional
        `n` by default.

    Returns
    -------
    tuple of Tensor
        Rows and columns.
    """
    rows, columns = np.tril_indices(n, k, m)
    return asarray(rows), asarray(columns)


@_unlike_pytorch
@answering
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """Indices of the elements on and above diagonal `k` of an n by m matrix.

    Parameters
    ----------
    n : int
    k : int
    m : int, optional
        `n` by default.

    Returns
    -------
    tuple of Tensor
        Rows and columns.
    """
    rows, columns = np.triu_indices(n, k, m)
    return asarray(rows), asarray(columns)


def get_default_dtype() -> np.dtype[Any]:
    """The dtype of tensors built from Python floats, which is float64, as in NumPy.

    Returns
    -------
    dtype
    """
    return np.dtype(np.float64)


def set_default_dtype(d: Any) -> None:
    """Do nothing, for float64.

    Parameters
    ----------
    d : dtype

    Raises
    ------
    TypeError
        For any other dtype: the results of existing functions would depend on it.
    """
    if np.dtype(d) != get_default_dtype():
        raise TypeError(f"set_default_dtype: the default is float64, as in NumPy; write dtype={np.dtype(d).name!r} where a "
                        "tensor is made, and module.to(dtype)")  # fmt: skip

"""PyTorch's functions that convert to a tensor, or test the kind of its elements."""

from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..support.error_hints import answering


@answering
def as_tensor(data: Any, dtype: Any = None) -> Any:
    """`data` as a tensor, sharing its memory if possible.

    Parameters
    ----------
    data : array_like
    dtype : dtype, optional

    Returns
    -------
    Tensor
    """
    return asarray(data, dtype)


def from_numpy(array: Any) -> Any:
    """A tensor in the memory of an array.

    Parameters
    ----------
    array : numpy.ndarray

    Returns
    -------
    Tensor
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy: argument 'array' must be a numpy.ndarray, got {type(array).__name__}; write asarray(...)")
    return asarray(array)


def is_complex(x: Any) -> bool:
    """Whether the elements are complex numbers.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    bool
    """
    return bool(asarray(x).dtype.kind == "c")


def is_floating_point(x: Any) -> bool:
    """Whether the elements are real floating-point numbers.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    bool
    """
    return bool(asarray(x).dtype.kind == "f")


def is_inference(x: Any) -> bool:
    """Whether a tensor was created in inference mode.

    Parameters
    ----------
    x : Tensor

    Returns
    -------
    bool
    """
    return bool(x.is_inference())

"""Construct sparse matrices: `coo`, `csr`, PyTorch's names for these, and conversions from SciPy's and dense arrays.

Checks shapes and places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.conversion import asarray
from ..generated.tensor import Tensor
from ..support.dispatch import ops
from ..support.error_hints import answering
from .sparse_tensor import SparseTensor, of_scipy

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt


def coo(
    data: Tensor | npt.ArrayLike,
    indices: Tensor | npt.ArrayLike | Sequence[Any],
    shape: Sequence[int] | None = None,
) -> SparseTensor:
    """Construct a sparse matrix from its elements and their places.

    Parameters
    ----------
    data : array_like
        (e,), the stored elements, which receive the gradient.
    indices : (array_like, array_like) of int
        Rows and columns, (e,) each, not negative. Elements stored twice at one place are summed.
    shape : (int, int), optional
        By default as small as the places allow.

    Returns
    -------
    SparseTensor

    Raises
    ------
    TypeError
        The places are not integers.
    ValueError
        Places are outside the shape, or lengths differ.

    Examples
    --------
    >>> data = gs.tensor([1.0, 2.0, 4.0], requires_grad=True)
    >>> A = gs.sparse.coo(data, ([0, 0, 1], [0, 2, 2]), (2, 3))
    >>> (A @ gs.tensor([1.0, 1.0, 5.0])).sum().backward()
    >>> data.grad
    tensor([1., 5., 5.])
    """
    pair = indices if isinstance(indices, (tuple, list)) else asarray(indices).detach().numpy()
    if len(pair) != 2:
        raise ValueError(f"coo: indices are rows and columns, got {len(pair)} of them; gs.sparse has matrices alone")
    rows, columns = (_places("coo", part) for part in pair)
    if shape is None:
        shape = [int(part.max()) + 1 if part.size else 0 for part in (rows, columns)]
    return _made("coo", data, rows, columns, shape, "coo")


def csr(
    data: Tensor | npt.ArrayLike,
    indices: Tensor | npt.ArrayLike,
    indptr: Tensor | npt.ArrayLike,
    shape: Sequence[int] | None = None,
) -> SparseTensor:
    """Construct a sparse matrix from its elements by rows.

    Parameters
    ----------
    data : array_like
        (e,), the stored elements, which receive the gradient.
    indices : array_like of int
        (e,), their columns.
    indptr : array_like of int
        (m + 1,), the start of each row among the elements, and the end of the last row.
    shape : (int, int), optional
        By default as many columns as the indices require.

    Returns
    -------
    SparseTensor
    """
    columns, begins = _places("csr", indices), _places("csr", indptr)
    if not len(begins) or begins[0] or begins[-1] != len(columns) or (np.diff(begins) < 0).any():
        raise ValueError(f"csr: indptr must rise from 0 to {len(columns)}, the number of stored elements")
    if shape is None:
        shape = len(begins) - 1, int(columns.max()) + 1 if columns.size else 0
    if len(begins) != shape[0] + 1:
        raise ValueError(f"csr: {shape[0]} rows have {shape[0] + 1} numbers in indptr, got {len(begins)}")
    rows = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    return _made("csr", data, rows, columns, shape, "csr")


def from_scipy(array: Any, *, requires_grad: bool = False) -> SparseTensor:
    """Construct a sparse matrix from the stored elements of a `scipy.sparse` array or matrix of any format.

    Parameters
    ----------
    array : scipy.sparse array or matrix
    requires_grad : bool
        Whether the stored elements are a leaf that receives a gradient.

    Returns
    -------
    SparseTensor
        With a copy of the elements: later writes to `array` do not change it.
    """
    if not type(array).__module__.startswith("scipy.sparse"):
        raise TypeError(f"from_scipy: expected a scipy.sparse array, got {type(array).__name__}")
    A = of_scipy(array)
    return A.requires_grad_() if requires_grad else A


def from_dense(x: Tensor | npt.ArrayLike) -> SparseTensor:
    """Construct a sparse matrix from the nonzero elements of a dense one, in its graph; PyTorch's `x.to_sparse()`.

    Parameters
    ----------
    x : array_like
        (m, n)

    Returns
    -------
    SparseTensor
    """
    x = asarray(x)
    if x.ndim != 2:
        raise ValueError(f"from_dense: expected a matrix, got an array of shape {x.shape}; gs.sparse has matrices alone")
    rows, columns = np.nonzero(x.detach().numpy())
    return SparseTensor(x[rows, columns], rows, columns, x.shape, "coo", True)


@answering
def sparse_coo_tensor(
    indices: Tensor | npt.ArrayLike | Sequence[Any],
    values: Tensor | npt.ArrayLike,
    size: Sequence[int] | None = None,
    *,
    dtype: npt.DTypeLike = None,
    requires_grad: bool = False,
) -> SparseTensor:
    """`coo` in the order of PyTorch's arguments.

    Parameters
    ----------
    indices : (2, e) array_like of int
    values : (e,) array_like
    size : (int, int), optional
    dtype : dtype, optional
    requires_grad : bool
        Whether the values are a leaf that receives a gradient.

    Returns
    -------
    SparseTensor
    """
    return coo(_leaf(values, dtype, requires_grad), indices, size)


@answering
def sparse_csr_tensor(
    crow_indices: Tensor | npt.ArrayLike,
    col_indices: Tensor | npt.ArrayLike,
    values: Tensor | npt.ArrayLike,
    size: Sequence[int] | None = None,
    *,
    dtype: npt.DTypeLike = None,
    requires_grad: bool = False,
) -> SparseTensor:
    """`csr` in the order of PyTorch's arguments.

    Parameters
    ----------
    crow_indices : (m + 1,) array_like of int
    col_indices : (e,) array_like of int
    values : (e,) array_like
    size : (int, int), optional
    dtype : dtype, optional
    requires_grad : bool
        Whether the values are a leaf that receives a gradient.

    Returns
    -------
    SparseTensor
    """
    return csr(_leaf(values, dtype, requires_grad), col_indices, crow_indices, size)


def _leaf(values: Any, dtype: Any, requires_grad: bool) -> Tensor:
    values = asarray(values, dtype=dtype)
    return ops.copy(values.detach()).requires_grad_() if requires_grad else values


def _places(name: str, part: Any) -> np.ndarray:
    places = np.asarray(asarray(part).detach().numpy())
    if places.ndim != 1:
        raise ValueError(f"{name}: places are vectors, got one of shape {places.shape}")
    if places.dtype.kind not in "iu" and places.size:
        raise TypeError(f"{name}: places are integers, got {places.dtype}")
    return places.astype(np.intp)  # a copy: a write to the caller's array must not move elements


def _made(name: str, data: Any, rows: np.ndarray, columns: np.ndarray, shape: Sequence[int], layout: str) -> SparseTensor:
    if len(shape) != 2:
        raise ValueError(f"{name}: gs.sparse has matrices alone, got the shape {tuple(shape)}")
    values = asarray(data)
    if values.ndim != 1 or not len(values) == len(rows) == len(columns):
        raise ValueError(f"{name}: {len(rows)} rows and {len(columns)} columns do not belong to values of shape {values.shape}")
    for what, places, size in (("row", rows, shape[0]), ("column", columns, shape[1])):
        if places.size and not 0 <= places.min() <= places.max() < size:
            wrong = places.min() if places.min() < 0 else places.max()
            raise ValueError(f"{name}: size is inconsistent with indices: {what} {wrong} is not one of {size}")
    steps = np.diff(rows * int(shape[1]) + columns)
    return SparseTensor(values, rows, columns, (int(shape[0]), int(shape[1])), layout, bool((steps > 0).all()))

"""Functions of sparse matrices under PyTorch's names, and `matmul` and `multiply`, which also take SciPy's arrays.

All functions accept a SparseTensor or a `scipy.sparse` array where a sparse matrix is expected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.conversion import asarray
from ..generated.tensor import Tensor
from ..support.dispatch import ops
from . import sparse_tensor
from .sparse_tensor import SparseTensor, axis_of, known

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt


def as_sparse(name: str, array: Any) -> SparseTensor:
    """A SparseTensor unchanged, or a SciPy array converted to one; any other argument is refused."""
    found = known(array)
    if not isinstance(found, SparseTensor):
        raise TypeError(f"{name}: expected a sparse matrix, got {type(array).__name__}; write gs.sparse.from_dense(x)")
    return found


def matmul(a: Any, b: Any) -> Any:
    """The product of a sparse matrix and a dense or sparse one, in either order.

    Parameters
    ----------
    a, b : SparseTensor, scipy.sparse array or array_like
        At least one of them is sparse; the other is a vector, a matrix, a batch of matrices, or sparse.

    Returns
    -------
    Tensor or SparseTensor
        Sparse if both are.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> x = gs.tensor([1.0, 2.0], requires_grad=True)
    >>> gs.sparse.matmul(sp.csr_array([[0.0, 3.0], [1.0, 0.0]]), x)
    tensor([6., 1.], grad_fn=<SqueezeBackward>)
    """
    return sparse_tensor.matmul(*_operands("matmul", a, b))


def multiply(a: Any, b: Any) -> SparseTensor:
    """The elementwise product, at the stored places.

    Parameters
    ----------
    a, b : SparseTensor, scipy.sparse array or array_like
        At least one of them is sparse.

    Returns
    -------
    SparseTensor
    """
    left, right = _operands("multiply", a, b)
    return left * right if isinstance(left, SparseTensor) else right * left


def _operands(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands; at least one is sparse."""
    found = known(a), known(b)
    are_sparse = [isinstance(one, SparseTensor) for one in found]
    if any(one is NotImplemented for one in found) or not any(are_sparse):
        raise TypeError(f"{name}: expected a sparse matrix and another operand, got {type(a).__name__} and {type(b).__name__}")
    return found


def mm(mat1: Any, mat2: Any) -> Any:
    """`matmul` of two matrices.

    Parameters
    ----------
    mat1, mat2 : SparseTensor, scipy.sparse array or array_like
        At least one of them is sparse.

    Returns
    -------
    Tensor or SparseTensor
        Sparse if both matrices are.
    """
    if np.ndim(mat1) != 2 or np.ndim(mat2) != 2:
        raise RuntimeError(f"mm: expected two matrices, got {np.ndim(mat1)} and {np.ndim(mat2)} axes; write gs.sparse.matmul")
    return matmul(mat1, mat2)


def addmm(mat: Tensor | npt.ArrayLike, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * mat + alpha * (mat1 @ mat2), dense.

    Parameters
    ----------
    mat : array_like
        Dense.
    mat1 : SparseTensor or scipy.sparse array
    mat2 : array_like
        Dense.
    beta, alpha : float

    Returns
    -------
    Tensor
        Dense.
    """
    return ops.multiply(asarray(mat), beta) + alpha * matmul(as_sparse("addmm", mat1), asarray(mat2))


def sampled_addmm(
    input: Any, mat1: Tensor | npt.ArrayLike, mat2: Tensor | npt.ArrayLike, *, beta: float = 1, alpha: float = 1
) -> SparseTensor:
    """alpha * (mat1 @ mat2) at the stored places of `input`, plus beta * input.

    Parameters
    ----------
    input : SparseTensor or scipy.sparse array
        (m, n); coalesced first.
    mat1 : array_like
        (m, k)
    mat2 : array_like
        (k, n)
    beta, alpha : float

    Returns
    -------
    SparseTensor
    """
    A = as_sparse("sampled_addmm", input).coalesce()
    mat1, mat2 = asarray(mat1), asarray(mat2)
    if (mat1.ndim, mat2.ndim) != (2, 2) or (mat1.shape[0], mat2.shape[1]) != A.shape or mat1.shape[1] != mat2.shape[0]:
        raise ValueError(f"sampled_addmm: the shapes {mat1.shape} and {mat2.shape} have no product of the shape {A.shape}")
    at_places = ops._coo_sampled_matmul(mat1, ops.mT(mat2), A._rows, A._columns)
    return A.with_values(beta * A.values() + alpha * at_places)


def sum(input: Any, dim: int | None = None) -> Tensor:
    """Sums over everything, or along an axis. They are dense; PyTorch's are sparse.

    Parameters
    ----------
    input : SparseTensor or scipy.sparse array
    dim : int, optional

    Returns
    -------
    Tensor
        Dense.
    """
    return as_sparse("sum", input).sum(dim)


def softmax(input: Any, dim: int) -> SparseTensor:
    """Softmax along an axis over the stored elements; others count as minus infinity, as in PyTorch.

    Parameters
    ----------
    input : SparseTensor or scipy.sparse array
        Coalesced first.
    dim : int

    Returns
    -------
    SparseTensor
    """
    A = log_softmax(input, dim)
    return A.with_values(ops.exp(A.values()))


def log_softmax(input: Any, dim: int) -> SparseTensor:
    """Logarithm of `softmax`.

    Parameters
    ----------
    input : SparseTensor or scipy.sparse array
    dim : int

    Returns
    -------
    SparseTensor
    """
    A = as_sparse("log_softmax", input).coalesce()
    values = ops.multiply(A.values(), 1.0)
    axis = axis_of("log_softmax", dim)
    along, count = (A._columns, A.shape[1]) if axis == 0 else (A._rows, A.shape[0])
    highest = ops.index_reduce(ops.full(count, -np.inf, dtype=values.dtype), 0, along, values.detach(), "amax")
    shifted = values - ops.take(highest, along)
    totals = ops.index_add(ops.zeros(count, dtype=values.dtype), 0, along, ops.exp(shifted))
    return A.with_values(shifted - ops.log(ops.take(totals, along)))

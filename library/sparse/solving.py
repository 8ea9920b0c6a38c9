"""Linear systems with a sparse matrix, by SciPy's LU.

Keeps the factors, which are computed once and serve the adjoint and every derivative.  The derivative is that of an implicit
function: if A x = b, then A x_t = b_t - A_t x.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd import Function
from ..core.conversion import asarray
from ..generated.tensor import Tensor
from ..support.dispatch import ops
from .functions import as_sparse
from .sparse_tensor import SparseTensor

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt


class Factors:
    """The places of a square matrix, and the LU factors for the values of the first solution."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray, size: int) -> None:
        self.rows, self.columns, self.size, self.lu = rows, columns, size, None

    def solve(self, values: np.ndarray, b: np.ndarray, adjoint: bool) -> np.ndarray:
        """The solution of A x = b, or of A^H x = b; b is (n, k)."""
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        dtype = np.result_type(values, b, np.float32)
        if self.lu is None:
            double = np.result_type(values, np.float64)
            A = csc_array((values.astype(double), (self.rows, self.columns)), shape=(self.size, self.size))
            try:
                self.lu = splu(A)
            except RuntimeError as error:  # "Factor is exactly singular"
                raise np.linalg.LinAlgError(f"spsolve: the matrix is singular ({error})") from None
        if dtype.kind == "c" and not np.iscomplexobj(values):  # solve for the real and imaginary parts as real columns
            parts = [self.lu.solve(np.ascontiguousarray(part, float), "T" if adjoint else "N") for part in (b.real, b.imag)]
            return (parts[0] + 1j * parts[1]).astype(dtype)
        return self.lu.solve(np.ascontiguousarray(b, np.result_type(values, np.float64)), "H" if adjoint else "N").astype(dtype)


class Solve(Function):
    """x of A x = b, or of A^H x = b if `adjoint`; A has `values` at the places of `factors`."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, b: Tensor, factors: Factors, adjoint: bool) -> Tensor:
        x = asarray(factors.solve(values.detach().numpy(), b.detach().numpy(), adjoint))
        ctx.save_for_backward(values, x)
        ctx.save_for_forward(values, x)
        ctx.factors, ctx.adjoint = factors, adjoint
        return x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        values, x = ctx.saved_tensors
        factors, adjoint = ctx.factors, ctx.adjoint
        solved = Solve.apply(values, grad, factors, not adjoint)
        towards = None
        if ctx.needs_input_grad[0]:
            # For A: -w x^H, and for A^H: -x w^H, at the places of A.
            left, right = (x, solved) if adjoint else (solved, x)
            towards = -ops._coo_sampled_matmul(left, ops.conj(right), factors.rows, factors.columns)
        return towards, solved, None, None

    @staticmethod
    def jvp(ctx: Any, values_t: Tensor, b_t: Tensor, *_: None) -> Tensor:
        values, x = ctx.saved_tensors
        factors, adjoint = ctx.factors, ctx.adjoint
        rows, columns = (factors.columns, factors.rows) if adjoint else (factors.rows, factors.columns)
        moved = ops.coo_matmul(ops.conj(values_t) if adjoint else values_t, rows, columns, x, factors.size)
        return Solve.apply(values, b_t - moved, factors, adjoint)

    @staticmethod
    def vmap(info: Any, in_dims: tuple, values: Tensor, b: Tensor, factors: Factors, adjoint: bool) -> tuple[Tensor, int]:
        if in_dims[0] is None:  # one matrix: the batch becomes further columns
            b = ops.moveaxis(b, in_dims[1], 1)
            x = Solve.apply(values, ops.reshape(b, (b.shape[0], -1)), factors, adjoint)
            return ops.reshape(x, b.shape), 1
        found = []
        for row in range(info.batch_size):
            own = Factors(factors.rows, factors.columns, factors.size)
            right = b if in_dims[1] is None else ops.select(b, in_dims[1], row)
            found.append(Solve.apply(ops.select(values, in_dims[0], row), right, own, adjoint))
        return ops.stack(found), 0


def spsolve(A: Any, b: Tensor | npt.ArrayLike) -> Tensor:
    """The solution x of A x = b, by SciPy's LU, which is computed once and kept for the derivatives.

    Parameters
    ----------
    A : SparseTensor or scipy.sparse array
        (n, n); its stored values receive a gradient.
    b : array_like
        (n,) or (n, k), dense.

    Returns
    -------
    Tensor
        Of the shape of `b`; float32 is solved in double.

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is singular.
    TypeError
        `b` is sparse.

    Notes
    -----
    Let g be the gradient of x, and A^H w = g.  The gradient of b is w, and the gradient of A is -w x^H at the stored places.

    Examples
    --------
    >>> A = gs.sparse.coo(gs.tensor([2.0, 4.0], requires_grad=True), ([0, 1], [0, 1]), (2, 2))
    >>> gs.sparse.spsolve(A, [2.0, 2.0])
    tensor([1. , 0.5], grad_fn=<SqueezeBackward>)
    """
    A = as_sparse("spsolve", A)
    if isinstance(b, SparseTensor) or type(b).__module__.startswith("scipy.sparse"):
        raise TypeError("spsolve: b is dense, as its solution is; write b.to_dense()")
    b = asarray(b)
    if A.shape[0] != A.shape[1] or b.ndim not in (1, 2) or b.shape[0] != A.shape[0]:
        raise ValueError(f"spsolve: a square matrix and as many rows of b are expected, got {A.shape} and {b.shape}")
    values, factors = ops.multiply(A.values(), 1.0), Factors(A._rows, A._columns, A.shape[0])
    columns = ops.multiply(b, 1.0) if b.ndim == 2 else ops.expand_dims(ops.multiply(b, 1.0), -1)
    x = Solve.apply(values, columns, factors, False)
    return x if b.ndim == 2 else ops.squeeze(x, -1)

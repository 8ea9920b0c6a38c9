"""scipy.sparse.linalg with derivatives: solve linear systems and least squares by products with vectors.

Decides which objects are accepted as a matrix.  A derivative solves the transposed system by the same method, to the same
tolerance; so do higher derivatives.  No matrix is built, and no step of the method is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import gradspec
import gradspec.scipy.optimize  # noqa: F401 (as well)

from ...autograd import Function
from ...core.conversion import asarray
from ...core.tensor import TensorBase
from ...func import vjp
from ...func.implicit import by_solve, linear_residual
from ...func.solutions import solved
from ...support.dispatch import ops
from ..optimize.attached import gated, number, numbers, refuse
from ..values import in_given_precision
from ..without import add_without_derivative

__all__ = ["bicgstab", "cg", "cgs", "gmres", "lsmr", "lsqr", "minres", "spsolve"]


class _Product(Function):
    """A product with a LinearOperator of SciPy, which accepts only numbers."""

    @staticmethod
    def forward(ctx: Any, x: Any, operator: Any, adjoint: bool) -> Any:
        ctx.operator, ctx.adjoint = operator, adjoint
        v = x.detach().numpy()
        return asarray(np.asarray(operator.rmatvec(v) if adjoint else operator.matvec(v)))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _Product.apply(grad, ctx.operator, not ctx.adjoint), None, None

    @staticmethod
    def jvp(ctx: Any, x_t: Any, *others: Any) -> Any:
        return _Product.apply(x_t, ctx.operator, ctx.adjoint)


def product(caller: str, A: Any) -> Callable[[Any], Any]:
    """The linear function of vectors that a matrix represents."""
    from scipy.sparse import issparse
    from scipy.sparse.linalg import LinearOperator

    if isinstance(A, LinearOperator):
        return lambda x: _Product.apply(x, A, False)
    if issparse(A):
        A = gradspec.sparse.from_scipy(A)
    if isinstance(A, (TensorBase, np.ndarray, list, tuple)):
        A = number(A)
    if hasattr(A, "__matmul__"):
        return lambda x: A @ x
    if callable(A):
        return A
    raise TypeError(f"{caller}: A must be a matrix, dense or sparse, a LinearOperator, or a linear function of vectors, got "
                    f"{type(A).__name__}")  # fmt: skip


def _system(caller: str, A: Any, b: Any, x0: Any, symmetric: bool, M: Any, callback: Any, options: dict) -> tuple[Any, int]:
    """The solution, and SciPy's word for how it went."""
    from scipy.sparse import linalg

    matvec, b = product(caller, A), number(b)
    if b.ndim != 1:
        raise ValueError(f"{caller}: b must have one axis, got shape {b.shape}; vmap over its columns")
    info: list[int] = []

    def run(matvec: Any, b: Any, name: str = caller, **more: Any) -> tuple[Any, int]:
        operator = linalg.LinearOperator((b.size, b.size), matvec=lambda v: numbers(matvec(number(v))), dtype=np.float64)
        x, code = getattr(linalg, name)(operator, numbers(b), **options, **more)
        return x, int(code)

    def solution(b: Any) -> tuple:
        x, code = run(matvec, b, x0=numbers(x0), M=M, callback=callback)
        info.append(code)
        return x, np.array(1.0 if code == 0 else np.nan)

    def derivative(matvec: Any, b: Any, transposed: bool = False) -> Any:
        x, code = run(matvec, b, M=M if symmetric or not transposed else None)
        if code < 0:  # a breakdown, for example for a tiny right-hand side
            x, code = run(matvec, b, "gmres")
        return x if code == 0 else np.full_like(x, np.nan)

    linear = partial(by_solve, derivative, derivative if symmetric else partial(derivative, transposed=True))
    x, factor = solved(caller, solution, partial(linear_residual, matvec), (b,), linear, True, example=b)
    code = next((code for code in info if code), 0)
    if code:
        refuse(f"{caller}: did not converge (info {code})")
        x = gated(x, factor)
    return x, code


def cg(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
    callback: Any = None,
) -> tuple[Any, int]:  # fmt: skip
    """The solution of A x = b by conjugate gradients; see `scipy.sparse.linalg.cg`.

    Parameters
    ----------
    A : matrix, LinearOperator or callable
        Symmetric and positive definite: a Tensor, an array, a sparse matrix of gradspec or of SciPy, a LinearOperator of SciPy,
        which is a constant, or a linear function of vectors built from operators.  Its tensors, and closed-over tensors, are
        differentiated by.
    b : array_like, shape (n,)
    x0, rtol, atol, maxiter, M, callback
        As in SciPy; derivatives are solved for with the same `rtol`, `atol`, `maxiter` and `M`.

    Returns
    -------
    x : Tensor, shape (n,)
        With derivatives by A and b, in both modes and to any order; NaN if the iteration for a derivative did not converge.
    info : int
        0 if it converged; else the derivatives are NaN, with a warning.

    Examples
    --------
    >>> import gradspec as gs
    >>> solve = lambda a: gs.scipy.sparse.linalg.cg(lambda x: a * x + x.sum(), gs.ones(3), rtol=1e-10)[0].sum()
    >>> round(solve(1.0).item(), 6), round(gs.grad(solve)(1.0).item(), 6)
    (0.75, -0.1875)
    """
    return _system("cg", A, b, x0, True, M, callback, {"rtol": rtol, "atol": atol, "maxiter": maxiter})


def minres(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, shift: float = 0.0, maxiter: int | None = None, M: Any = None,
    callback: Any = None,
) -> tuple[Any, int]:  # fmt: skip
    """As `cg`, for a symmetric matrix; see `scipy.sparse.linalg.minres`.  `shift` must be 0."""
    if shift:
        raise NotImplementedError("minres: shift is not there; give A - shift * identity as a linear function")
    return _system("minres", A, b, x0, True, M, callback, {"rtol": rtol, "maxiter": maxiter})


def bicgstab(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
    callback: Any = None,
) -> tuple[Any, int]:  # fmt: skip
    """As `cg`, for any square matrix; see `scipy.sparse.linalg.bicgstab`.  `M` preconditions only A, not its transpose."""
    return _system("bicgstab", A, b, x0, False, M, callback, {"rtol": rtol, "atol": atol, "maxiter": maxiter})


def cgs(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
    callback: Any = None,
) -> tuple[Any, int]:  # fmt: skip
    """As `bicgstab`; see `scipy.sparse.linalg.cgs`."""
    return _system("cgs", A, b, x0, False, M, callback, {"rtol": rtol, "atol": atol, "maxiter": maxiter})


def gmres(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, restart: int | None = None,
    maxiter: int | None = None, M: Any = None, callback: Any = None, callback_type: str | None = None,
) -> tuple[Any, int]:  # fmt: skip
    """As `bicgstab`, by generalized minimal residuals; see `scipy.sparse.linalg.gmres`."""
    options: dict[str, Any] = {"rtol": rtol, "atol": atol, "maxiter": maxiter, "restart": restart}
    if callback is not None:
        options["callback_type"] = callback_type
    return _system("gmres", A, b, x0, False, M, callback, options)


def spsolve(A: Any, b: Any) -> Any:
    """The solution of A x = b by the LU of a sparse matrix, as `gs.sparse.spsolve`; see `scipy.sparse.linalg.spsolve`.

    Parameters
    ----------
    A : SparseTensor, or sparse matrix of SciPy
    b : array_like, shape (n,) or (n, k)

    Returns
    -------
    Tensor
        With derivatives by the stored elements of A and by b.
    """
    return gradspec.sparse.spsolve(A, b)


# Least squares.


def _squares(caller: str, A: Any, b: Any, damp: float, failed: tuple, options: dict) -> tuple:
    from scipy.sparse import linalg

    if not hasattr(A, "shape"):
        if not isinstance(A, (list, tuple)):
            raise TypeError(f"{caller}: A must be a matrix, dense or sparse, or a LinearOperator: something with a shape")
        A = number(A)
    matvec, b, (height, width) = product(caller, A), number(b), A.shape
    results: list[tuple] = []

    def transposed(r: Any) -> Any:
        return vjp(matvec, ops.zeros(width))[1](r)[0]

    def solution(b: Any) -> tuple:
        operator = linalg.LinearOperator((height, width), matvec=lambda v: numbers(matvec(number(v))), dtype=np.float64,
                                         rmatvec=lambda v: numbers(transposed(number(v))))  # fmt: skip
        result = getattr(linalg, caller)(operator, numbers(b), damp, **options)
        results.append(result)
        return result[0], np.array(np.nan if result[1] in failed else 1.0)

    def normal(matvec: Any, g: Any) -> Any:
        operator = linalg.LinearOperator((width, width), matvec=lambda v: numbers(matvec(number(v))), dtype=np.float64)
        x, code = linalg.cg(operator, numbers(g), rtol=1e-12, maxiter=20 * width)
        return x if code == 0 else np.full_like(x, np.nan)

    def condition(x: Any, b: Any) -> Any:
        return transposed(matvec(x) - b) + damp * damp * x

    x, factor = solved(caller, solution, condition, (b,), partial(by_solve, normal, normal), True, example=ops.zeros(width))
    if any(result[1] in failed for result in results):
        refuse(f"{caller}: did not converge")
        x = gated(x, factor)
    return (x, *results[0][1:]) if len(results) == 1 else (x,)


def lsqr(
    A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8, iter_lim: int | None = None,
    show: bool = False, calc_var: bool = False, x0: Any = None,
) -> tuple:  # fmt: skip
    """The least squares solution of A x = b; see `scipy.sparse.linalg.lsqr`.

    Parameters
    ----------
    A : matrix or LinearOperator, shape (m, n)
        As for `cg`, of full column rank if `damp` is 0.
    b : array_like, shape (m,)
    damp, atol, btol, conlim, iter_lim, show, calc_var, x0
        As in SciPy.

    Returns
    -------
    tuple
        SciPy's, whose first element is a Tensor with derivatives by A and b, from the normal equations, solved by conjugate
        gradients to 1e-12.  Inside a vmap it has no others.
    """
    options = {
        "atol": atol,
        "btol": btol,
        "conlim": conlim,
        "iter_lim": iter_lim,
        "show": show,
        "calc_var": calc_var,
        "x0": numbers(x0),
    }
    return _squares("lsqr", A, b, damp, (7,), options)


def lsmr(
    A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8, maxiter: int | None = None,
    show: bool = False, x0: Any = None,
) -> tuple:  # fmt: skip
    """As `lsqr`, by minimal residuals; see `scipy.sparse.linalg.lsmr`."""
    options = {"atol": atol, "btol": btol, "conlim": conlim, "maxiter": maxiter, "show": show, "x0": numbers(x0)}
    return _squares("lsmr", A, b, damp, (7,), options)


in_given_precision(globals(), __all__)
add_without_derivative(globals())

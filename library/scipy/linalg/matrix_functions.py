"""Functions of matrices under SciPy's names: logm, fractional_matrix_power, cosm and related functions.

Computes their derivative: along E it is a block of the function of [[A, E], [0, A]]; its adjoint is the derivative at the adjoint
of A.

References
----------
Mathias (1996), A chain rule for matrix functions and applications; Higham (2008), Functions of Matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...autograd import Function
from ...core.conversion import asarray
from ...generated.ops import imag, mH, real
from ...linalg import expm, solve, sqrtm
from ...support.dispatch import ops
from ..values import computed

__all__ = [
    "coshm", "cosm", "expm", "expm_frechet", "fractional_matrix_power", "logm", "signm", "sinhm", "sinm", "sqrtm", "tanhm",
    "tanm",
]  # fmt: skip


class _OfMatrix(Function):
    """A function of a square matrix, with SciPy's values."""

    pure = True

    @staticmethod
    def forward(ctx, values, x):
        ctx.values = values
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return computed(values, x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return None, _along(ctx.values, mH(x), grad)

    @staticmethod
    def jvp(ctx, _, tangent):
        (x,) = ctx.saved_tensors
        return _along(ctx.values, x, tangent)

    @staticmethod
    def vmap(info, in_dims, values, x):
        return _OfMatrix.apply(values, ops.moveaxis(x, in_dims[1], 0)), 0


def _along(values: Callable[..., Any], x: Any, direction: Any) -> Any:
    """The derivative at x along a direction."""
    n = x.shape[-1]
    x, direction = x + 0 * direction, direction + 0 * x  # of one shape and dtype
    below = ops.concat([ops.zeros_like(x), x], axis=-1)
    return _OfMatrix.apply(values, ops.concat([ops.concat([x, direction], axis=-1), below], axis=-2))[..., :n, n:]


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one matrix as a function of a batch; real if all results are real."""

    def values(x: np.ndarray) -> np.ndarray:
        flat = x.reshape(-1, *x.shape[-2:])
        results = [np.asarray(function(matrix)) for matrix in flat]
        found = np.array(results).reshape(x.shape) if results else x
        return found.astype(np.result_type(x.dtype, np.complex64) if found.dtype.kind == "c" else x.dtype)

    return values


def _square(name: str, A: Any) -> Any:
    A = asarray(A)
    A = A if A.dtype.kind in "fc" else ops.astype(A, np.float64)
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"{name}: expected a square matrix, got the shape {A.shape}")
    return A


def _logm(matrix: np.ndarray) -> Any:
    import scipy.linalg

    return scipy.linalg.logm(matrix)


_logm_of_each = _each(_logm)


def logm(A: Any) -> Any:
    """The principal logarithm of a matrix.

    Parameters
    ----------
    A : array_like, shape (..., n, n)

    Returns
    -------
    Tensor
        Complex if an eigenvalue is negative.
    """
    return _OfMatrix.apply(_logm_of_each, _square("logm", A))


def signm(A: Any) -> Any:
    """The sign of a matrix: each eigenvalue is replaced by the sign of its real part.

    Parameters
    ----------
    A : array_like, shape (..., n, n)

    Returns
    -------
    Tensor
        Has the shape of `A`.
    """
    A = _square("signm", A)
    return solve(sqrtm(A @ A), A)


def fractional_matrix_power(A: Any, t: float) -> Any:
    """A real power of a matrix.

    Parameters
    ----------
    A : array_like, shape (..., n, n)
    t : float
        The exponent, which has no derivative.

    Returns
    -------
    Tensor
    """
    t = float(t)

    def power(matrix: np.ndarray) -> Any:
        import scipy.linalg

        return scipy.linalg.fractional_matrix_power(matrix, t)

    return _OfMatrix.apply(_each(power), _square("fractional_matrix_power", A))


def expm_frechet(A: Any, E: Any, method: str | None = None, compute_expm: bool = True, check_finite: bool = True) -> Any:
    """The exponential of a matrix and its derivative along E.

    Parameters
    ----------
    A : array_like, shape (..., n, n)
    E : array_like, shape (..., n, n)
        The direction.
    method : str, optional
        Without effect.
    compute_expm : bool
        Whether the exponential is returned, too.
    check_finite : bool
        As in SciPy.

    Returns
    -------
    Tensor, or pair of Tensor
        The exponential and the derivative; only the latter unless `compute_expm`.
    """
    A, E = _square("expm_frechet", A), _square("expm_frechet", E)
    n = A.shape[-1]
    whole = expm(ops.concat([ops.concat([A, E], axis=-1), ops.concat([ops.zeros_like(A), A], axis=-1)], axis=-2))
    return (whole[..., :n, :n], whole[..., :n, n:]) if compute_expm else whole[..., :n, n:]


def cosm(A: Any) -> Any:
    """The cosine of a matrix.

    Parameters
    ----------
    A : array_like, shape (..., n, n)

    Returns
    -------
    Tensor
        Has the shape of `A`.
    """
    A = _square("cosm", A)
    return real(expm(1j * A)) if A.dtype.kind == "f" else (expm(1j * A) + expm(-1j * A)) / 2


def sinm(A: Any) -> Any:
    """The sine of a matrix.

    Parameters
    ----------
    A : array_like, shape (..., n, n)

    Returns
    -------
    Tensor
        Has the shape of `A`.
    """
    A = _square("sinm", A)
    return imag(expm(1j * A)) if A.dtype.kind == "f" else (expm(1j * A) - expm(-1j * A)) / 2j


def tanm(A: Any) -> Any:
    """The tangent of a matrix.

    Parameters
    ----------
    A : array_like, shape (..., n, n)

    Returns
    -------
    Tensor
        Has the shape of `A`.
    """
    return solve(cosm(A), sinm(A))


def coshm(A: Any) -> Any:
    """The hyperbolic cosine of a matrix.

    Parameters
    ----------
    A : array_like, shape (..., n, n)

    Returns
    -------
    Tensor
        Has the shape of `A`.
    """
    A = _square("coshm", A)
    return (expm(A) + expm(-A)) / 2


def sinhm(A: Any) -> Any:
    """The hyperbolic sine of a matrix.

    Parameters
    ----------
    A : array_like, shape (..., n, n)

    Returns
    -------
    Tensor
        Has the shape of `A`.
    """
    A = _square("sinhm", A)
    return (expm(A) - expm(-A)) / 2


def tanhm(A: Any) -> Any:
    """The hyperbolic tangent of a matrix.

    Parameters
    ----------
    A : array_like, shape (..., n, n)

    Returns
    -------
    Tensor
        Has the shape of `A`.
    """
    return solve(coshm(A), sinhm(A))

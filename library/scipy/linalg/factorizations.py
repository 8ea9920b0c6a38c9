"""Factorisations of matrices with SciPy's arguments.

Handles SciPy's arguments; the factors come from gradspec.linalg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg
from ...core.conversion import asarray
from ...generated.ops import mH
from ...support.dispatch import ops

__all__ = [
    "cho_factor", "cho_solve", "cholesky", "diagsvd", "eig", "eigh", "eigh_tridiagonal", "eigvals", "eigvalsh",
    "eigvalsh_tridiagonal", "lu", "lu_factor", "lu_solve", "orthogonal_procrustes",
    "pinv", "pinvh", "polar", "qr", "svd", "svdvals",
]  # fmt: skip
lu_factor, svdvals = linalg.lu_factor, linalg.svdvals


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The factor of Cholesky, the upper one unless `lower`.

    Parameters
    ----------
    a : array_like, shape (..., n, n)
        Positive definite; only one triangle is read: the upper one unless `lower`.
    lower : bool
    overwrite_a, check_finite : bool
        As in SciPy; nothing is overwritten.

    Returns
    -------
    Tensor

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is not positive definite.
    """
    a = asarray(a)
    return linalg.cholesky(a) if lower else mH(linalg.cholesky(mH(a)))


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, bool]:
    """The factor of Cholesky and whether it is the lower one, as `cho_solve` takes them; the other triangle is zero.

    Parameters
    ----------
    a, lower, overwrite_a, check_finite
        As for `cholesky`.

    Returns
    -------
    c : Tensor, shape (..., n, n)
        The factor.
    lower : bool
    """
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """The solution of a @ x = b from the result of `cho_factor`.

    Parameters
    ----------
    c_and_lower : tuple of array_like and bool
        The result of `cho_factor`.
    b : array_like, shape (n,) or (..., n, k)
    overwrite_b, check_finite : bool
        As in SciPy; nothing is overwritten.

    Returns
    -------
    Tensor
        Has the shape of `b`.
    """
    c, lower = c_and_lower
    first, second = (c, mH(asarray(c))) if lower else (mH(asarray(c)), c)
    return linalg.solve_triangular(second, linalg.solve_triangular(first, b, lower=True), lower=False)


def lu(a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False) -> Any:
    """Factors of a matrix: a permutation, a lower and an upper triangle.

    Parameters
    ----------
    a : array_like, shape (..., m, n)
    permute_l : bool
        Whether the first factor is p @ l.
    overwrite_a, check_finite : bool
        As in SciPy; nothing is overwritten.
    p_indices : bool
        Whether the first result is the order of the rows, instead of a matrix.

    Returns
    -------
    tuple of Tensor
        p, l and u with a = p @ l @ u; p @ l and u if `permute_l`.
    """
    p, lower, upper = linalg.lu(a)
    if permute_l:
        return p @ lower, upper
    return (ops.argmax(p, axis=-1) if p_indices else p), lower, upper


def lu_solve(lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """The solution of a @ x = b from the result of `lu_factor`.

    Parameters
    ----------
    lu_and_piv : pair of array_like
        The result of `lu_factor`.
    b : array_like, shape (n,) or (..., n, k)
    trans : {0, 1, 2}
        Whether to solve with the matrix, its transpose, or its adjoint.
    overwrite_b, check_finite : bool
        As in SciPy; nothing is overwritten.

    Returns
    -------
    Tensor
        Has the shape of `b`.
    """
    lu, pivots = lu_and_piv
    b = asarray(b)
    columns = b[..., None] if b.ndim == 1 else b
    if trans == 1 and asarray(lu).dtype.kind == "c":
        x = ops.conj(linalg.lu_solve(lu, pivots, ops.conj(columns), adjoint=True))
    else:
        x = linalg.lu_solve(lu, pivots, columns, adjoint=bool(trans))
    return x[..., 0] if b.ndim == 1 else x


def qr(a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", pivoting: bool = False,
       check_finite: bool = True) -> Any:  # fmt: skip
    """Factors Q and R of a = Q @ R.

    Parameters
    ----------
    a : array_like, shape (..., m, n)
    overwrite_a, lwork
        As in SciPy; nothing is overwritten.
    mode : {'full', 'r', 'economic'}
        'full' is only for matrices that are not taller than wide: further columns of Q are arbitrary, and have no derivative.
    pivoting : bool
        Must be False.
    check_finite : bool
        As in SciPy.

    Returns
    -------
    tuple of Tensor
    """
    a = asarray(a)
    if pivoting:
        raise NotImplementedError("scipy.linalg.qr: pivoting is not offered; permute the columns of a before")
    if mode not in ("full", "r", "economic"):
        raise ValueError(f"scipy.linalg.qr: mode must be 'full', 'r' or 'economic', got {mode!r}")
    if mode != "economic" and a.shape[-2] > a.shape[-1]:
        raise NotImplementedError(f"scipy.linalg.qr: mode={mode!r} of a matrix that is taller than wide has no derivative, for "
                                  "the last columns of Q are arbitrary; write mode='economic'")  # fmt: skip
    found = linalg.qr(a)
    return (found[1],) if mode == "r" else (found[0], found[1])


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False, check_finite: bool = True,
        lapack_driver: str = "gesdd") -> Any:  # fmt: skip
    """Singular value decomposition.

    Parameters
    ----------
    a : array_like, shape (..., m, n)
    full_matrices : bool
        Whether U and Vh are square.
    compute_uv : bool
        Whether U and Vh are computed, too.
    overwrite_a, check_finite, lapack_driver
        As in SciPy; nothing is overwritten.

    Returns
    -------
    tuple of Tensor, or Tensor
        U, s and Vh, with the singular values s in falling order; only s unless `compute_uv`.
    """
    return tuple(linalg.svd(a, full_matrices=full_matrices)) if compute_uv else linalg.svdvals(a)


def diagsvd(s: Any, M: int, N: int) -> Any:
    """Singular values on the diagonal of an M by N matrix of zeros.

    Parameters
    ----------
    s : array_like, shape (k,)
    M, N : int
        Numbers of rows and columns, at least k.

    Returns
    -------
    Tensor, shape (M, N)
    """
    s = asarray(s)
    return ops.pad(ops.diag(s), ((0, M - s.size), (0, N - s.size)))


def _reduced(a: Any, b: Any, lower: bool) -> tuple[Any, Any]:
    """The Hermitian matrix with the eigenvalues of a @ x = w * b @ x, and the factor of b."""
    a, b = (asarray(v) if lower else mH(asarray(v)) for v in (a, b))
    factor = linalg.cholesky(b)
    strict = ops.tril(a, -1)
    whole = ops.tril(a) + mH(strict)
    half = linalg.solve_triangular(factor, whole, lower=True)
    return linalg.solve_triangular(factor, mH(half), lower=True), factor


def eigh(a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False, overwrite_a: bool = False,
         overwrite_b: bool = False, type: int = 1, check_finite: bool = True, subset_by_index: Any = None) -> Any:  # fmt: skip
    """Eigenvalues in rising order and eigenvectors of a Hermitian matrix, or of a pair of them.

    Parameters
    ----------
    a : array_like, shape (..., n, n)
        Hermitian; only one triangle is read.
    b : array_like, shape (..., n, n), optional
        Positive definite: a @ v = w * b @ v, where v has the norm 1 in b.
    lower : bool
        Which triangle.
    eigvals_only : bool
        Whether the result lacks the eigenvectors.
    overwrite_a, overwrite_b : bool
        As in SciPy; nothing is overwritten.
    type : int
        Must be 1.
    check_finite : bool
        As in SciPy.
    subset_by_index : pair of int, optional
        The first and the last eigenvalue.

    Returns
    -------
    tuple of Tensor, or Tensor
        Derivatives of eigenvectors are NaN if eigenvalues are equal.
    """
    if type != 1:
        raise NotImplementedError(f"scipy.linalg.eigh: type={type} is not offered; write the problem as a @ v = w * b @ v")
    if b is None:
        a = asarray(a)
        matrix, factor = a if lower else mH(a), None
    else:
        matrix, factor = _reduced(a, b, lower)
    keep = slice(None) if subset_by_index is None else slice(subset_by_index[0], subset_by_index[1] + 1)
    if eigvals_only:
        return linalg.eigvalsh(matrix)[..., keep]
    w, v = linalg.eigh(matrix)
    if factor is not None:
        v = linalg.solve_triangular(mH(factor), v, lower=False)
    return w[..., keep], v[..., :, keep]


def eigvalsh(a: Any, b: Any = None, *, lower: bool = True, **keywords: Any) -> Any:
    """Eigenvalues of a Hermitian matrix, or of a pair of Hermitian matrices.

    Parameters
    ----------
    a, b, lower
        As for `eigh`.
    **keywords
        The other arguments of `eigh` but `eigvals_only`.

    Returns
    -------
    Tensor
        In rising order.
    """
    return eigh(a, b, lower=lower, eigvals_only=True, **keywords)


def eigh_tridiagonal(d: Any, e: Any, eigvals_only: bool = False) -> Any:
    """Eigenvalues and eigenvectors of a Hermitian tridiagonal matrix.

    Parameters
    ----------
    d : array_like, shape (n,)
        The diagonal.
    e : array_like, shape (n - 1,)
        The diagonal below; the one above is its conjugate.
    eigvals_only : bool
        Whether the result lacks the eigenvectors.

    Returns
    -------
    tuple of Tensor, or Tensor
        The eigenvalues in rising order, and the eigenvectors as columns.
    """
    e = asarray(e)
    matrix = ops.diag(asarray(d)) + ops.diag(e, -1) + ops.diag(ops.conj(e), 1)
    return linalg.eigvalsh(matrix) if eigvals_only else tuple(linalg.eigh(matrix))


def eigvalsh_tridiagonal(d: Any, e: Any) -> Any:
    """Eigenvalues of a Hermitian tridiagonal matrix.

    Parameters
    ----------
    d, e
        As for `eigh_tridiagonal`.

    Returns
    -------
    Tensor, shape (n,)
    """
    return eigh_tridiagonal(d, e, eigvals_only=True)


def eig(a: Any, b: Any = None, left: bool = False, right: bool = True) -> Any:
    """Eigenvalues and right eigenvectors of a matrix, or of a pair of them.

    Parameters
    ----------
    a : array_like, shape (..., n, n)
    b : array_like, shape (..., n, n), optional
        Invertible: a @ v = w * b @ v.
    left : bool
        Must be False.
    right : bool
        Whether eigenvectors are computed, too.

    Returns
    -------
    tuple of Tensor, or Tensor
        Eigenvalues, and eigenvectors as columns; only eigenvalues unless `right`.
    """
    if left:
        raise NotImplementedError("scipy.linalg.eig: left eigenvectors are not offered; take the right ones of the adjoint")
    matrix = a if b is None else linalg.solve(b, a)
    return tuple(linalg.eig(matrix)) if right else linalg.eigvals(matrix)


def eigvals(a: Any, b: Any = None) -> Any:
    """Eigenvalues of a matrix, or of a pair of them.

    Parameters
    ----------
    a, b
        As for `eig`.

    Returns
    -------
    Tensor
    """
    return eig(a, b, right=False)


def pinv(a: Any, *, atol: float | None = None, rtol: float | None = None) -> Any:
    """Moore-Penrose inverse.

    Parameters
    ----------
    a : array_like, shape (..., m, n)
    atol : float, optional
        Must be None or 0.
    rtol : float, optional
        Singular values below this fraction of the greatest one count as 0; max(m, n) times the machine epsilon by default.

    Returns
    -------
    Tensor, shape (..., n, m)
    """
    return _pinv(a, atol, rtol, False)


def pinvh(a: Any, atol: float | None = None, rtol: float | None = None, lower: bool = True) -> Any:
    """Moore-Penrose inverse of a Hermitian matrix.

    Parameters
    ----------
    a : array_like, shape (..., n, n)
        Hermitian; only one triangle is read.
    atol, rtol : float, optional
        As for `pinv`.
    lower : bool
        Which triangle.

    Returns
    -------
    Tensor, shape (..., n, n)
    """
    a = asarray(a)
    return _pinv(a if lower else mH(a), atol, rtol, True)


def _pinv(a: Any, atol: float | None, rtol: float | None, hermitian: bool) -> Any:
    if atol:
        raise NotImplementedError("scipy.linalg.pinv: atol is not offered; give rtol, relative to the greatest singular value")
    a = asarray(a)
    if rtol is None:
        rtol = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps)
    return linalg.pinv(a, rtol=rtol, hermitian=hermitian)


def polar(a: Any, side: str = "right") -> tuple[Any, Any]:
    """Polar decomposition: a = u @ p, or p @ u if the side is 'left'.

    Parameters
    ----------
    a : array_like, shape (m, n)
        Of full rank; not wider than tall for the side 'right', not taller than wide for 'left'.
    side : {'right', 'left'}

    Returns
    -------
    u, p : Tensor
        A matrix with orthonormal columns or rows, and a positive definite one.
    """
    a = asarray(a)
    if side not in ("right", "left"):
        raise ValueError(f"polar: side must be 'right' or 'left', got {side!r}")
    if side == "left":
        u, p = polar(mH(a))
        return mH(u), p
    if a.shape[-2] < a.shape[-1]:
        raise NotImplementedError("scipy.linalg.polar: of a matrix that is wider than tall p is singular, and has no derivative; "
                                  "write side='left'")  # fmt: skip
    p = linalg.sqrtm(mH(a) @ a)
    return mH(linalg.solve(p, mH(a))), p


def orthogonal_procrustes(A: Any, B: Any) -> tuple[Any, Any]:
    """The orthogonal matrix R with A @ R nearest to B, and the sum of the singular values of A.T @ B.

    Parameters
    ----------
    A, B : array_like, shape (m, n)

    Returns
    -------
    R : Tensor, shape (n, n)
    scale : Tensor
    """
    product = mH(asarray(A)) @ asarray(B)
    return polar(product)[0], ops.sum(linalg.svdvals(product))

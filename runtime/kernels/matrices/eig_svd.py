"""Eigenvalues and eigenvectors, singular values, and the pseudoinverse computed from them."""

import numpy as np

__all__ = ["eig", "eigh", "pinv", "pivots", "reciprocal_gaps", "svd"]


def eig(x):
    """Eigenvalues and eigenvectors of square matrices.

    Parameters
    ----------
    x : (..., n, n) ndarray

    Returns
    -------
    values : (..., n) ndarray
        Complex, unordered.
    vectors : (..., n, n) ndarray
        Columns of norm 1; the largest entry of each is real.
    """
    values, vectors = np.linalg.eig(x)
    dtype = np.result_type(vectors, np.complex64)
    values, vectors = values.astype(dtype), vectors.astype(dtype)
    if vectors.size:
        largest = np.take_along_axis(vectors, np.argmax(np.abs(vectors), -2, keepdims=True), -2)
        vectors = vectors * (np.abs(largest) / largest)
    return values, vectors


def eigh(x, triangle):
    """Eigenvalues and eigenvectors of Hermitian matrices; only one triangle is read.

    Parameters
    ----------
    x : (..., n, n) ndarray
    triangle : {"L", "U"}

    Returns
    -------
    values : (..., n) ndarray
        Ascending.
    vectors : (..., n, n) ndarray
        Columns; if complex, the largest entry of each is real, which fixes the phase.
    """
    values, vectors = np.linalg.eigh(x, triangle)
    if vectors.dtype.kind == "c":
        vectors = vectors * _phases(vectors).conj()
    return values, vectors


def pinv(x, rcond, hermitian, rtol):
    """Moore-Penrose inverse; singular values up to `rcond` of the largest count as 0.

    Parameters
    ----------
    x : (..., m, n) ndarray
    rcond, rtol : float or None
        Two names of one number, ``max(m, n) * eps`` of the dtype if both are None.
    hermitian : bool

    Returns
    -------
    (..., n, m) ndarray
    """
    if rcond is not None and rtol is not None:
        raise ValueError(f"rtol and rcond mean the same: give one of them, not rcond={rcond!r} and rtol={rtol!r}")
    x = np.asarray(x, np.result_type(x, np.float32))
    given = rtol if rcond is None else rcond
    return np.linalg.pinv(x, rtol=max(x.shape[-2:]) * np.finfo(x.dtype).eps if given is None else given, hermitian=hermitian)


def pivots(x):
    """Row of the largest entry in each column.

    Parameters
    ----------
    x : (..., m, n) ndarray

    Returns
    -------
    (..., 1, n) ndarray of int
    """
    if not x.size:
        rows = min(x.shape[-2], 1) if x.shape[-1] else 1  # argmax would fail for no elements
        return np.zeros((*x.shape[:-2], rows, x.shape[-1]), np.intp)
    return np.argmax(np.abs(x), -2, keepdims=True)


def reciprocal_gaps(values):
    """``y[..., i, j] = 1 / (values[..., j] - values[..., i])``, NaN where two of them are equal, and a diagonal of zeros.

    Parameters
    ----------
    values : (..., n) ndarray

    Returns
    -------
    (..., n, n) ndarray
    """
    gaps = values[..., None, :] - values[..., :, None]
    gaps[gaps == 0] = np.nan
    diagonal = np.arange(values.shape[-1])
    gaps[..., diagonal, diagonal] = np.inf
    return 1 / gaps


def svd(x, full_matrices):
    """Reduced singular value decomposition.

    Parameters
    ----------
    x : (..., m, n) ndarray
    full_matrices : bool
        True is accepted for square matrices only; it makes no difference for them.

    Returns
    -------
    u : (..., m, k) ndarray
        If complex, the largest entry of each column is real, which fixes the phase.
    s : (..., k) ndarray
        Descending.
    vh : (..., k, n) ndarray
    """
    if full_matrices and x.shape[-2] != x.shape[-1]:
        raise ValueError("the vectors that full_matrices=True adds have no derivative: use full_matrices=False")
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    if u.dtype.kind == "c":
        phases = _phases(u)
        u, vh = u * phases.conj(), vh * np.swapaxes(phases, -2, -1)
    return u, s, vh


def _phases(vectors):
    """The phase of the largest entry in each column."""
    if not vectors.size:
        return np.ones((*vectors.shape[:-2], 1, vectors.shape[-1]), vectors.dtype)
    largest = np.take_along_axis(vectors, pivots(vectors), -2)
    return largest / np.abs(largest)

"""Determinants by minors and singular values, triangular systems, and factorisations that NumPy leaves unchecked."""

import functools

import numpy as np


def checkerboard(x):
    """``x[..., i, j] * (-1) ** (i + j)``.

    Parameters
    ----------
    x : ndarray

    Returns
    -------
    ndarray
    """
    rows, columns = (1 - 2 * (np.arange(n) % 2) for n in x.shape[-2:])
    return x * np.outer(rows, columns).astype(x.dtype)


def cofactor(x):
    """Signed minors of square matrices, by singular values: no division, so singular matrices are no exception.

    Parameters
    ----------
    x : (..., n, n) ndarray

    Returns
    -------
    (..., n, n) ndarray
    """
    u, s, vh = np.linalg.svd(x)
    return _cofactor_of_rotation(u) * _products_of_others(s)[..., None, :] @ _cofactor_of_rotation(vh)


def cofactor_jvp(x, t):
    """Derivative of cofactor at `x` along `t`.

    Parameters
    ----------
    x, t : (..., n, n) ndarray

    Returns
    -------
    (..., n, n) ndarray

    Notes
    -----
    cofactor(u @ s @ vh) = cofactor(u) @ cofactor(s) @ cofactor(vh), so that it is enough to know the derivative at
    a diagonal matrix, where every entry is a product of all singular values but two.
    """
    u, s, vh = np.linalg.svd(x)
    t = np.swapaxes(u, -2, -1).conj() @ t @ np.swapaxes(vh, -2, -1).conj()
    n = s.shape[-1]
    diagonal = np.arange(n)
    others = np.repeat(s[..., None, :], n, -2)
    others[..., diagonal, diagonal] = 1
    others = _products_of_others(others)
    others[..., diagonal, diagonal] = 0
    y = -others * np.swapaxes(t, -2, -1)
    y[..., diagonal, diagonal] = (others @ t[..., diagonal, diagonal][..., None])[..., 0]
    return _cofactor_of_rotation(u) @ y @ _cofactor_of_rotation(vh)


def eigh(x):
    """Eigenvalues and eigenvectors of Hermitian matrices, the lower triangle read.

    Parameters
    ----------
    x : (..., n, n) ndarray

    Returns
    -------
    values : (..., n) ndarray
        Rising.
    vectors : (..., n, n) ndarray
        Columns; the largest entry of each is real where they are complex, which leaves no phase undefined.
    """
    values, vectors = np.linalg.eigh(x)
    if vectors.dtype.kind == "c":
        vectors = vectors * _phases(vectors).conj()
    return values, vectors


def minors(x):
    """Every submatrix that lacks one row and one column.

    Parameters
    ----------
    x : (..., n, n) ndarray

    Returns
    -------
    (..., n, n, n - 1, n - 1) ndarray
    """
    kept = _all_but_one(x.shape[-1])
    return x[..., kept[:, None, :, None], kept[None, :, None, :]]


def minors_backward(x):
    """The sum of all submatrices, each where minors took it from.

    Parameters
    ----------
    x : (..., n, n, n - 1, n - 1) ndarray

    Returns
    -------
    (..., n, n) ndarray
    """
    n = x.shape[-3]
    kept = _all_but_one(n)
    # One axis after the other: spread the columns and sum over j, then the rows over i.
    wide = np.zeros(x.shape[:-1] + (n,), x.dtype)
    wide[..., np.arange(n)[:, None, None], np.arange(n - 1 if n else 0)[:, None], kept[:, None, :]] = x
    wide = wide.sum(-3)
    tall = np.zeros(wide.shape[:-2] + (n, n), x.dtype)
    tall[..., np.arange(n)[:, None], kept, :] = wide
    return tall.sum(-3)


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
        return np.zeros((*x.shape[:-2], min(x.shape[-2], 1), x.shape[-1]), np.intp)
    return np.argmax(np.abs(x), -2, keepdims=True)


def qr(x):
    """Reduced QR factorisation of matrices with at least as many rows as columns.

    Parameters
    ----------
    x : (..., m, n) ndarray

    Returns
    -------
    q : (..., m, n) ndarray
    r : (..., n, n) ndarray
    """
    if x.shape[-2] < x.shape[-1]:
        raise ValueError(f"qr needs at least as many rows as columns, not {x.shape[-2]} x {x.shape[-1]}")
    return tuple(np.linalg.qr(x))


def solve_triangular(a, b, lower, unit_diagonal):
    """Solution of triangular systems.

    Parameters
    ----------
    a : (..., n, n) ndarray
        Only one triangle is read.
    b : (..., n, k) ndarray
    lower : bool
        Which triangle.
    unit_diagonal : bool
        Whether to take the diagonal as 1, whatever it holds.

    Returns
    -------
    (..., n, k) ndarray
    """
    # Below this size NumPy's solver is as fast, and its thread pool and SciPy's do not get into each other's way: a product
    # and a solve in turn took 8 ms with both pools on two cores, 0.2 ms with one.
    solve = _scipy_solve_triangular() if a.ndim == b.ndim == 2 and b.size and a.shape[0] > 256 else None
    if solve is not None:
        return solve(a, b, lower=lower, unit_diagonal=unit_diagonal, check_finite=False)
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        diagonal = np.arange(a.shape[-1])
        a[..., diagonal, diagonal] = 1
    return np.linalg.solve(a, b[None])[0] if b.ndim == 1 else np.linalg.solve(a, b)


def svd(x, full_matrices):
    """Reduced singular value decomposition.

    Parameters
    ----------
    x : (..., m, n) ndarray
    full_matrices : bool
        True is accepted for square matrices, where it makes no difference.

    Returns
    -------
    u : (..., m, k) ndarray
        The largest entry of each column is real where they are complex, which leaves no phase undefined.
    s : (..., k) ndarray
        Falling.
    vh : (..., k, n) ndarray
    """
    if full_matrices and x.shape[-2] != x.shape[-1]:
        raise ValueError("the vectors that full_matrices=True adds have no derivative: use full_matrices=False")
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    if u.dtype.kind == "c":
        phases = _phases(u)
        u, vh = u * phases.conj(), vh * np.swapaxes(phases, -2, -1)
    return u, s, vh


def _all_but_one(n):
    """Row i holds 0 to n - 1 without i."""
    places = np.arange(max(n - 1, 0))
    return places + (places >= np.arange(n)[:, None])


def _cofactor_of_rotation(u):
    """The cofactors of a unitary matrix."""
    return np.linalg.det(u)[..., None, None] * u.conj()


def _phases(vectors):
    """The phase of the largest entry in each column."""
    largest = np.take_along_axis(vectors, pivots(vectors), -2)
    return largest / np.abs(largest)


def _products_of_others(s):
    """For each element of the last axis the product of all others."""
    one = np.ones_like(s[..., :1])
    before = np.cumprod(np.concatenate([one, s[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([one, s[..., :0:-1]], -1), -1)[..., ::-1]
    return before * after


@functools.cache
def _scipy_solve_triangular():
    """SciPy's solver, or None; looked for when it is first wanted, since its import takes longer than ours."""
    try:
        from scipy.linalg import solve_triangular
    except ImportError:
        return None
    return solve_triangular

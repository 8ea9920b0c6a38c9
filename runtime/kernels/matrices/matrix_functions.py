"""Square roots of matrices, Sylvester's equation and banded systems, by SciPy."""

import numpy as np

from ..loops.scipy_fallback import scipy_linalg

__all__ = ["slant", "solve_bands", "solve_sylvester", "sqrtm"]


def slant(x, offset, sign):
    """Each row shifted back along the last axis by its distance from row `offset`, with zeros shifted in.

    Parameters
    ----------
    x : (..., d, n) ndarray
    offset : int
    sign : {1, -1}
        -1 shifts in the other direction.

    Returns
    -------
    (..., d, n) ndarray
    """
    y = np.zeros_like(x)
    length = x.shape[-1]
    for row in range(x.shape[-2]):
        places = sign * (row - offset)
        begin, end = max(-places, 0), min(length - places, length)
        if begin < end:
            y[..., row, begin:end] = x[..., row, begin + places : end + places]
    return y


def solve_bands(ab, b, lower, upper):
    """The solution of ``a @ x = b`` for banded matrices, stored by diagonals. Needs SciPy.

    Parameters
    ----------
    ab : (..., lower + upper + 1, n) ndarray
        ``a[i, j]`` is ``ab[upper + i - j, j]``; places without an element of `a` are not read.
    b : (..., n, k) ndarray
    lower, upper : int

    Returns
    -------
    (..., n, k) ndarray
    """
    rows = max(lower, 0) + max(upper, 0) + 1
    if lower < 0 or upper < 0 or ab.ndim < 2 or ab.shape[-2] != rows:
        raise ValueError(f"solve_banded: ab must hold l + u + 1 rows for l_and_u {lower, upper}, neither below 0; its shape is "
                         f"{ab.shape}")  # fmt: skip
    dtype = np.result_type(ab, b, np.float16)
    ab, b = (np.asarray(x, np.result_type(dtype, np.float32)) for x in (ab, b))
    solve = scipy_linalg("solve_banded").solve_banded
    inside = slant(slant(np.ones(ab.shape[-2:], bool), upper, -1), upper, 1)  # what is not read may be NaN
    each = np.vectorize(lambda ab, b: solve((lower, upper), np.where(inside, ab, 0), b) if b.size else b, [dtype],
                        signature="(d,n),(n,k)->(n,k)")  # fmt: skip
    return each(ab, b)


def solve_sylvester(a, b, q):
    """The solution of ``a @ x + x @ b = q``. Needs SciPy.

    Parameters
    ----------
    a : (..., m, m) ndarray
    b : (..., n, n) ndarray
    q : (..., m, n) ndarray

    Returns
    -------
    (..., m, n) ndarray
    """
    dtype = np.result_type(a, b, q, np.float16)
    a, b, q = (np.asarray(x, np.result_type(dtype, np.float32)) for x in (a, b, q))
    solve = scipy_linalg("solve_sylvester").solve_sylvester
    each = np.vectorize(lambda a, b, q: solve(a, b, q) if q.size else q, [dtype], signature="(m,m),(n,n),(m,n)->(m,n)")
    return each(a, b, q)


def sqrtm(x):
    """The principal square roots of square matrices. Needs SciPy.

    Parameters
    ----------
    x : (..., n, n) ndarray

    Returns
    -------
    (..., n, n) ndarray
        Complex if a matrix is, or if an eigenvalue is negative.
    """
    x = np.asarray(x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"sqrtm: x must hold square matrices in its last two axes, its shape is {x.shape}")
    dtype = np.result_type(x, np.float16)
    if not x.size:
        return x.astype(dtype)
    root = scipy_linalg("sqrtm").sqrtm
    matrices = x.astype(np.result_type(dtype, np.float32), copy=False).reshape(-1, *x.shape[-2:])
    y = np.stack([root(matrix) for matrix in matrices]).reshape(x.shape)
    return y.astype(np.result_type(dtype, np.complex64) if y.dtype.kind == "c" else dtype, copy=False)

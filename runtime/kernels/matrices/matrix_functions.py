"""Square roots of matrices and Sylvester's equation, by SciPy."""

import numpy as np

from ..loops.elsewhere import scipy_linalg

__all__ = ["solve_sylvester", "sqrtm"]


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
        Complex where a matrix is, or an eigenvalue is negative.
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

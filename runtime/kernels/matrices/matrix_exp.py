"""The matrix exponential, by SciPy."""

import numpy as np

from ..loops.elsewhere import scipy_linalg

__all__ = ["matrix_exp"]


def matrix_exp(x):
    """Exponential of square matrices. Needs SciPy.

    Parameters
    ----------
    x : (..., n, n) ndarray

    Returns
    -------
    ndarray
    """
    x = np.asarray(x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError(f"the last two axes must be of one length, the shape is {x.shape}")
    x = x.astype(x.dtype.newbyteorder("=") if x.dtype.kind in "fc" else np.float64, copy=False)
    return scipy_linalg("matrix_exp").expm(x) if x.size else x.copy()

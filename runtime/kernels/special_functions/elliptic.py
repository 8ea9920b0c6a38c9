"""Carlson's elliptic integral with any powers; its derivatives are of the same form, so they are values of it, too.

References
----------
NIST Digital Library of Mathematical Functions, chapter 19.
"""

import math

import numpy as np

__all__ = ["carlson_integral"]

STEP = 0.3  # of the trapezoidal rule in log(t): its error is exp(-2 pi**2 / STEP), below 1e-28
BLOCK = 512  # elements at once


def carlson_integral(x, y, z, p, i, j, k, l):  # noqa: E741
    """Integral of (t + x)**(-i / 2) (t + y)**(-j / 2) (t + z)**(-k / 2) (t + p)**(-l / 2) over t from 0 to infinity.

    Parameters
    ----------
    x, y, z, p : ndarray or scalar
        Real, not negative.
    i, j, k, l : int
        The integral converges at infinity if their sum is above 2.

    Returns
    -------
    ndarray
        inf if the integral diverges at arguments that are 0, NaN if an argument is negative.
    """
    dtype = np.result_type(x, y, z, p, 1.0)
    chosen = [(array, count / 2) for array, count in ((x, i), (y, j), (z, k), (p, l)) if count]
    arrays = np.broadcast_arrays(*(np.asarray(array, np.float64) for array, _ in chosen))
    shape = np.broadcast_shapes(*map(np.shape, (x, y, z, p)))
    values = np.stack([np.broadcast_to(array, shape).ravel() for array in arrays])
    exponents = np.array([exponent for _, exponent in chosen])
    found = np.empty(values.shape[1])
    with np.errstate(all="ignore"):
        for start in range(0, found.size, BLOCK):
            part = slice(start, start + BLOCK)
            found[part] = _integral(exponents, values[:, part])
    return found.reshape(shape).astype(dtype)


def _integral(exponents, values):
    positive = values[np.isfinite(values) & (values > 0)]
    low, high = (math.log(positive.min()), math.log(positive.max())) if positive.size else (0.0, 0.0)
    s = np.arange(low - 90, high + 90, STEP).clip(-700, 700)
    t, logs = np.exp(s), np.broadcast_to(s, (values.shape[1], s.size))
    for exponent, array in zip(exponents, values):
        logs = logs - exponent * np.log(t + array[:, None])
    at_zero = exponents @ (values == 0)
    found = np.where(at_zero >= 1, np.inf, STEP * np.exp(logs).sum(-1))
    return np.where(np.all(values >= 0, axis=0), found, np.nan)

"""Arrays brought to mean 0 and variance 1 along some of their axes."""

import numpy as np


def softmax_or_zero(x):
    """``exp(x) / sum(exp(x))`` along the last axis, zeros where every element is -inf.

    Parameters
    ----------
    x : ndarray
        Real.

    Returns
    -------
    ndarray
    """
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    highest = np.max(x, axis=-1, keepdims=True, initial=-np.inf)
    y = np.asarray(np.exp(x - np.where(highest == -np.inf, 0, highest)))
    total = np.sum(y, axis=-1, keepdims=True)
    y /= np.where(total == 0, 1, total)
    return y


def standardize(x, axis, eps, centred):
    """Each element less the mean, divided by the root of the mean square plus eps.

    Parameters
    ----------
    x : ndarray
        Real.
    axis : int or tuple of int
    eps : float
    centred : bool
        Whether the mean is subtracted.

    Returns
    -------
    tuple of ndarray
        The quotient, and one over its divisor with the axes that were reduced.
    """
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    y = x - np.mean(x, axis=axis, keepdims=True) if centred else x
    rate = np.asarray(1 / np.sqrt(np.mean(np.square(y), axis=axis, keepdims=True) + eps))
    if centred:
        y *= rate
        return y, rate
    return np.asarray(y * rate), rate

"""Elements times random factors: dropout and its kin."""

import numpy as np

__all__ = ["dropout", "rrelu"]


def dropout(x, p, training, generator):
    """Each element 0 with probability `p`, else divided by 1 - p.

    Parameters
    ----------
    x : ndarray
    p : float
        From 0 to 1.
    training : bool
        Where False, nothing is dropped.
    generator : numpy.random.Generator

    Returns
    -------
    y : ndarray
    mask : ndarray
        What `x` was multiplied by.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    x = np.asarray(x)
    dtype = np.result_type(x, 1.0)
    if not training or p == 0:
        mask = np.ones(x.shape, dtype)
    elif p == 1:
        mask = np.zeros(x.shape, dtype)
    else:
        mask = np.multiply(generator.random(x.shape) >= p, 1 / (1 - p), dtype=dtype)
    return x * mask, mask


def rrelu(x, lower, upper, training, generator):
    """``x`` where it is positive, elsewhere times a random slope, or times the mean of the two bounds.

    Parameters
    ----------
    x : ndarray
    lower, upper : float
    training : bool
        Whether the slopes are random.
    generator : numpy.random.Generator

    Returns
    -------
    y : ndarray
    slope : ndarray
        What `x` was multiplied by.
    """
    if not lower <= upper:
        raise ValueError(f"rrelu: lower must not be above upper, got {lower} and {upper}")
    x = np.asarray(x)
    dtype = np.result_type(x, 1.0)
    slope = generator.uniform(lower, upper, x.shape) if training else (lower + upper) / 2
    slope = np.where(x > 0, 1, slope).astype(dtype)
    return x * slope, slope

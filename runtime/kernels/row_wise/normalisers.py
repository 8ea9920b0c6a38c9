"""Normalise arrays to mean 0 and variance 1 along some of their axes."""

import numpy as np

from ...formulas import reduced_shape


def standardize(x, axis, eps, centred):
    """Each element minus the mean, divided by the square root of the mean square plus eps.

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
        The quotient, and one over its divisor, with length 1 along the axes of `axis`.
    """
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    y = x - np.mean(x, axis=axis, keepdims=True) if centred else x
    rate = _rate(y, axis, eps)
    if centred:
        y *= rate
        return y, rate
    return np.asarray(y * rate), rate


def _rate(y, axis, eps):
    """``1 / sqrt(mean(y**2) + eps)``, also for rows whose squares are out of range."""
    limits = np.finfo(y.dtype)
    with np.errstate(over="ignore"):
        square = np.mean(np.square(y), axis=axis, keepdims=True) + eps
        lost = (square < limits.tiny / limits.eps) | np.isinf(square)
        if not np.any(lost):
            return np.asarray(1 / np.sqrt(square))
        size = np.max(np.abs(y), axis=axis, keepdims=True, initial=0)
        scale = np.ldexp(np.ones_like(size), np.where(lost & np.isfinite(size), -np.frexp(size)[1], 0))
        scale = np.where(np.isfinite(scale), scale, limits.max)
        square = np.mean(np.square(y * scale), axis=axis, keepdims=True) + np.square(y.dtype.type(np.sqrt(eps)) * scale)
    return np.asarray(scale / np.sqrt(square))


def standardize_backward(grad, y, rate, axis, centred):
    """The adjoint of standardize: ``rate * (grad - mean(grad) - y * mean(grad * y))``, without the mean unless centred.

    Parameters
    ----------
    grad : ndarray
    y, rate : ndarray
        The results of standardize.
    axis : int or tuple of int
    centred : bool

    Returns
    -------
    ndarray
    """
    if np.shape(grad) != np.shape(y) or np.shape(rate) != reduced_shape(np.shape(y), axis, True):
        raise ValueError(f"shapes {np.shape(grad)}, {np.shape(y)} and {np.shape(rate)} do not fit along {axis}")
    held = grad - np.mean(grad, axis=axis, keepdims=True) if centred else grad
    return rate * (held - y * np.mean(grad * y, axis=axis, keepdims=True))


def standardize_affine(x, weight, bias, eps, centred):
    """``y * weight + bias`` of the standardized `y`, where blocks have the shape of the weight.

    Parameters
    ----------
    x : ndarray
        Real.
    weight : ndarray
    bias : ndarray or None
    eps : float
    centred : bool

    Returns
    -------
    tuple of ndarray
        The result, the standardized array, and one over its divisor, with axes of length 1 for the axes of a block.
    """
    axes = row_axes(x, weight)
    shared = np.result_type(*(array for array in (x, weight, bias) if array is not None))
    y, rate = standardize(np.asarray(x, shared), axes, eps, centred)
    z = y * weight
    return z if bias is None else z + bias, y, rate


def standardize_affine_backward(grad, weight, y, rate, centred):
    """The adjoints of standardize_affine.

    Parameters
    ----------
    grad : ndarray
    weight : ndarray
    y, rate : ndarray
        Results of standardize_affine.
    centred : bool

    Returns
    -------
    tuple of ndarray
        For x, weight and bias.
    """
    axes = row_axes(y, weight)
    shared = np.result_type(grad, weight, y, rate, np.float16)
    grad, y = np.asarray(grad, shared), np.asarray(y, shared)
    x = standardize_backward(grad * weight, y, rate, axes, centred)
    leading = tuple(range(np.ndim(y) - np.ndim(weight)))
    return x, np.sum(grad * y, axis=leading), np.sum(grad, axis=leading)


def row_axes(x, weight):
    """The axes of a block of the shape of `weight`: the last axes of `x`."""
    count = np.ndim(weight)
    if count == 0 or np.shape(x)[-count:] != np.shape(weight):
        raise ValueError(f"the weight is of shape {np.shape(weight)}, the array of shape {np.shape(x)}")
    return tuple(range(-count, 0))

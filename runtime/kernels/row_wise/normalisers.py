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
    return standard(x, axis, eps, centred)[::2]


def standard(x, axis, eps, centred):
    """``y, centre, rate`` with ``y = (x - centre) * rate``; the centre is the mean if `centred`, else 0."""
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    centre = np.asarray(np.mean(x, axis=axis, keepdims=True)) if centred else None
    y = x - centre if centred else x
    rate = _rate(y, axis, eps)
    return np.asarray(y * rate), centre if centred else np.zeros_like(rate), rate


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


def standardize_affine(x, axis, weight, bias, behind, eps, centred, rows=standard):
    """``y * weight + bias`` of the standardized `y`, where weight and bias get `behind` axes of length 1 at the end.

    Parameters
    ----------
    x : ndarray
        Real.
    axis : int or tuple of int
    weight : ndarray
    bias : ndarray or None
    behind : int
    eps : float
    centred : bool
    rows : callable
        `standard`, or a function as exact.

    Returns
    -------
    tuple of ndarray
        The result, and the mean and one over the divisor, with length 1 along the axes of `axis`.
    """
    if bias is not None and np.shape(bias) != np.shape(weight):
        raise ValueError(f"the weight is of shape {np.shape(weight)}, the bias of shape {np.shape(bias)}")
    shared = np.result_type(*(array for array in (x, weight, bias) if array is not None))
    y, centre, rate = rows(np.asarray(x, shared), axis, eps, centred)
    z = y * _wide(weight, behind, y)
    return z if bias is None else z + _wide(bias, behind, y), centre, rate


def standardize_affine_backward(grad, x, weight, centre, rate, axis, behind, centred, adjoint=standardize_backward):
    """The adjoints of standardize_affine.

    Parameters
    ----------
    grad : ndarray
    x, weight : ndarray
    centre, rate : ndarray
        Results of standardize_affine.
    axis : int or tuple of int
    behind : int
    centred : bool
    adjoint : callable
        `standardize_backward`, or a function as exact.

    Returns
    -------
    tuple of ndarray
        For x, weight and bias.
    """
    shared = np.result_type(grad, x, weight, centre, rate, np.float16)
    grad, wide = np.asarray(grad, shared), _wide(weight, behind, x)
    if np.shape(grad) != np.shape(x) or np.shape(centre) != np.shape(rate):
        raise ValueError(f"shapes {np.shape(grad)}, {np.shape(x)}, {np.shape(centre)} and {np.shape(rate)} do not fit")
    y = (np.asarray(x, shared) - centre) * rate
    moved = adjoint(np.asarray(grad * wide, shared), y, rate, axis, centred)
    before = np.ndim(x) - np.ndim(wide)
    spread = (*range(before), *(before + i for i, length in enumerate(wide.shape) if length == 1))
    return moved, *(np.sum(array, axis=spread).reshape(np.shape(weight)) for array in (grad * y, grad))


def _wide(weight, behind, x):
    """A weight with axes of length 1 at the end, checked to fit `x`."""
    wide = np.reshape(weight, np.shape(weight) + (1,) * behind)
    if wide.ndim > np.ndim(x) or any(n not in (1, length) for n, length in zip(wide.shape[::-1], np.shape(x)[::-1])):
        raise ValueError(f"the weight is of shape {wide.shape}, the array of shape {np.shape(x)}")
    return wide

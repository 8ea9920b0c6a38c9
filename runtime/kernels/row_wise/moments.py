"""Norms, variances and deviations along axes, accurate at every scale of the numbers."""

import math

import numpy as np

__all__ = ["power_norm"]


def centred(x, axis):
    """Each element minus the mean."""
    x = np.asarray(x, np.result_type(np.result_type(x), np.float16))
    if not x.size:
        return x.copy()
    y = np.asarray(x - np.mean(x, axis=axis, keepdims=True))
    y -= np.mean(y, axis=axis, keepdims=True)  # removes the rounding error of the first mean if the numbers are large
    return y


def euclidean_norm(x, axis, keepdims):
    """Square root of the sum of squared moduli."""
    x = np.asarray(x, np.result_type(np.result_type(x), np.float16))
    with np.errstate(over="ignore", under="ignore"):
        y = np.sqrt(np.sum(_squares(x), axis=axis, keepdims=keepdims))
    return y if _in_range(y) else power_norm(x, 2, axis, keepdims).astype(y.dtype, copy=False)


def power_norm(x, ord, axis, keepdims):
    """``sum(abs(x)**ord)**(1/ord)``, `ord` neither 0 nor infinite, scaled by the largest modulus so that no power overflows."""
    moduli = np.abs(x)
    scale = np.max(moduli, axis=axis, keepdims=True, initial=0)
    ratios = moduli / np.where((scale == 0) | np.isinf(scale), 1, scale)
    with np.errstate(divide="ignore"):
        y = scale * np.power(np.sum(np.power(ratios, ord), axis=axis, keepdims=True), 1 / ord)
    return y if keepdims else np.squeeze(y, axis)


def std(x, axis, correction, keepdims):
    """Square root of `var`, at every scale of `x`."""
    with np.errstate(over="ignore", under="ignore"):
        y = np.sqrt(var(x, axis, correction, keepdims))
    if _in_range(y):
        return y
    residual = centred(x, axis)
    norm = euclidean_norm(residual, axis, keepdims)
    return norm / np.sqrt(_count(residual, axis) - correction).astype(norm.dtype)


def var(x, axis, correction, keepdims):
    """Mean squared distance from the mean, with the count minus `correction` as divisor."""
    if np.asarray(x).dtype.kind not in "fc" or not np.size(x):
        return np.var(x, axis=axis, ddof=correction, keepdims=keepdims)
    residual = x - np.mean(x, axis=axis, keepdims=True)
    count = _count(residual, axis)
    squares = np.sum(_squares(residual), axis=axis, keepdims=keepdims)
    # The sum of the residuals contains the rounding error of the mean; correcting for it rarely takes a second pass.
    left = np.sum(residual, axis=axis, keepdims=keepdims)
    left = _squares(left) / max(count, 1)
    if np.any(left >= squares / 1024):
        squares, left = np.sum(_squares(centred(x, axis)), axis=axis, keepdims=keepdims), 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return (squares - left) / np.asarray(max(count - correction, 0), squares.dtype)


def _count(x, axis):
    """The number of elements that are reduced to one."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return math.prod(x.shape[i] for i in axes)


def _in_range(y):
    """Whether no square in a root can have over- or underflowed."""
    limits = np.finfo(y.dtype)
    return not np.any((y < 16 * math.sqrt(limits.tiny) / limits.eps) | np.isinf(y))


def _squares(x):
    """The squared moduli."""
    return x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x

"""Norms, log-sum-exp, softmax, and the ways back from a reduced or a broadcast shape."""

import math

import numpy as np


def centred(x, axis):
    """Each element less the mean.

    Parameters
    ----------
    x : ndarray
    axis : int, tuple of int or None

    Returns
    -------
    ndarray
    """
    x = np.asarray(x, np.result_type(np.result_type(x), np.float16))
    if not x.size:
        return x.copy()
    y = np.asarray(x - np.mean(x, axis=axis, keepdims=True))
    y -= np.mean(y, axis=axis, keepdims=True)  # where the numbers are large the first mean was rounded
    return y


def euclidean_norm(x, axis, keepdims):
    """Square root of the sum of squared moduli.

    Parameters
    ----------
    x : ndarray
    axis : int, tuple of int or None
    keepdims : bool

    Returns
    -------
    ndarray
        Real.
    """
    x = np.asarray(x, np.result_type(np.result_type(x), np.float16))
    with np.errstate(over="ignore", under="ignore"):
        y = np.sqrt(np.sum(_squares(x), axis=axis, keepdims=keepdims))
    return y if _in_range(y) else power_norm(x, 2, axis, keepdims).astype(y.dtype, copy=False)


def log_softmax(x, axis):
    """``x - logsumexp(x)`` along `axis`.

    Parameters
    ----------
    x : ndarray
    axis : int or tuple of int

    Returns
    -------
    ndarray
    """
    shifted = x - _highest(x, axis)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def log_softmax_backward(grad, y, axis):
    """The adjoint of log_softmax.

    Parameters
    ----------
    grad : ndarray
    y : ndarray
        The result of log_softmax.
    axis : int or tuple of int

    Returns
    -------
    ndarray
    """
    _check_alike(grad, y)
    return grad - np.exp(y) * np.sum(grad, axis=axis, keepdims=True)


def logsumexp(x, axis, keepdims):
    """``log(sum(exp(x)))`` without overflow, on the principal branch; -inf where all of `x` is.

    Parameters
    ----------
    x : ndarray
    axis : int, tuple of int or None
    keepdims : bool

    Returns
    -------
    ndarray
    """
    highest = _highest(x, axis)
    highest = np.where(np.isinf(highest), 0, highest)
    with np.errstate(divide="ignore"):
        y = np.log(np.sum(np.exp(x - highest), axis=axis, keepdims=True)) + highest
    return y if keepdims else np.squeeze(y, axis)


def logsumexp_backward(grad, x, axis, keepdims):
    """The adjoint of logsumexp.

    Parameters
    ----------
    grad : ndarray
        Of the shape of the result.
    x : ndarray
    axis : int, tuple of int or None
    keepdims : bool

    Returns
    -------
    ndarray
        Zero where all of `x` is -inf.
    """
    highest = _highest(x, axis)
    weights = np.exp(x - np.where(highest == -np.inf, 0, highest))
    total = np.sum(weights, axis=axis, keepdims=True)
    return weights * (unreduce(grad, np.shape(total), axis, keepdims) / np.where(total == 0, 1, total))


def power_norm(x, ord, axis, keepdims):
    """``sum(abs(x)**ord)**(1/ord)``, scaled by the largest modulus so that no power overflows.

    Parameters
    ----------
    x : ndarray
    ord : float
        Neither 0 nor infinite.
    axis : int, tuple of int or None
    keepdims : bool

    Returns
    -------
    ndarray
        Real.
    """
    moduli = np.abs(x)
    scale = np.max(moduli, axis=axis, keepdims=True, initial=0)
    ratios = moduli / np.where((scale == 0) | np.isinf(scale), 1, scale)
    with np.errstate(divide="ignore"):
        y = scale * np.power(np.sum(np.power(ratios, ord), axis=axis, keepdims=True), 1 / ord)
    return y if keepdims else np.squeeze(y, axis)


def softmax(x, axis):
    """``exp(x) / sum(exp(x))`` along `axis`, without overflow.

    Parameters
    ----------
    x : ndarray
    axis : int or tuple of int

    Returns
    -------
    ndarray
    """
    y = np.asarray(np.exp(x - _highest(x, axis)))
    y /= np.sum(y, axis=axis, keepdims=True)
    return y


def softmax_backward(grad, y, axis):
    """The adjoint of softmax.

    Parameters
    ----------
    grad : ndarray
    y : ndarray
        The result of softmax.
    axis : int or tuple of int

    Returns
    -------
    ndarray
    """
    _check_alike(grad, y)
    return y * (grad - np.sum(y * grad, axis=axis, keepdims=True))


def std(x, axis, correction, keepdims):
    """Square root of `var`, at every scale of `x`.

    Parameters
    ----------
    x : ndarray
    axis : int, tuple of int or None
    correction : float
    keepdims : bool

    Returns
    -------
    ndarray
        Real.
    """
    with np.errstate(over="ignore", under="ignore"):
        y = np.sqrt(var(x, axis, correction, keepdims))
    if _in_range(y):
        return y
    residual = centred(x, axis)
    norm = euclidean_norm(residual, axis, keepdims)
    return norm / np.sqrt(_count(residual, axis) - correction).astype(norm.dtype)


def unreduce(x, shape, axis, keepdims):
    """Broadcast a reduced array back along the axes that were reduced.

    Parameters
    ----------
    x : ndarray
    shape : tuple of int
        The shape before the reduction.
    axis : int, tuple of int or None
    keepdims : bool
        Whether `x` still has the reduced axes.

    Returns
    -------
    ndarray
        A read-only view of `x`.
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if axis is not None and not keepdims:
        axes = {i % max(len(shape), 1) for i in ((axis,) if isinstance(axis, int) else axis)}
        x = np.reshape(x, [1 if i in axes else n for i, n in enumerate(shape)])
    return np.broadcast_to(x, shape)


def var(x, axis, correction, keepdims):
    """Mean squared distance from the mean, with the count less `correction` as divisor.

    Parameters
    ----------
    x : ndarray
    axis : int, tuple of int or None
    correction : float
    keepdims : bool

    Returns
    -------
    ndarray
        Real.
    """
    if np.asarray(x).dtype.kind not in "fc" or not np.size(x):
        return np.var(x, axis=axis, ddof=correction, keepdims=keepdims)
    residual = x - np.mean(x, axis=axis, keepdims=True)
    count = _count(residual, axis)
    squares = np.sum(_squares(residual), axis=axis, keepdims=keepdims)
    # What rounding left of the mean is in the sum of the residuals; it seldom takes a second pass to be rid of it.
    left = np.sum(residual, axis=axis, keepdims=keepdims)
    left = _squares(left) / max(count, 1)
    if np.any(left >= squares / 1024):
        squares, left = np.sum(_squares(centred(x, axis)), axis=axis, keepdims=keepdims), 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return (squares - left) / np.asarray(max(count - correction, 0), squares.dtype)


def _check_alike(grad, y):
    if np.shape(grad) != np.shape(y):
        raise ValueError(f"a cotangent of shape {np.shape(grad)} is not one of a result of shape {np.shape(y)}")


def _count(x, axis):
    """The number of elements that are reduced to one."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return math.prod(x.shape[i] for i in axes)


def _highest(x, axis):
    """The maximum of the real parts, -inf of nothing, with the reduced axes kept."""
    x = np.asarray(x).real
    return np.max(x, axis=axis, keepdims=True, initial=-np.inf if x.dtype.kind == "f" else None)


def _in_range(y):
    """Whether no square on the way to a root can have over- or underflowed."""
    limits = np.finfo(y.dtype)
    return not np.any((y < 16 * math.sqrt(limits.tiny) / limits.eps) | np.isinf(y))


def _squares(x):
    """The squared moduli."""
    return x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x

"""Softmax, log-softmax, log-sum-exp and their adjoints, along axes."""

import numpy as np

from ..reductions.reductions import unreduce


def log_softmax(x, axis):
    """``x - logsumexp(x)`` along `axis`."""
    axis = _own_axes(x, axis)
    shifted = x - _highest(x, axis)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def log_softmax_backward(grad, y, axis):
    """The adjoint of log_softmax; `y` is its result."""
    _check_alike(grad, y)
    return grad - np.exp(y) * np.sum(grad, axis=axis, keepdims=True)


def logsumexp(x, axis, keepdims):
    """``log(sum(exp(x)))`` without overflow, on the principal branch; -inf if all of `x` is -inf."""
    highest = _highest(x, axis)
    highest = np.where(np.isinf(highest), 0, highest)
    with np.errstate(divide="ignore"):
        y = np.log(np.sum(np.exp(x - highest), axis=axis, keepdims=True)) + highest
    return y if keepdims else np.squeeze(y, axis)


def logsumexp_backward(grad, x, axis, keepdims):
    """The adjoint of logsumexp: zero if all of `x` is -inf, shared equally among infinities."""
    weights = _weights(x, axis, True)
    total = np.sum(weights, axis=axis, keepdims=True)
    return weights * (unreduce(grad, np.shape(total), axis, keepdims) / np.where(total == 0, 1, total))


def softmax(x, axis):
    """``exp(x) / sum(exp(x))`` along `axis`, without overflow."""
    axis = _own_axes(x, axis)
    y = np.asarray(np.exp(x - _highest(x, axis)))
    y /= np.sum(y, axis=axis, keepdims=True)
    return y


def softmax_backward(grad, y, axis):
    """The adjoint of softmax; `y` is its result."""
    _check_alike(grad, y)
    return y * (grad - np.sum(y * grad, axis=axis, keepdims=True))


def softmax_or_zero(x, axis, shared):
    """``exp(x) / sum(exp(x))`` along `axis`, zeros if every element is -inf.

    Infinite elements share the sum equally if `shared`; otherwise it is NaN at them.
    """
    axis = _own_axes(x, axis)
    y = np.asarray(_weights(x, axis, shared))
    total = np.sum(y, axis=axis, keepdims=True)
    y /= np.where(total == 0, 1, total)
    return y


def _own_axes(x, axis):
    """`axis`; no axes for a number: PyTorch accepts the axes 0 and -1 for it."""
    return () if np.ndim(x) == 0 and axis in ((0,), (-1,), 0, -1) else axis


def _check_alike(grad, y):
    if np.shape(grad) != np.shape(y):
        raise ValueError(f"a cotangent of shape {np.shape(grad)} is not one of a result of shape {np.shape(y)}")


def _highest(x, axis):
    """The maximum of the real parts, -inf if there are no elements, with the reduced axes kept."""
    x = np.real(x)
    return np.max(x, axis=axis, keepdims=True, initial=-np.inf if np.result_type(x).kind == "f" else None)


def _weights(x, axis, shared):
    """exp(x) over exp(maximum), 0 if the maximum is -inf; if it is inf, NaN, or 1 for each infinity if shared."""
    x = np.asarray(x)
    highest = _highest(x, axis)
    if shared and np.any(highest == np.inf):
        x = np.where(highest == np.inf, np.where(x.real == np.inf, 0, -np.inf), x).astype(x.dtype)
        highest = np.where(highest == np.inf, 0, highest)
    return np.exp(x - np.where(highest == -np.inf, 0, highest))

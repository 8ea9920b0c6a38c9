"""Cross entropies of class targets with an ignored class, and their mean over the counted targets."""

import numpy as np

from .losses import pick, unpick
from .softmax import log_softmax, softmax

__all__ = ["class_losses_backward", "class_or_zero", "class_pairs", "is_class"]


def is_class(target, ignore_index):
    """Whether a target's class is counted, that is, not ignored."""
    return np.not_equal(target, ignore_index)


def class_losses(x, target, axis, ignore_index):
    """The negative of the element at the class, 0 for an ignored class; `target` has the shape of `x` without `axis`."""
    known = is_class(target, ignore_index)
    y = -pick(np.asarray(x, np.result_type(x, np.float16)), np.where(known, target, 0), axis)
    return np.where(known, y, y.dtype.type(0))


def class_losses_backward(grad, target, shape, axis, ignore_index):
    """The adjoint of class_losses; the result has the given shape."""
    known, grad = is_class(target, ignore_index), np.asarray(grad, np.result_type(grad, np.float16))
    return unpick(np.where(known, -grad, grad.dtype.type(0)), np.where(known, target, 0), shape, axis)


def class_or_zero(target, ignore_index):
    """The class, 0 for an ignored class."""
    return np.where(np.equal(target, ignore_index), 0, np.asarray(target, np.intp))


def class_pairs(target):
    """For each position of a list and each class: whether the position holds a class, and the list does not contain the class.

    Parameters
    ----------
    target : (..., n) array_like of int
        Classes in front, followed by -1; elements after the first -1 do not count.

    Returns
    -------
    (..., n, n) ndarray of bool
    """
    target = np.asarray(target, np.intp)
    count = target.shape[-1] if target.ndim else 0
    if not target.ndim or (target < -1).any() or (target >= count).any():
        raise ValueError(f"multilabel_margin_loss: the classes along the last axis must be from -1 up to {count - 1}")
    counted = np.logical_and.accumulate(target >= 0, -1)
    own = (counted[..., None] & (target[..., None] == np.arange(count))).any(-2)
    return counted[..., None] & ~own[..., None, :]


def cross_entropies(x, target, axis, ignore_index):
    """Log-sum-exp along `axis` minus the element at the class, 0 for an ignored class.

    Parameters
    ----------
    x : ndarray
        Real.
    target : array_like of int
        Of the shape of `x` without `axis`.
    axis : int
    ignore_index : int

    Returns
    -------
    y : ndarray
        Of the shape of `target`.
    weight : ndarray
        The softmax of `x`.
    """
    known = is_class(target, ignore_index)
    y = -pick(log_softmax(x, axis), np.where(known, target, 0), axis)
    return np.where(known, y, y.dtype.type(0)), softmax(x, axis)


def cross_entropies_backward(grad, weight, target, axis, ignore_index):
    """The adjoint of the losses of cross_entropies.

    Parameters
    ----------
    grad : ndarray
        Of the shape of `target`.
    weight : ndarray
        The softmax of the logits.
    target : array_like of int
    axis : int
    ignore_index : int

    Returns
    -------
    ndarray
        Of the shape of `weight`.
    """
    known, grad = is_class(target, ignore_index), np.asarray(grad, np.result_type(grad, np.float16))
    y = weight * np.expand_dims(grad, axis) - unpick(grad, np.where(known, target, 0), np.shape(weight), axis)
    return np.where(np.expand_dims(known, axis), y, y.dtype.type(0))


def kept_mean(x, target, ignore_index):
    """The mean of the losses whose class is counted.

    Parameters
    ----------
    x : ndarray
        Losses, 0 for an ignored class.
    target : array_like of int
    ignore_index : int

    Returns
    -------
    ndarray
    """
    known = is_class(target, ignore_index)
    count = np.count_nonzero(known)
    return np.asarray((x if count == x.size else np.where(known, x, x.dtype.type(0))).sum() / x.dtype.type(count))


def kept_mean_backward(x, target, ignore_index):
    """A number divided by the count of counted classes, 0 for an ignored class.

    Parameters
    ----------
    x : ndarray
        0-d.
    target : array_like of int
    ignore_index : int

    Returns
    -------
    ndarray
        Of the shape of `target`.
    """
    known = is_class(target, ignore_index)
    return known * (x / x.dtype.type(np.count_nonzero(known)))

"""Losses of classes of which one may not be counted, and their mean."""

import numpy as np

from .softmax import cross_entropy, cross_entropy_backward


def is_class(target, ignore_index):
    """Whether a class is counted.

    Parameters
    ----------
    target : array_like of int
    ignore_index : int

    Returns
    -------
    ndarray of bool
    """
    return np.not_equal(target, ignore_index)


def class_or_zero(target, ignore_index):
    """The class, 0 where that is not counted.

    Parameters
    ----------
    target : array_like of int
    ignore_index : int

    Returns
    -------
    ndarray of int
    """
    return np.where(np.equal(target, ignore_index), 0, np.asarray(target, np.intp))


def kept_cross_entropy(x, target, axis, ignore_index):
    """cross_entropy, and 0 where the class is not counted.

    Parameters
    ----------
    x : ndarray
        Real.
    target : array_like of int
    axis : int
    ignore_index : int

    Returns
    -------
    ndarray
        Of the shape of `target`.
    """
    if may_all_count(x, axis, ignore_index):
        try:
            return cross_entropy(x, target, axis)
        except IndexError:  # of what is not counted, or of what is no class: then it is raised below
            pass
    known = is_class(target, ignore_index)
    y = cross_entropy(x, class_or_zero(target, ignore_index), axis)
    return np.where(known, y, y.dtype.type(0))


def kept_cross_entropy_backward(grad, x, target, axis, ignore_index):
    """The adjoint of kept_cross_entropy.

    Parameters
    ----------
    grad : ndarray
        Of the shape of `target`.
    x : ndarray
        Real.
    target : array_like of int
    axis : int
    ignore_index : int

    Returns
    -------
    ndarray
    """
    if may_all_count(x, axis, ignore_index):
        try:
            return cross_entropy_backward(grad, x, target, axis)
        except IndexError:
            pass
    known = is_class(target, ignore_index)
    return cross_entropy_backward(np.where(known, grad, grad.dtype.type(0)), x, class_or_zero(target, ignore_index), axis)


def kept_mean(x, target, ignore_index):
    """The mean of the losses whose class is counted.

    Parameters
    ----------
    x : ndarray
        Losses, 0 where it is not.
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
    """A number over the count of the classes that are counted, 0 for the others.

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


def may_all_count(x, axis, ignore_index):
    """Whether `ignore_index` is outside of the classes, so that one that is not counted is out of range."""
    return not -x.shape[axis] <= ignore_index < x.shape[axis]

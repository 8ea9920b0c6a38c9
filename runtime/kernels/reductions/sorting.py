"""Orders along an axis."""

import numpy as np

from .sorting_loops import select_along_rows

__all__ = ["argsort", "bincount", "bins", "first_places", "histc", "segment", "topk", "unique_counts", "unique_inverse"]

_FEW = 32  # elements up to which keeping the best in order costs less than a sort


def argsort(x, axis, descending, stable):
    """The order that sorts `x` along `axis`.

    Parameters
    ----------
    x : ndarray
    axis : int
    descending : bool
    stable : bool
        Whether equal elements keep their order, in both directions.

    Returns
    -------
    ndarray of int
    """
    if not descending:
        return np.argsort(x, axis, stable=stable)
    backwards = np.argsort(np.flip(x, axis), axis, stable=stable)
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def bincount(x, weights, minlength):
    """How often each number occurs, or the sum of the weights where it does.

    Parameters
    ----------
    x : ndarray of int
    weights : ndarray or None
    minlength : int

    Returns
    -------
    ndarray
        In the dtype of `weights`.
    """
    x = np.asarray(x)
    if weights is None:
        return np.bincount(x, None, minlength)
    weights = np.asarray(weights)
    if weights.dtype.kind == "c":
        parts = (np.bincount(x, part, minlength) for part in (weights.real, weights.imag))
        return (next(parts) + 1j * next(parts)).astype(weights.dtype)
    return np.bincount(x, weights, minlength).astype(np.result_type(weights, 1.0))


def bins(x, edges):
    """Which of the bins between rising edges each element lies in, the last edge included.

    Parameters
    ----------
    x : ndarray
    edges : ndarray

    Returns
    -------
    ndarray of int
        As many as there are bins for what lies outside.
    """
    count = len(edges) - 1
    places = np.searchsorted(edges, x, "right") - 1
    return np.where(x == edges[-1], count - 1, np.where((places < 0) | (places >= count), count, places))


def histc(x, bins, min, max):
    """How many elements each of so many bins between two bounds holds.

    Parameters
    ----------
    x : ndarray
    bins : int
    min, max : float
        Where they are equal, the least and the greatest element.

    Returns
    -------
    ndarray
        In the dtype of `x`.
    """
    bounds = None if min == max else (min, max)
    return np.histogram(x, bins, bounds)[0].astype(x.dtype)


def first_places(x):
    """Where, in C order, each different element stands first.

    Parameters
    ----------
    x : ndarray

    Returns
    -------
    ndarray of int
    """
    return np.unique(x, return_index=True)[1]


def segment(x, xp):
    """Between which two neighbours of a rising sequence each number lies.

    Parameters
    ----------
    x, xp : ndarray

    Returns
    -------
    ndarray of int
        The first of both, the first or last but one beyond the ends.
    """
    if np.ndim(xp) != 1 or len(xp) < 2:
        raise ValueError(f"xp must be a vector of two places at least, its shape is {np.shape(xp)}")
    return np.asarray(np.clip(np.searchsorted(xp, x, "right") - 1, 0, len(xp) - 2), np.intp)


def topk(x, k, axis, largest):
    """The `k` largest or smallest elements along `axis`, in order, and where they stood.

    Parameters
    ----------
    x : ndarray
    k : int
    axis : int
    largest : bool

    Returns
    -------
    values : ndarray
    indices : ndarray of int
    """
    length = x.shape[axis]
    if not 0 <= k <= length:
        raise ValueError(f"k is {k}, the axis has {length} elements")
    if 0 < k <= _FEW and 0 < k < length:
        found = select_along_rows(np.moveaxis(x, axis, -1), k, largest)
        if found is not None:
            return tuple(np.moveaxis(part, -1, axis) for part in found)
    first = (slice(None),) * (axis % x.ndim) + (slice(k),)
    indices = argsort(x, axis, largest, True)[first]
    return np.take_along_axis(x, indices, axis), indices


def unique_counts(x):
    """How often each of the different elements occurs.

    Parameters
    ----------
    x : ndarray

    Returns
    -------
    ndarray of int
    """
    return np.unique(x, return_counts=True)[1]


def unique_inverse(x):
    """Which of the different elements each element is.

    Parameters
    ----------
    x : ndarray

    Returns
    -------
    ndarray of int
    """
    return np.unique(x, return_inverse=True)[1].reshape(np.shape(x))

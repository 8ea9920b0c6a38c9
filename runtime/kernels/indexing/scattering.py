"""Places that several elements go to: reductions of what meets there, runs of equal places, and the order of what is inserted."""

import numpy as np


def insert_order(index, length, count):
    """Which of `length` slices with `count` new ones behind them stands where, once the new ones are inserted.

    Parameters
    ----------
    index : int, slice or array_like of int or bool
        Before which slices; one stands for all of the new ones.
    length, count : int

    Returns
    -------
    ndarray of int
    """
    if isinstance(index, slice):
        index = np.arange(*index.indices(length))
    places = np.asarray(index)
    places = np.flatnonzero(places) if places.dtype.kind == "b" else places.astype(np.intp, casting="same_kind")
    if places.size and not (-length <= places.min() and places.max() <= length):
        raise IndexError(f"index {index} is out of range for the length {length}")
    places = np.where(places < 0, places + length, places)
    places = np.repeat(places, count) if places.size == 1 else places
    return np.insert(np.arange(length), places, np.arange(length, length + count))


def mode_place(x, axis):
    """Where the most frequent element, the smallest of several, stands last along `axis`.

    Parameters
    ----------
    x : ndarray
        Not empty along `axis`.
    axis : int

    Returns
    -------
    ndarray of int
        Of length 1 along `axis`.
    """
    order = np.argsort(x, axis, stable=True)
    ordered = np.moveaxis(np.take_along_axis(x, order, axis), axis, -1)
    places = np.arange(ordered.shape[-1])
    lengths = places - np.maximum.accumulate(np.where(run_begins(ordered, -1), places, 0), -1)
    ends = np.moveaxis(np.argmax(lengths, -1, keepdims=True), -1, axis)
    return np.take_along_axis(order, ends, axis)


def places_along(indices, axis, shape):
    """Indices along an axis of an array of the given shape, negative ones counted from the front.

    Parameters
    ----------
    indices : array_like of int
    axis : int
    shape : tuple of int

    Returns
    -------
    ndarray of int
    """
    indices, length = np.asarray(indices, np.intp), shape[axis] if shape else 1
    if indices.size and not (-length <= indices.min() and indices.max() < length):
        raise IndexError(f"indices are out of range for the length {length} of axis {axis}")
    return np.where(indices < 0, indices + length, indices)


def run_begins(places, axis):
    """Whether a place is another one than that before it along `axis`.

    Parameters
    ----------
    places : array_like of int
    axis : int

    Returns
    -------
    ndarray of bool
    """
    places = np.moveaxis(np.asarray(places), axis, -1)
    begins = np.ones(places.shape, bool)
    begins[..., 1:] = places[..., 1:] != places[..., :-1]
    return np.moveaxis(begins, -1, axis).copy()


def scatter_extreme(x, axis, indices, source, largest, include_self):
    """The largest, or the smallest, of each element and of what is scattered to its place; NaN where one of them is.

    Parameters
    ----------
    x : ndarray
    axis : int
    indices : array_like of int
    source : ndarray
        Broadcasts to the shape of `indices`.
    largest : bool
    include_self : bool
        Whether elements to whose place something is scattered take part.

    Returns
    -------
    ndarray
    """
    index = _across(indices, axis, x.ndim)
    y = np.array(x, np.result_type(x, source))
    if not include_self:
        limits = np.iinfo(y.dtype) if y.dtype.kind in "iu" else None
        low, high = (limits.min, limits.max) if limits else (False, True) if y.dtype == bool else (-np.inf, np.inf)
        y[index] = low if largest else high
    (np.maximum if largest else np.minimum).at(y, index, source)
    return y


def spread_index(indices, shape, axis):
    """Indices of slices along an axis as those of the elements of an array of the given shape.

    Parameters
    ----------
    indices : array_like of int
        One for each slice.
    shape : tuple of int
    axis : int

    Returns
    -------
    ndarray of int
    """
    lying = [1] * len(shape)
    lying[axis] = -1
    return np.broadcast_to(np.reshape(np.asarray(indices, np.intp), lying), shape).copy()


def takes_part(indices, axis, shape, include_self):
    """Which elements take part in what is scattered to their places: all, or those to which nothing is.

    Parameters
    ----------
    indices : array_like of int
    axis : int
    shape : tuple of int
    include_self : bool

    Returns
    -------
    ndarray of bool
    """
    y = np.ones(shape, bool)
    y[_across(indices, axis, len(shape))] = include_self
    return y


def unravel_index(indices, shape):
    """Places in C order as indices along each axis, negative ones counted from the end.

    Parameters
    ----------
    indices : array_like of int
    shape : tuple of int

    Returns
    -------
    list of ndarray of int
    """
    return [np.asarray(part) for part in np.unravel_index(np.asarray(indices, np.intp), shape)]


def _across(indices, axis, ndim):
    """The index that takes `indices` along one axis of an array, and place i along every other one."""
    indices = np.asarray(indices, np.intp)
    if indices.ndim != ndim:
        raise ValueError(f"indices have {indices.ndim} axes, the array has {ndim}")
    index = list(np.ogrid[tuple(map(slice, indices.shape))]) if ndim else []
    if ndim:
        index[axis] = indices
    return tuple(index)

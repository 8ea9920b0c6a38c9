"""Positions along axes: runs of equal positions, the order of inserted slices, and conversions of indices."""

import numpy as np

__all__ = ["insert_order", "kept", "mode_place", "places_along", "run_begins", "spread_index", "unravel_index"]


def insert_order(index, length, count):
    """The order of `length` slices followed by `count` new ones, once the new ones are inserted.

    Parameters
    ----------
    index : int, slice or array_like of int or bool
        Positions before which to insert; a single one is used for all new slices.
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
    places = np.repeat(places, count) if places.size == 1 else places
    return np.insert(np.arange(length), places, np.arange(length, length + count))


def kept(index, length):
    """The numbers below `length` except those that `index` selects.

    Parameters
    ----------
    index : int, slice or array_like of int or bool
    length : int

    Returns
    -------
    ndarray of int
    """
    return np.delete(np.arange(length), index)


def mode_place(x, axis):
    """The last position, along `axis`, of the most frequent element; of the smallest one if several are as frequent.

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
    """Indices along an axis of an array of the given shape, with negative ones converted to count from the front.

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
    """Whether a position differs from the preceding one along `axis`; true for the first.

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


def spread_index(indices, shape, axis):
    """Indices of slices along an axis as indices of the elements of an array of the given shape.

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
    if shape:
        lying[axis] = -1
    return np.broadcast_to(np.reshape(np.asarray(indices, np.intp), lying), shape).copy()


def unravel_index(indices, shape):
    """Positions in C order as indices along each axis.

    Parameters
    ----------
    indices : array_like of int
    shape : tuple of int

    Returns
    -------
    list of ndarray of int
    """
    return [np.asarray(part) for part in np.unravel_index(np.asarray(indices, np.intp), shape)]

"""Sorting and searching along an axis, histograms, and distinct elements."""

import numpy as np

from ..indexing.gathering import take_along_axis
from .numbers import number_as_row
from .sorting_loops import select_along_rows

__all__ = ["argsort", "bincount", "bins", "first_places", "histc", "searchsorted", "segment", "sort", "topk",
           "unique_counts", "unique_inverse"]  # fmt: skip

_FEW_TO_SORT = 1 << 10  # up to this number of elements a stable sort is as fast as any other
_FEW = 32  # up to this number of elements keeping the best ones in order is faster than sorting


@number_as_row
def argsort(x, axis, descending, stable):
    """The order that sorts `x` along `axis`; equal elements keep their order, in either direction, if `stable`."""
    if not descending:
        return _order(x, axis, stable)
    backwards = _order(np.flip(x, axis), axis, stable)
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def _order(x, axis, stable):
    """np.argsort; an unstable sort is several times as fast, and if no two elements are equal its order is the stable one.

    float32 takes a tenth to a third of that time, by sorting integers.
    """
    if not stable or x.size < _FEW_TO_SORT or x.dtype.kind != "f":
        return np.argsort(x, axis, stable=stable)
    if axis % x.ndim != x.ndim - 1:
        return np.moveaxis(_order(np.ascontiguousarray(np.moveaxis(x, axis, -1)), -1, True), -1, axis)
    if x.dtype.char in "ef" and x.shape[-1] < 2**32:
        return _order_of_bits(x)
    order = np.argsort(x, -1)
    values = take_along_axis(x, order, -1)
    return order if (values[..., 1:] > values[..., :-1]).all() else np.argsort(x, -1, stable=True)


def _order_of_bits(x):
    """The stable order along the last axis of floats of at most 32 bits, by one sort of integers: the number and its position.

    The bits of floats are ordered like the numbers if all bits of negative ones except the sign are inverted; NaNs come last.
    """
    bits = np.add(x, 0, dtype=np.float32).view(np.int32)  # adding 0 makes both zeros positive
    keys = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).astype(np.int64)
    keys[np.isnan(x)] = 0x7FFFFFFF
    keys <<= 32
    keys |= np.arange(x.shape[-1])
    keys.sort(-1)
    keys &= 0xFFFFFFFF
    return keys.astype(np.intp, copy=False)


@number_as_row
def sort(x, axis, descending, stable):
    """The elements in order along `axis`; NaNs at the end, or at the front if descending.

    Zeros of either sign, which are equal, keep their order if `stable`.
    """
    if descending and x.dtype.kind == "c":
        return take_along_axis(x, argsort(x, axis, descending, stable), axis)
    y = np.sort(x, axis)
    if stable and x.dtype.kind == "f":
        signs = np.signbit(y[y == 0])
        if signs.any() and not signs.all():
            return take_along_axis(x, argsort(x, axis, descending, True), axis)
    return np.flip(y, axis) if descending else y


def bincount(x, weights, minlength):
    """The number of occurrences of each integer, or the sum of their weights, in the dtype of `weights`."""
    x = np.asarray(x)
    if weights is None:
        return np.bincount(x, None, minlength)
    weights = np.asarray(weights)
    if weights.dtype.kind == "c":
        parts = (np.bincount(x, part, minlength) for part in (weights.real, weights.imag))
        return (next(parts) + 1j * next(parts)).astype(weights.dtype)
    return np.bincount(x, weights, minlength).astype(np.result_type(weights, 1.0))


def bins(x, edges):
    """The index of the bin between ascending edges that contains each element; the last edge is included.

    The index is the number of bins for elements outside.
    """
    count = len(edges) - 1
    places = np.searchsorted(edges, x, "right") - 1
    return np.where(x == edges[-1], count - 1, np.where((places < 0) | (places >= count), count, places))


def searchsorted(sorted_sequence, values, side):
    """The positions for inserting values so that the sequence stays sorted.

    Parameters
    ----------
    sorted_sequence : (..., n) ndarray
    values : ndarray
        Of any shape for a single sequence, else with the same axes before the last.
    side : {'left', 'right'}

    Returns
    -------
    ndarray of int
        Of the shape of `values`.
    """
    if np.ndim(sorted_sequence) < 2:
        return np.searchsorted(sorted_sequence, values, side)
    rows, values = sorted_sequence, np.asarray(values)
    if rows.shape[:-1] != values.shape[:-1]:
        raise ValueError(f"rows of sequences {rows.shape} and of values {values.shape} must agree in all axes but the last")
    places = np.empty(values.shape, np.intp)
    for row in np.ndindex(rows.shape[:-1]):
        places[row] = np.searchsorted(rows[row], values[row], side)
    return places


def histc(x, bins, min, max):
    """The number of elements, in the dtype of `x`, in each of `bins` equal bins between two bounds.

    If the bounds are equal, the least and the greatest element are used.
    """
    bounds = None if min == max else (min, max)
    return np.histogram(x, bins, bounds)[0].astype(np.result_type(x))


def first_places(x):
    """The position, in C order, of the first occurrence of each distinct element."""
    x = np.reshape(x, -1)
    if x.size < _FEW_TO_SORT or x.dtype.kind != "f":
        return np.unique(x, return_index=True)[1]
    order = _order(x, 0, True)
    values = x[order]
    first = np.concatenate([[True], values[1:] != values[:-1]])
    first[np.searchsorted(values, np.nan) + 1 :] = False  # keep a single NaN
    return order[first]


def segment(x, xp):
    """The interval of an ascending sequence `xp`, by its start, that contains each number; the first or last beyond the ends."""
    if np.ndim(xp) != 1 or len(xp) < 2:
        raise ValueError(f"xp must be a vector of two places at least, its shape is {np.shape(xp)}")
    return np.asarray(np.clip(np.searchsorted(xp, x, "right") - 1, 0, len(xp) - 2), np.intp)


@number_as_row
def topk(x, k, axis, largest):
    """The `k` largest or smallest elements along `axis`, in order, and their positions."""
    length = x.shape[axis]
    if not 0 <= k <= length:
        raise ValueError(f"k is {k}, the axis has {length} elements")
    if 0 < k <= _FEW and 0 < k < length:
        last = axis % x.ndim == x.ndim - 1
        found = select_along_rows(x if last else np.moveaxis(x, axis, -1), k, largest)
        if found is not None:
            return found if last else tuple(np.moveaxis(part, -1, axis) for part in found)
    first = (slice(None),) * (axis % x.ndim) + (slice(k),)
    indices = argsort(x, axis, largest, True)[first]
    return take_along_axis(x, indices, axis), indices


def unique_counts(x):
    """The number of occurrences of each distinct element."""
    return np.unique(x, return_counts=True)[1]


def unique_inverse(x):
    """The index of each element among the distinct elements."""
    return np.unique(x, return_inverse=True)[1].reshape(np.shape(x))

"""Add, write and compare elements and slices at indices along one axis, with repeated indices.

Chooses how to add: by rows, through flat positions, or by `np.add.at`, which accepts every index and takes ten times as long.
"""

import math

import numpy as np

from ...formulas.indices import corner
from ..loops.copying import copy_of, zeros_of
from . import scattering_loops as loops
from .gathering import axis_index, integers, is_number, open_index

__all__ = [
    "index_add", "index_add_", "last_written", "scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_extreme",
    "take_along_axis_backward", "take_backward", "takes_part",
]  # fmt: skip

# Below this number of elements np.add.at on the index itself is faster than computing flat positions.
_SMALL = 512


def add_at(x, index, values):
    """``np.add.at``, by rows or through flat positions if that is faster.

    Parameters
    ----------
    x : ndarray
        Changed.
    index : tuple
        Of slices, integers, arrays of integers or booleans, None and Ellipsis; no lists.
    values : ndarray
        Broadcasts to the shape of ``x[index]``.
    """
    values = np.asarray(values)
    if x.flags.c_contiguous and _add_rows(x, index, values):
        return
    if values.size <= _SMALL or not x.flags.c_contiguous:
        shape = np.shape(x[index])
        if values.shape != shape:  # np.add.at reads out of bounds at some shapes that broadcast, and at some that do not
            values = np.array(np.broadcast_to(values, shape))
        np.add.at(x, index, values)
        return
    positions = _flat_positions(x.shape, index)
    values = np.broadcast_to(values, positions.shape).astype(x.dtype, copy=False)
    if not loops.add_along(x.reshape(-1), 0, positions, values):
        np.add.at(x.reshape(-1), positions.reshape(-1), values.reshape(-1))


def first_of(source, shape):
    """The leading part of a source that is longer than the indices along some axes; other sources broadcast to their shape."""
    source = np.asarray(source)
    return source if source.shape == shape or source.ndim == 0 else source[corner(source.shape, shape)]


def index_add(x, axis, indices, source):
    """A copy of `x` with index_add_ applied."""
    return index_add_(_copy(x, source), axis, indices, source)


def index_add_(x, axis, indices, source):
    """Add slice i of `source` to slice ``indices[i]`` of `x` along `axis`.

    Parameters
    ----------
    x : ndarray
        Changed and returned.
    axis : int
    indices : ndarray of int
    source : ndarray

    Returns
    -------
    ndarray
    """
    indices = integers(indices)
    if indices.ndim == 0 and np.ndim(source) == x.ndim:
        indices = indices.reshape(1)  # one index keeps the axis if the source has it
    add_at(x if x.ndim else x.reshape(1), axis_index(indices, axis, x.ndim), source)
    return x


def last_written(indices, axis, shape):
    """Whether an element that scatter writes with these indices remains, because no later one has the same position.

    Parameters
    ----------
    indices : ndarray of int
    axis : int
    shape : tuple of int
        Of the target array.

    Returns
    -------
    ndarray of bool
        Of the shape of `indices`.
    """
    indices = integers(indices)
    if is_number(shape, indices):
        return last_written(indices.reshape(-1), axis, shape or (1,)).reshape(indices.shape)
    found = loops.last_across(shape, axis, indices)
    if found is not None:
        return found
    turns = np.arange(indices.size).reshape(indices.shape)
    last = np.empty(shape, turns.dtype)
    index = open_index(indices, axis, last.ndim)
    last[index] = turns
    return last[index] == turns


def scatter(x, axis, indices, source):
    """A copy of `x` with scatter_ applied."""
    return scatter_(copy_of(x), axis, indices, source)


def scatter_(x, axis, indices, source):
    """Write ``source[..., i, ...]`` to ``x[..., indices[..., i, ...], ...]``; of equal indices the last one remains.

    Parameters
    ----------
    x : ndarray
        Changed and returned.
    axis, indices, source
        As in scatter_add_.

    Returns
    -------
    ndarray
    """
    indices = integers(indices)
    source = first_of(source, indices.shape)
    if is_number(x.shape, indices):
        scatter_(x.reshape(-1), axis, indices.reshape(-1), source)
        return x
    if np.may_share_memory(x, source):
        source = copy_of(source)
    if not loops.put_across(x, axis, indices, source):
        x[open_index(indices, axis, x.ndim)] = source
    return x


def scatter_add(x, axis, indices, source):
    """A copy of `x` with scatter_add_ applied."""
    return scatter_add_(_copy(x, source), axis, indices, source)


def scatter_add_(x, axis, indices, source):
    """Add ``source[..., i, ...]`` to ``x[..., indices[..., i, ...], ...]``.

    Parameters
    ----------
    x : ndarray
        Changed and returned.
    axis : int
    indices : ndarray of int
        The same number of axes as `x`, none of them longer except `axis`.
    source : ndarray
        Broadcasts to the shape of `indices`; of longer axes the leading part is used.

    Returns
    -------
    ndarray
    """
    indices = integers(indices)
    source = first_of(source, indices.shape)
    if is_number(x.shape, indices):
        scatter_add_(x.reshape(-1), axis, indices.reshape(-1), source)
    elif not loops.add_across(x, axis, indices, source):
        add_at(x, open_index(indices, axis, x.ndim), source)
    return x


def scatter_extreme(x, axis, indices, source, largest, include_self):
    """The largest, or smallest, of each element and the values scattered to it; NaN if one of them is.

    Parameters
    ----------
    x : ndarray
    axis : int
    indices : array_like of int
    source : ndarray
        Broadcasts to the shape of `indices`.
    largest : bool
    include_self : bool
        Whether elements with scattered values take part in the comparison.

    Returns
    -------
    ndarray
    """
    indices, y = integers(indices), _copy(x, source)
    if is_number(x.shape, indices):
        return scatter_extreme(y.reshape(-1), axis, indices.reshape(-1), source, largest, include_self).reshape(x.shape)
    index = open_index(indices, axis, x.ndim)
    if not include_self:
        limits = np.iinfo(y.dtype) if y.dtype.kind in "iu" else None
        low, high = (limits.min, limits.max) if limits else (False, True) if y.dtype == bool else (-np.inf, np.inf)
        y[index] = low if largest else high
    (np.maximum if largest else np.minimum).at(y, index, source)
    return y


def take_along_axis_backward(x, indices, shape, axis):
    """The adjoint of np.take_along_axis: zeros of the given shape with `x` added at the indices."""
    y, indices = zeros_of(shape, x), integers(indices)
    if axis is None or not y.ndim:
        add_at(y.reshape(-1), (indices.reshape(-1),), x)
    elif not loops.add_across(y, axis, indices, x):
        add_at(y, open_index(indices, axis, len(shape), shape), x)
    return y


def take_backward(x, indices, shape, axis):
    """The adjoint of np.take: zeros of the given shape with `x` added at the indices."""
    y = zeros_of(shape, x)
    flat = y.reshape(-1) if axis is None or not y.ndim else y  # NumPy indexes a number as one element along axis 0
    add_at(flat, axis_index(indices, axis or 0, flat.ndim), x)
    return y


def takes_part(indices, axis, shape, include_self):
    """Which elements take part in a reduction of scattered values: all, or only those without scattered values.

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
    y, indices = np.ones(shape, bool), integers(indices)
    if is_number(shape, indices):
        return takes_part(indices.reshape(-1), axis, shape or (1,), include_self).reshape(shape)
    y[open_index(indices, axis, len(shape))] = include_self
    return y


def _copy(x, source):
    """A copy of `x` in the dtype of its sum with `source`."""
    dtype = np.result_type(x, source)
    return copy_of(x) if dtype == x.dtype else np.array(x, dtype)


def _add_rows(x, index, values):
    """Add by rows if the index is integers along one axis, or along the leading axes together; whether that was done."""
    parts = [part for part in index if part is not Ellipsis]
    if len(parts) != len(index) and index[-1] is not Ellipsis:
        return False
    axis = 0
    while axis < len(parts) and isinstance(parts[axis], slice) and parts[axis] == slice(None):
        axis += 1
    parts = parts[axis:]
    if len(parts) == 1:
        return isinstance(parts[0], np.ndarray) and loops.add_along(x, axis, parts[0], values)
    if axis or not all(isinstance(part, (int, np.ndarray)) for part in parts) or len(parts) > x.ndim:
        return False
    try:
        parts = np.broadcast_arrays(*parts)
    except ValueError:
        return False
    places = loops.joined_places(parts, x.shape[: len(parts)])
    if places is None:
        return False
    return loops.add_along(x.reshape(math.prod(x.shape[: len(parts)]), *x.shape[len(parts) :]), 0, places, values)


def _flat_positions(shape, index):
    """The positions in C order of the elements of ``x[index]``; the cost depends on the result's size, not on that of x."""
    if Ellipsis not in [part if part is Ellipsis else None for part in index]:
        index += (Ellipsis,)
    step, positions = 1, 0
    for axis in reversed(range(len(shape))):
        place = np.arange(0, shape[axis] * step, step or 1) if step else np.zeros(shape[axis], np.intp)
        place = place.reshape((-1,) + (1,) * (len(shape) - 1 - axis))
        positions = positions + np.broadcast_to(place, shape)[index]
        step *= shape[axis]
    return positions

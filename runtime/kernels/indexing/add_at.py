"""Adding at an index where an element may stand twice, and then is added to twice.

Owns which way that goes: by rows, through flat positions, or by `np.add.at`, which takes every index and ten times as long.
"""

import math

import numpy as np

from . import rows_loops as rows

# Below this many elements np.add.at on the index itself beats computing flat positions.
_SMALL = 512


def add_at(x, index, values):
    """``np.add.at``, by rows or through flat positions where that is faster.

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
        if x.ndim == 1:  # np.add.at reads beyond values that an index of several axes would have it repeat
            values = np.array(np.broadcast_to(values, x[index].shape))
        np.add.at(x, index, values)
        return
    positions = _flat_positions(x.shape, index)
    values = np.broadcast_to(values, positions.shape).astype(x.dtype, copy=False)
    if not rows.add_along(x.reshape(-1), 0, positions, values):
        np.add.at(x.reshape(-1), positions.reshape(-1), values.reshape(-1))


def _add_rows(x, index, values):
    """Whether the index is integers along one axis, or along the first ones together, and the rows there have been added."""
    parts = [part for part in index if part is not Ellipsis]
    if len(parts) != len(index) and index[-1] is not Ellipsis:
        return False
    axis = 0
    while axis < len(parts) and isinstance(parts[axis], slice) and parts[axis] == slice(None):
        axis += 1
    parts = parts[axis:]
    if len(parts) == 1:
        return isinstance(parts[0], np.ndarray) and rows.add_along(x, axis, parts[0], values)
    if axis or not all(isinstance(part, (int, np.ndarray)) for part in parts) or len(parts) > x.ndim:
        return False
    try:
        parts = np.broadcast_arrays(*parts)
    except ValueError:
        return False
    places = rows.joined_places(parts, x.shape[: len(parts)])
    if places is None:
        return False
    return rows.add_along(x.reshape(math.prod(x.shape[: len(parts)]), *x.shape[len(parts) :]), 0, places, values)


def _flat_positions(shape, index):
    """Where in C order the elements of ``x[index]`` stand; costs as much as the result, however large x is."""
    if Ellipsis not in [part if part is Ellipsis else None for part in index]:
        index += (Ellipsis,)
    step, positions = 1, 0
    for axis in reversed(range(len(shape))):
        place = np.arange(0, shape[axis] * step, step or 1) if step else np.zeros(shape[axis], np.intp)
        place = place.reshape((-1,) + (1,) * (len(shape) - 1 - axis))
        positions = positions + np.broadcast_to(place, shape)[index]
        step *= shape[axis]
    return positions

"""Split, pad and broadcast arrays, with the adjoints that NumPy's joining functions lack."""

import math
import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from .copying import copy_into

__all__ = [
    "broadcast_arrays", "broadcast_arrays_backward", "cycle", "join", "join_backward", "meshgrid", "meshgrid_backward", "pad",
    "pad_backward", "repeat_backward", "roll", "split", "split_copies", "tile",
]  # fmt: skip

_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def broadcast_arrays(arrays):
    """Copies of all arrays, broadcast to their common shape."""
    dtype = np.result_type(*arrays)
    return [np.array(array, dtype) for array in np.broadcast_arrays(*arrays)]


def broadcast_arrays_backward(arrays, shapes):
    """The adjoint of broadcast_arrays: each array summed to its shape."""
    dtype = np.result_type(*arrays)
    return [_summed(array, shape).astype(dtype) for array, shape in zip(arrays, shapes)]


def cycle(length, shape):
    """The numbers below `length`, repeated to the size of an array of the given shape."""
    return np.arange(math.prod(shape)) % max(length, 1)


def join(arrays, shapes, axis):
    """Arrays concatenated along `axis`, each reshaped to the given shape first."""
    return np.concatenate([np.reshape(array, shape) for array, shape in zip(arrays, shapes)], axis)


def join_backward(x, parts, shapes, axis):
    """The adjoint of join: views of the parts of `x`, of `shapes` when joined, each with its shape in `parts` before."""
    ends = np.cumsum([shape[axis] for shape in shapes])[:-1]
    return [piece.reshape(part) for piece, part in zip(np.split(x, ends, axis), parts)]


def meshgrid(arrays, indexing):
    """Coordinates of the points of a grid, one array for each axis; arrays of several axes are read in C order."""
    dtype = np.result_type(*arrays)
    return [np.array(grid, dtype) for grid in np.meshgrid(*arrays, indexing=indexing, copy=False)]


def meshgrid_backward(arrays, shapes, indexing):
    """The adjoint of meshgrid: each array, of the given shape of coordinates, summed over all axes but its own."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', got {indexing!r}")
    own = [1, 0, *range(2, len(arrays))] if indexing == "xy" and len(arrays) > 1 else range(len(arrays))
    rest = [tuple(axis for axis in range(len(arrays)) if axis != kept) for kept in own]
    dtype = np.result_type(*arrays)
    return [np.sum(array, axes, dtype).reshape(shape) for array, axes, shape in zip(arrays, rest, shapes)]


def pad(x, pad_width, mode, constant_values):
    """``np.pad`` for the modes that are linear in `x`."""
    if mode not in _MODES:
        raise ValueError(f"mode is one of {', '.join(_MODES)}, linear_ramp, maximum, mean, median, minimum, not {mode!r}")
    widths = _widths(pad_width, x.ndim)
    if mode != "constant" or not np.isscalar(constant_values) or min(map(min, widths), default=0) < 0:
        return np.pad(x, widths, mode, **({"constant_values": constant_values} if mode == "constant" else {}))
    shape = [before + n + after for (before, after), n in zip(widths, x.shape)]
    y = np.full(shape, constant_values, x.dtype) if constant_values else np.zeros(shape, x.dtype)
    copy_into(y[tuple([slice(before, before + n) for (before, _), n in zip(widths, x.shape)])], x)
    return y


def pad_backward(x, shape, pad_width, mode):
    """The adjoint of pad: each element of `x` added to the element of the given shape that it was copied from."""
    widths = _widths(pad_width, len(shape))
    if mode == "constant":
        return x[tuple(slice(before, before + n) for (before, _), n in zip(widths, shape))].copy()
    size = math.prod(shape)
    sources = np.pad(np.arange(size).reshape(shape), widths, mode)
    y = np.zeros(size, x.dtype)
    np.add.at(y, sources.reshape(-1), x.reshape(-1))
    return y.reshape(shape)


def repeat_backward(x, shape, repeats, axis):
    """The adjoint of np.repeat: the sum of each run of repeated slices, in the shape before repeating."""
    before = (math.prod(shape),) if axis is None or not shape else shape
    axis = 0 if axis is None or not shape else normalize_axis_index(axis, len(shape))
    length, repeats = before[axis], np.asarray(repeats)
    if repeats.size == 1:
        runs = x.reshape(before[:axis] + (length, int(repeats.flat[0])) + before[axis + 1 :])
        return runs.sum(axis + 1).reshape(shape)
    y = np.zeros((length,) + x.shape[:axis] + x.shape[axis + 1 :], x.dtype)
    # An empty run must contribute 0; reduceat would return the first slice of the next run.
    full = repeats > 0
    starts = (np.cumsum(repeats) - repeats)[full]
    if starts.size:
        y[full] = np.add.reduceat(np.moveaxis(x, axis, 0), starts, 0)
    return np.moveaxis(y, 0, axis).reshape(shape)


def split(x, sections, axis):
    """``np.split`` by slices, eight times as fast for few parts, which are views."""
    length = x.shape[axis]
    if type(sections) is int or np.ndim(sections) == 0:
        count = operator.index(sections)
        if count < 1:
            raise ValueError("number sections must be larger than 0.")
        width, rest = divmod(length, count)
        if rest:
            raise ValueError("array split does not result in an equal division; array_split has unequal parts, split_with_sizes "
                             "takes their lengths")
        ends = [width * n for n in range(count + 1)]
    else:
        ends = [0, *map(operator.index, sections), length]
    before = (slice(None),) * (axis % x.ndim)
    return [x[(*before, slice(start, end))] for start, end in zip(ends, ends[1:])]


def split_copies(x, sections, axis):
    """``np.split`` with a copy of each part."""
    return [part.copy() for part in split(x, sections, axis)]


def tile(x, reps):
    """``np.tile``, for a tuple of counts."""
    reps, shape = (1,) * (x.ndim - len(reps)) + reps, (1,) * (len(reps) - x.ndim) + x.shape
    y = np.empty([count * length for count, length in zip(reps, shape)], x.dtype)
    copies = y.reshape([n for pair in zip(reps, shape) for n in pair])  # a view
    copy_into(copies, x.reshape([n for length in shape for n in (1, length)]))
    return y


def _widths(pad_width, ndim):
    """A pair (before, after) for each axis."""
    if type(pad_width) is int:
        return [[pad_width, pad_width]] * ndim
    return np.broadcast_to(np.asarray(pad_width, dtype=np.intp), (ndim, 2)).tolist()


def _summed(x, shape):
    lead = np.ndim(x) - len(shape)
    repeated = tuple(lead + axis for axis, n in enumerate(shape) if n == 1)
    return np.sum(x, (*range(lead), *repeated)).reshape(shape)


def roll(x, shift, axis):
    """Elements rotated along axes, as ``np.roll``."""
    shifts, axes = (value if isinstance(value, tuple) or value is None else (value,) for value in (shift, axis))
    if axes is None or len(shifts) != 1 or len(axes) != 1 or not -x.ndim <= axes[0] < x.ndim:
        return np.roll(x, shift, axis)
    lead, length = (slice(None),) * (axes[0] % x.ndim), x.shape[axes[0]]
    moved = shifts[0] % length if length else 0
    y = np.empty_like(x)
    copy_into(y[(*lead, slice(moved, None))], x[(*lead, slice(length - moved))])
    copy_into(y[(*lead, slice(moved))], x[(*lead, slice(length - moved, None))])
    return y

"""Indices of slices, diagonals, padding, insertion and strided views, and shapes of indexed arrays."""

import itertools
import math

from .shapes import _integers, _length, axes_tuple


def cartesian_shape(shapes):
    """The shape with a row for each combination of elements of the vectors; a single vector stays a vector."""
    if any(len(shape) != 1 for shape in shapes):
        raise ValueError(f"choices are made from vectors, not from arrays of shapes {shapes}")
    return (-1,) if len(shapes) == 1 else (-1, len(shapes))


def checked_scatter(reduce):
    """`reduce`, checked to be a reduction of scatter."""
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise ValueError(f"reduce must be 'sum', 'prod', 'mean', 'amax' or 'amin', got {reduce!r}")
    return reduce


def combination_places(shape, r, with_replacement):
    """The indices of each combination of `r` elements of a vector, in lexicographic order."""
    if len(shape) != 1:
        raise ValueError(f"combinations: x must be a vector, got shape {tuple(shape)}")
    if r < 0:
        raise ValueError(f"combinations: r must not be negative, got {r}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return tuple(choose(range(shape[0]), r))


def corner(shape, within):
    """The index of the first block of an array, with the lengths of `within` along each of its last axes."""
    return (Ellipsis, *(slice(m if n > m else None) for n, m in _last_lengths(shape, within)))


def cut_ends(pad, ndim):
    """The index that removes the elements at negative lengths of `pad`, which begins with the last axis."""
    return tuple(slice(-min(before, 0), min(behind, 0) or None) for before, behind in _ends(pad, ndim))


def diagonal_places(shape, offset, axis1, axis2):
    """The row and column indices of a diagonal."""
    axes = axes_tuple((axis1, axis2), len(shape))
    if axes[0] == axes[1]:
        raise ValueError(f"axis1 and axis2 are both axis {axes[0]}")
    rows, columns = shape[axes[0]], shape[axes[1]]
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    first, second = max(-offset, 0), max(offset, 0)
    return list(range(first, first + count)), list(range(second, second + count))


def each_axis(values, ndim):
    """One number for each axis after the first two; a single number is used for all."""
    return tuple(values) * (ndim - 2) if len(values) == 1 else tuple(values)


def ends_beyond(shape, within):
    """The padding before and behind each axis of `within` that makes it as long as `shape`."""
    ends = [(0, max(n - m, 0)) for n, m in _last_lengths(shape, within)]
    return ((0, 0),) * (len(within) - len(ends)) + tuple(ends)


def insert_count(index, length, shape, ndim, axis):
    """The number of slices that values of the given shape insert at `index` along an axis of an array of `ndim` axes."""
    if isinstance(index, slice):
        places = len(range(*index.indices(length)))
    elif getattr(index, "dtype", None) == "bool" or isinstance(index, list) and index and all(type(i) is bool for i in index):
        places = int(sum(index))
    else:
        places = 1 if is_single(index) else len(index)
    lifted = lifted_shape(shape, ndim)
    return places if places != 1 else lifted[0 if is_single(index) else axis]


def inserted_shape(shape, axis, count):
    """The shape with another length along one axis."""
    _length(shape, axis)
    return (*shape[: axis % len(shape)], count, *shape[axis % len(shape) + 1 :])


def is_longer(shape, within):
    """Whether a source is longer, along some axis, than indices of shape `within`."""
    return any(n > m for n, m in _last_lengths(shape, within))


def is_single(index):
    """Whether an index is one integer."""
    return not isinstance(index, slice) and not hasattr(index, "__len__") or getattr(index, "ndim", None) == 0


def lifted_shape(shape, ndim):
    """The shape with axes of length 1 in front, up to `ndim` axes."""
    return (1,) * (ndim - len(shape)) + tuple(shape)


def padded_ends(pad, ndim):
    """The padding before and behind each axis, from lengths that begin with the last axis; negative lengths become 0."""
    return tuple((max(before, 0), max(behind, 0)) for before, behind in _ends(pad, ndim))


def rolled_place(axis, start, ndim):
    """The position of an axis after it is moved before axis `start`."""
    _length((1,) * ndim, axis)
    if not -ndim <= start <= ndim:
        raise ValueError(f"rollaxis: start {start} is not among {ndim} axes")
    start += ndim if start < 0 else 0
    return start - 1 if axis % ndim < start else start


def stepped(start, end, step):
    """The slice start:end:step, checked to have a positive step."""
    if step < 1:
        raise ValueError(f"step must be positive, got {step}")
    return slice(start, end, step)


def strided_places(shape, strides, offset):
    """The positions in memory of the elements of a view with these strides."""
    if len(shape) != len(strides):
        raise ValueError(f"as_strided_scatter: {len(shape)} lengths and {len(strides)} strides")
    if not shape:
        return offset or 0
    return tuple(strided_places(shape[1:], strides[1:], (offset or 0) + i * strides[0]) for i in range(shape[0]))


def unflat_shape(shape, axis, sizes):
    """The shape with one axis split into several; one length may be -1 and is inferred."""
    sizes, length = _integers(sizes), _length(shape, axis)
    known = math.prod(n for n in sizes if n != -1)
    if sizes.count(-1) == 1 and known > 0 and length % known == 0:
        sizes[sizes.index(-1)] = length // known
    if not sizes or min(sizes) < 0 or math.prod(sizes) != length:
        raise ValueError(f"axis {axis} of length {length} does not come apart into {tuple(sizes)}")
    return (*shape[: axis % len(shape)], *sizes, *shape[axis % len(shape) + 1 :])


def _ends(pad, ndim):
    if len(pad) % 2 or len(pad) > 2 * ndim:
        raise ValueError(f"constant_pad_nd: pad has two lengths for each of at most {ndim} axes, got {len(pad)} lengths")
    ends = list(zip(pad[::2], pad[1::2]))
    return [(0, 0)] * (ndim - len(ends)) + ends[::-1]


def _last_lengths(shape, within):
    """Pairs of the lengths of a source and of its indices, by axis."""
    lengths = list(zip(shape, within[max(len(within) - len(shape), 0) :]))
    if len(shape) > len(within) or any(n < m and n != 1 for n, m in lengths):
        raise ValueError(f"a source of shape {tuple(shape)} does not go with indices of shape {tuple(within)}: it must not "
                         "have more axes, and its axes must be at least as long as theirs, or 1 long")  # fmt: skip
    return lengths

"""The places in an array that slices, diagonals and insertions mean, and the values with which reductions at places begin."""

import math

from .shapes import _integers, _length, axes_tuple


def cartesian_shape(shapes):
    """A row for each choice of an element from vectors; one vector alone stays one."""
    if any(len(shape) != 1 for shape in shapes):
        raise ValueError(f"choices are made from vectors, not from arrays of shapes {shapes}")
    return (-1,) if len(shapes) == 1 else (-1, len(shapes))


def checked_scatter(reduce):
    """`reduce`, if a reduction at places knows it."""
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise ValueError(f"reduce must be 'sum', 'prod', 'mean', 'amax' or 'amin', got {reduce!r}")
    return reduce


def diagonal_places(shape, offset, axis1, axis2):
    """The rows and columns of a diagonal."""
    axes = axes_tuple((axis1, axis2), len(shape))
    if axes[0] == axes[1]:
        raise ValueError(f"axis1 and axis2 are both axis {axes[0]}")
    rows, columns = shape[axes[0]], shape[axes[1]]
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    first, second = max(-offset, 0), max(offset, 0)
    return list(range(first, first + count)), list(range(second, second + count))


def insert_count(index, length, shape, ndim, axis):
    """How many slices values of the given shape are, inserted at `index` along an axis of an array of `ndim` axes."""
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


def is_single(index):
    """Whether an index is one integer."""
    return not isinstance(index, slice) and not hasattr(index, "__len__") or getattr(index, "ndim", None) == 0


def lifted_shape(shape, ndim):
    """The shape with axes of length 1 in front, up to `ndim`."""
    return (1,) * (ndim - len(shape)) + tuple(shape)


def stepped(start, end, step):
    """The slice start:end:step."""
    if step < 1:
        raise ValueError(f"step must be positive, got {step}")
    return slice(start, end, step)


def unflat_shape(shape, axis, sizes):
    """The shape with one axis in the place of which several stand, one of them perhaps as long as it has to be."""
    sizes, length = _integers(sizes), _length(shape, axis)
    known = math.prod(n for n in sizes if n != -1)
    if sizes.count(-1) == 1 and known > 0 and length % known == 0:
        sizes[sizes.index(-1)] = length // known
    if not sizes or min(sizes) < 0 or math.prod(sizes) != length:
        raise ValueError(f"axis {axis} of length {length} does not come apart into {tuple(sizes)}")
    return (*shape[: axis % len(shape)], *sizes, *shape[axis % len(shape) + 1 :])

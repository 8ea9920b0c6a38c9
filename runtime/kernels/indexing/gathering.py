"""Take elements at indices along one axis, with a separate index for each element."""

import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from . import gathering_loops as loops

__all__ = ["gather", "take_along_axis"]


def gather(x, axis, indices):
    """Elements of `x` at `indices` along `axis`, at the element's own position along all other axes.

    Parameters
    ----------
    x : ndarray
    axis : int
    indices : ndarray of int
        The same number of axes as `x`, none of them longer except `axis`.

    Returns
    -------
    ndarray
        Of the shape of `indices`.
    """
    indices = integers(indices)
    if is_number(x.shape, indices):
        return gather(x.reshape(-1), axis, indices.reshape(-1)).reshape(indices.shape)
    y = loops.take_across(x, axis, indices)
    return x[open_index(indices, axis, x.ndim)] if y is None else y


def take_along_axis(x, indices, axis):
    """``np.take_along_axis``, also for lists."""
    indices = integers(indices)
    if not indices.ndim and not np.ndim(x) and axis is not None:
        return take_along_axis(np.reshape(x, 1), indices.reshape(1), axis).reshape(())
    y = None if axis is None else loops.take_across(x, axis, indices)
    return np.take_along_axis(x, indices.reshape(-1) if axis is None else indices, axis) if y is None else y


def axis_index(indices, axis, ndim):
    """The index that applies `indices` to one axis."""
    axes = max(ndim, 1)
    if not -axes <= axis < axes:
        raise IndexError(f"axis {axis} is out of range for an array of dimension {ndim}")
    return (slice(None),) * operator.index(axis % axes) + (integers(indices),)


def integers(indices):
    """An array of integers; an empty array of any dtype counts as one."""
    indices = np.asarray(indices)
    if indices.dtype.kind not in "iub" and indices.size:
        raise IndexError(f"indices must be integers, got {indices.dtype}")
    return indices.astype(np.intp) if indices.size == 0 else indices


def is_number(shape, indices):
    """Whether the array, or its index, has no axes and counts as if it had one."""
    return len(shape) + indices.ndim < 2


def open_index(indices, axis, ndim, shape=None):
    """The index that applies `indices` to `axis` and position i to all other axes: of `shape`, or as long as `indices`."""
    if indices.ndim != ndim:
        raise ValueError(f"indices have {indices.ndim} axes, the array has {ndim}")
    shape = indices.shape if shape is None else shape
    places = [np.arange(n).reshape((-1,) + (1,) * (ndim - 1 - i)) for i, n in enumerate(shape)]
    places[normalize_axis_index(axis, ndim)] = indices
    return tuple(places)

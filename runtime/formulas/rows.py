"""Axes, shapes and indices of a batch's rows: the static arguments of an operator whose array has an extra leading axis."""

import numpy as np


def axes_of_rows(axis, ndim):
    """Axes of rows of `ndim` axes, counted from the end; None means all axes.  A number has no axes."""
    if axis is None or not ndim:
        return tuple(range(-ndim, 0))
    if isinstance(axis, int):
        return axis if axis < 0 else axis - ndim
    return tuple(a if a < 0 else a - ndim for a in axis)


def index_of_rows(index, rows):
    """The index that applies `index` to each of `rows` rows."""
    index = index if isinstance(index, tuple) else (index,)
    kinds = [not (item is None or item is Ellipsis or isinstance(item, (int, slice))) for item in index]
    if not any(kinds):
        return (slice(None), *index)
    places = [i for i, item in enumerate(index) if kinds[i] or isinstance(item, int)]
    if places[-1] - places[0] == len(places) - 1:
        return (slice(None), *index)
    # Advanced indices that are not adjacent put their axes first: index the rows with an array, so that their axis joins these.
    arrays = [item for item, kind in zip(index, kinds) if kind]
    ndim = max(1 if getattr(a, "dtype", None) == np.dtype(bool) else np.ndim(a) for a in arrays)
    return (np.arange(rows).reshape((rows,) + (1,) * ndim), *index)


def new_axes_of_rows(axis, ndim):
    """The positions of new axes in rows of `ndim` axes, counted from the end."""
    return axes_of_rows(axis, ndim + (1 if isinstance(axis, int) else len(axis)))


def order_of_rows(axes, ndim):
    """A permutation of the axes of rows of `ndim` axes, with the axis of the rows kept first."""
    axes = reversed(range(ndim)) if axes is None else axes
    return (0, *(a % ndim + 1 for a in axes))


def shape_of_rows(shape, row_shape, ndim=0):
    """The batch's shape if its rows have the shape `row_shape`, with axes of length 1 in front up to `ndim`."""
    return (shape[0], *(1,) * (ndim - len(row_shape)), *row_shape)


def square_of_rows(shape):
    """The shape of square matrices whose rows are the vectors of a batch."""
    return (*shape, shape[-1])


def single_axes_of_rows(axis, shape):
    """The axes of length 1 that are removed from the rows of a batch of the given shape."""
    if axis is None:
        return tuple(i for i, n in enumerate(shape) if i and n == 1)
    return axes_of_rows(axis, len(shape) - 1)

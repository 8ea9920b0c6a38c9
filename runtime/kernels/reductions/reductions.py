"""Sums and extremes along axes, and the broadcast of reduced arrays back, by NumPy.

If the reduced axis is the last one and short, whole slices are combined: NumPy's own reduction calls its inner loop for every
row, which takes many times as long.
"""

import numpy as np

_SHORT = {"f": 8, "d": 8, "F": 4, "D": 4}  # shorter axes are combined slice by slice
_WORTH = 512  # elements; smaller arrays are left to NumPy


def max_along(x, axis, keepdims):
    """Largest element along `axis`, NaN if any element is NaN."""
    return _reduced(np.maximum, x, axis, keepdims)


def min_along(x, axis, keepdims):
    """Smallest element along `axis`, NaN if any element is NaN."""
    return _reduced(np.minimum, x, axis, keepdims)


def sum_along(x, axis, keepdims):
    """Sum along `axis`."""
    return _reduced(np.add, x, axis, keepdims)


def nansum(x, axis, keepdims):
    """Sum along `axis` of the elements that are not NaN."""
    return sum_along(np.where(np.equal(x, x), x, 0), axis, keepdims)


def unreduce(x, shape, axis, keepdims):
    """Broadcast a reduced array back, read-only, to its shape before; it still has the reduced axes if `keepdims`."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if axis is not None and not keepdims:
        axes = {i % max(len(shape), 1) for i in ((axis,) if isinstance(axis, int) else axis)}
        x = np.reshape(x, [1 if i in axes else n for i, n in enumerate(shape)])
    return np.broadcast_to(x, shape)


def _reduced(ufunc, x, axis, keepdims):
    """``ufunc.reduce``; for a short last axis slices are combined, because NumPy would call its loop for each row.

    Below _SHORT elements NumPy adds one after the other as well, so sums are bitwise equal.
    """
    if type(x) is np.ndarray and x.ndim > 1 and 2 <= x.shape[-1] < _SHORT.get(x.dtype.char, 0) and x.size >= _WORTH:
        axes = axis if type(axis) is tuple else (axis,)
        if -1 in axes or x.ndim - 1 in axes:
            y = ufunc(x[..., 0], x[..., 1])
            for i in range(2, x.shape[-1]):
                ufunc(y, x[..., i], out=y)
            rest = tuple(i for i in axes if i not in (-1, x.ndim - 1))
            if keepdims:
                y = y[..., None]
            else:
                rest = tuple(i + 1 if i < 0 else i for i in rest)
            if len(rest) + 1 == len(axes):
                return _reduced(ufunc, y, rest, keepdims) if rest else y
    return ufunc.reduce(x, axis=axis, keepdims=keepdims)

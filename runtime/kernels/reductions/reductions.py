"""Sums and extremes along axes, and broadcasting back, by NumPy.

If the last axis is short and reduced, its slices are joined: NumPy's own reduction calls its inner loop for every row, which
takes many times as long.
"""

import numpy as np

_SHORT = {"f": 8, "d": 8, "F": 4, "D": 4}  # length of an axis from which NumPy's own reductions are better, and add otherwise
_WORTH = 512  # elements below which they cost less than a few calls


def max_along(x, axis, keepdims):
    """Largest element along `axis`, NaN if there is one.

    Parameters
    ----------
    x : ndarray
    axis : int, tuple of int or None
    keepdims : bool

    Returns
    -------
    ndarray
    """
    return _reduced(np.maximum, x, axis, keepdims)


def min_along(x, axis, keepdims):
    """Smallest element along `axis`, NaN if there is one.

    Parameters
    ----------
    x : ndarray
    axis : int, tuple of int or None
    keepdims : bool

    Returns
    -------
    ndarray
    """
    return _reduced(np.minimum, x, axis, keepdims)


def sum_along(x, axis, keepdims):
    """Sum along `axis`.

    Parameters
    ----------
    x : ndarray
    axis : int, tuple of int or None
    keepdims : bool

    Returns
    -------
    ndarray
    """
    return _reduced(np.add, x, axis, keepdims)


def unreduce(x, shape, axis, keepdims):
    """Broadcast a reduced array back along the axes that were reduced.

    Parameters
    ----------
    x : ndarray
    shape : tuple of int
        The shape before the reduction.
    axis : int, tuple of int or None
    keepdims : bool
        Whether `x` still has the reduced axes.

    Returns
    -------
    ndarray
        A read-only view of `x`.
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if axis is not None and not keepdims:
        axes = {i % max(len(shape), 1) for i in ((axis,) if isinstance(axis, int) else axis)}
        x = np.reshape(x, [1 if i in axes else n for i, n in enumerate(shape)])
    return np.broadcast_to(x, shape)


def _reduced(ufunc, x, axis, keepdims):
    """``ufunc.reduce``, which along a last axis of a few elements calls its loop for each row: there slices are joined.

    With fewer elements than _SHORT NumPy adds one after the other as well, so sums are the same to the bit.
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

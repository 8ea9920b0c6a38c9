"""Orders along an axis."""

import numpy as np

from .selection import select_along_rows

_FEW = 32  # elements up to which keeping the best in order costs less than a sort


def argsort(x, axis, descending, stable):
    """The order that sorts `x` along `axis`.

    Parameters
    ----------
    x : ndarray
    axis : int
    descending : bool
    stable : bool
        Whether equal elements keep their order, in both directions.

    Returns
    -------
    ndarray of int
    """
    if not descending:
        return np.argsort(x, axis, stable=stable)
    backwards = np.argsort(np.flip(x, axis), axis, stable=stable)
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def topk(x, k, axis, largest):
    """The `k` largest or smallest elements along `axis`, in order, and where they stood.

    Parameters
    ----------
    x : ndarray
    k : int
    axis : int
    largest : bool

    Returns
    -------
    values : ndarray
    indices : ndarray of int
    """
    length = x.shape[axis]
    if not 0 <= k <= length:
        raise ValueError(f"k is {k}, the axis has {length} elements")
    if 0 < k <= _FEW and 0 < k < length:
        found = select_along_rows(np.moveaxis(x, axis, -1), k, largest)
        if found is not None:
            return tuple(np.moveaxis(part, -1, axis) for part in found)
    first = (slice(None),) * (axis % x.ndim) + (slice(k),)
    indices = argsort(x, axis, largest, True)[first]
    return np.take_along_axis(x, indices, axis), indices

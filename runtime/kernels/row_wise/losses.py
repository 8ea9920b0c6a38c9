"""Losses: elementwise ones, and elements selected by each row's class."""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

__all__ = ["binary_cross_entropy", "one_hot", "pick", "unpick"]


def binary_cross_entropy(x, target):
    """``-(target * log(x) + (1 - target) * log(1 - x))``, with logarithms clamped to at least -100."""
    x = np.asarray(x, np.result_type(np.result_type(x, target), np.float16))
    with np.errstate(divide="ignore"):
        high, low = np.maximum(np.log(x), -100), np.maximum(np.log1p(-x), -100)
    return -(target * high + (1 - target) * low)


def one_hot(indices, num_classes, dtype):
    """A new last axis with 1 at each index, which is in [0, num_classes); int64 if `dtype` is None."""
    indices = np.asarray(indices)
    if indices.size and not 0 <= indices.min() <= indices.max() < num_classes:
        raise IndexError(f"one_hot: indices must be in [0, {num_classes}), got {indices.min()} to {indices.max()}")
    return (indices[..., None] == np.arange(num_classes)).astype(np.int64 if dtype is None else dtype)


def pick(x, indices, axis):
    """One element along `axis` for each position along the other axes, as a new array."""
    return np.array(x[_places(indices, x.shape, axis)])


def unpick(x, indices, shape, axis):
    """The adjoint of pick: zeros of the given shape with the elements of `x` at their indices."""
    y = np.zeros(shape, np.asarray(x).dtype)
    y[_places(indices, y.shape, axis)] = x
    return y


def _places(indices, shape, axis):
    """The index with `indices` at `axis` and positions along the other axes."""
    indices, axis = np.asarray(indices), normalize_axis_index(axis, len(shape))
    others = shape[:axis] + shape[axis + 1 :]
    if indices.shape != others:
        raise ValueError(f"pick: indices of shape {others} are due for axis {axis} of {shape}, got {indices.shape}")
    if indices.dtype.kind not in "iu":
        raise TypeError(f"pick: indices must be integers, got {indices.dtype}")
    return (*np.indices(others, sparse=True)[:axis], indices, *np.indices(others, sparse=True)[axis:])

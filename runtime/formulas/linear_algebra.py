"""Shapes of products and norms of matrices, and of matrices that stand for tensors."""

import math

from .shapes import _length


def corner(shape):
    """The index of the upper right quarter of a matrix."""
    half = _length(shape, -1) // 2
    return (Ellipsis, slice(0, half), slice(half, None))


def kron_shape(shape, other_ndim, behind):
    """The shape in which each axis has one of length 1 before it (`behind` 1) or after it, for that of the other factor."""
    shape = (1,) * (other_ndim - len(shape)) + tuple(shape)
    return tuple(n for length in shape for n in ((1, length) if behind else (length, 1)))


def matrix_norm_shape(shape, keepdims):
    """The shape of the norms of matrices."""
    if len(shape) < 2:
        raise ValueError(f"a matrix norm needs two axes, the shape is {tuple(shape)}")
    return (*shape[:-2], 1, 1) if keepdims else tuple(shape[:-2])


def norm_axis(ord):
    """Along which axis the moduli are summed for an operator norm."""
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError(f"ord must be None, 1, -1, 2, -2, inf or -inf, got {ord}")
    return -2 if abs(ord) == 1 else -1


def product_shape(a_shape, b_shape):
    """Axis by axis, lengths multiplied; missing ones in front count as 1."""
    ndim = max(len(a_shape), len(b_shape))
    a, b = (1,) * (ndim - len(a_shape)) + tuple(a_shape), (1,) * (ndim - len(b_shape)) + tuple(b_shape)
    return tuple(m * n for m, n in zip(a, b))


def rest_shape(shape, ndim):
    """The axes behind the first few."""
    return tuple(shape[ndim:])


def square_shape(shape, ind):
    """The matrix whose rows are the first `ind` axes of a tensor."""
    if ind < 1:
        raise ValueError(f"ind must be positive, got {ind}")
    return (math.prod(shape[:ind]), -1)


def turned_shape(shape, ind):
    """The axes behind the first `ind`, then these."""
    return (*shape[ind:], *shape[:ind])

"""Shapes of products and norms of matrices, and of matrices that represent tensors."""

import math

from .shapes import axes_tuple, broadcast_shape


def blocks_shape(shape):
    """The shape of square blocks stacked below each other, from that of matrices followed by their coefficients."""
    return (*shape[:-3], shape[-1], *shape[-3:-1])


def chain_split(shapes):
    """The number of leading matrices after which to split a product."""
    if len(shapes) < 2 or any(len(shape) != 2 for shape in shapes[1:-1]) or any(not 0 < len(shape) < 3 for shape in shapes):
        raise ValueError(f"arrays must be two or more matrices; only the first and the last may be vectors; got {shapes}")
    sizes = [1, *shapes[0]] if len(shapes[0]) == 1 else list(shapes[0])
    sizes += [shape[1] if len(shape) == 2 else 1 for shape in shapes[1:]]
    count, cost = len(shapes), {}
    for width in range(count):
        for first in range(count - width):
            last = first + width
            options = [
                (cost[first, k][0] + cost[k + 1, last][0] + sizes[first] * sizes[k + 1] * sizes[last + 1], k + 1 - first)
                for k in range(first, last)
            ]
            cost[first, last] = min(options, default=(0, 1))
    return cost[0, count - 1][1]


def det_points(shape):
    """The number of points on a circle that separate coefficient m of a determinant, of degree n * m, from all others."""
    return max(shape[-2] - 1, 1) * (shape[-1] - 1) + 1


def kron_shape(shape, other_ndim, behind):
    """The shape with an axis of length 1 before (`behind` 1) or after each axis, for the other factor's axis."""
    shape = (1,) * (other_ndim - len(shape)) + tuple(shape)
    return tuple(n for length in shape for n in ((1, length) if behind else (length, 1)))


def matrix_norm_shape(shape, keepdims):
    """The shape of the norms of matrices."""
    if len(shape) < 2:
        raise ValueError(f"a matrix norm needs two axes, the shape is {tuple(shape)}")
    return (*shape[:-2], 1, 1) if keepdims else tuple(shape[:-2])


def norm_axes(ndim, ord, axis):
    """The axis of vectors, or the two axes of matrices, for a norm; counted from the front."""
    axes = axes_tuple(axis, ndim)
    if ord is None and axis is None or len(axes) == 2 and axes[0] != axes[1] or len(axes) == 1 and not isinstance(ord, str):
        return axes
    if isinstance(ord, str) and len(axes) == 1:
        raise ValueError(f"ord {ord!r} is a norm of matrices, and axis {axis} makes vectors")
    raise ValueError(f"axis must be one axis or two different ones, or None for an array of as many, got {axis} for {ndim} axes")


def norm_axis(ord):
    """The axis of the sum of moduli in an operator norm."""
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError(f"ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord}")
    return -2 if abs(ord) == 1 else -1


def norm_word(ord):
    """The norm's name, '' for a number."""
    if isinstance(ord, str) and ord not in ("fro", "nuc"):
        raise ValueError(f"ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}")
    return "fro" if ord is None else ord if isinstance(ord, str) else ""


def product_shape(a_shape, b_shape):
    """The product of two shapes axis by axis; missing axes in front count as 1."""
    ndim = max(len(a_shape), len(b_shape))
    a, b = (1,) * (ndim - len(a_shape)) + tuple(a_shape), (1,) * (ndim - len(b_shape)) + tuple(b_shape)
    return tuple(m * n for m, n in zip(a, b))


def row_shapes(a_shape, b_shape):
    """The shapes of two stacks of rows with the same leading axes."""
    if a_shape[-1] != b_shape[-1]:
        raise ValueError(f"cdist: the rows of a have {a_shape[-1]} components and the rows of b {b_shape[-1]}")
    lead = broadcast_shape(a_shape[:-2], b_shape[:-2])
    return (*lead, *a_shape[-2:]), (*lead, *b_shape[-2:])


def square_shape(shape, ind):
    """The shape of the matrix whose rows are the first `ind` axes of a tensor."""
    if ind < 1:
        raise ValueError(f"ind must be positive, got {ind}")
    return (math.prod(shape[:ind]), -1)


def toeplitz_shape(shape):
    """The shape of square matrices of square blocks, from that of matrices followed by their coefficients."""
    size = shape[-1] * shape[-2]
    return (*shape[:-3], size, size)

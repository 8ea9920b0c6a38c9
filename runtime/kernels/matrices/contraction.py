"""Einstein summation over one and two operands, affine maps, and diagonals."""

import functools
import math

import numpy as np

from .matmul import matmul


def block_diag(arrays):
    """Matrices along the diagonal of one.

    Parameters
    ----------
    arrays : list of ndarray
        Of two axes at most.

    Returns
    -------
    ndarray
    """
    blocks = [np.atleast_2d(a) for a in arrays]
    y = np.zeros([sum(b.shape[axis] for b in blocks) for axis in (0, 1)], np.result_type(*blocks))
    for block, (place, _) in zip(blocks, _blocks([a.shape for a in arrays])):
        y[place] = block
    return y


def block_diag_backward(x, shapes):
    """The blocks that block_diag has put into a matrix, under their shapes.

    Parameters
    ----------
    x : ndarray
    shapes : sequence of tuple of int

    Returns
    -------
    list of ndarray
    """
    return [x[place].reshape(shape).copy() for place, shape in _blocks(shapes)]


def _blocks(shapes):
    """Where in the matrix each array stands, and its shape."""
    row = column = 0
    for shape in shapes:
        if len(shape) > 2:
            raise ValueError(f"block_diag takes matrices, vectors and numbers, not an array of shape {tuple(shape)}")
        rows, columns = (1,) * (2 - len(shape)) + tuple(shape)
        yield (slice(row, row + rows), slice(column, column + columns)), tuple(shape)
        row, column = row + rows, column + columns


def diag_embed(x, offset, axis1, axis2):
    """Square matrices along two new axes with the last axis of `x` on a diagonal.

    Parameters
    ----------
    x : ndarray
    offset : int
    axis1, axis2 : int
        Positions of the new axes in the result.

    Returns
    -------
    ndarray
    """
    n, ndim = x.shape[-1] + abs(offset), x.ndim + 1
    axes = [np.lib.array_utils.normalize_axis_index(axis, ndim) for axis in (axis1, axis2)]
    if axes[0] == axes[1]:
        raise ValueError("rows and columns need an axis each")
    lead = iter(x.shape[:-1])
    shape = tuple(n if i in axes else next(lead) for i in range(ndim))
    return diagonal_backward(x, shape, offset, axis1, axis2)


def diagonal(x, offset, axis1, axis2):
    """``np.diagonal``, but writable where `x` is.

    Parameters
    ----------
    x : ndarray
    offset, axis1, axis2 : int

    Returns
    -------
    ndarray
        A view of `x`.
    """
    y = np.diagonal(x, offset, axis1, axis2)
    y.flags.writeable = x.flags.writeable
    return y


def diagonal_backward(x, shape, offset, axis1, axis2):
    """Zeros of the given shape with the last axis of `x` on a diagonal.

    Parameters
    ----------
    x : ndarray
    shape : tuple of int
    offset, axis1, axis2 : int

    Returns
    -------
    ndarray
    """
    y = np.zeros(shape, x.dtype)
    diagonal(y, offset, axis1, axis2)[...] = x
    return y


def einsum_pair(subscripts, a, b):
    """Einstein summation of two operands as one matrix product.

    Parameters
    ----------
    subscripts : str
        ``'ij,jk->ik'``; no index stands twice in an operand, and each stands in two of the three.
    a, b : ndarray

    Returns
    -------
    ndarray
    """
    a_axes, b_axes, y_axes, batch, rows, summed, columns = _pair_plan(subscripts)
    if a.ndim != batch + rows + summed or b.ndim != batch + summed + columns:
        raise ValueError(f"{subscripts!r} does not name the {a.ndim} and {b.ndim} axes of its operands")
    a = a.transpose(a_axes) if a_axes else a
    b = b.transpose(b_axes) if b_axes else b
    lead, middle = a.shape[:batch], math.prod(a.shape[batch + rows :])
    y_shape = a.shape[: batch + rows] + b.shape[batch + summed :]
    if not rows == summed == 1:
        a = a.reshape((*lead, math.prod(a.shape[batch : batch + rows]), middle))
    if not summed == columns == 1:
        b = b.reshape((*lead, middle, math.prod(b.shape[batch + summed :])))
    y = matmul(a, b)
    if not rows == columns == 1:
        y = y.reshape(y_shape)
    return y.transpose(y_axes) if y_axes else y


@functools.lru_cache(1024)
def _pair_plan(subscripts):
    """The orders of the axes of both operands and of the result, None where nothing moves, and how many are of each kind."""
    left, right, out = subscripts.replace("->", ",").split(",")
    batch = [i for i in left if i in right and i in out]
    summed = [i for i in left if i in right and i not in out]
    rows, columns = [i for i in left if i not in right], [i for i in right if i not in left]

    def order(letters, wanted):
        axes = tuple([letters.index(i) for i in wanted])
        return None if axes == tuple(range(len(axes))) else axes

    return (
        order(left, [*batch, *rows, *summed]),
        order(right, [*batch, *summed, *columns]),
        order([*batch, *rows, *columns], out),
        *map(len, (batch, rows, summed, columns)),
    )


def einsum_single(subscripts, x):
    """Einstein summation of one operand: diagonals, sums and transposition.

    Parameters
    ----------
    subscripts : str
        ``'iij->j'``
    x : ndarray

    Returns
    -------
    ndarray
        Never a view of `x`.
    """
    y = np.einsum(subscripts, x)
    return y.copy() if np.may_share_memory(x, y) else y


def einsum_single_backward(x, subscripts, shape):
    """Zeros of the given shape with `x` spread over the elements that einsum_single sums.

    Parameters
    ----------
    x : ndarray
    subscripts : str
        As given to einsum_single.
    shape : tuple of int

    Returns
    -------
    ndarray
    """
    source, out = subscripts.split("->")
    every = "".join(dict.fromkeys(source))
    y = np.zeros(shape, x.dtype)
    axes = [i for i, index in enumerate(every) if index not in out]
    kept = [index for index in every if index in out]
    spread = np.expand_dims(x.transpose([out.index(index) for index in kept]), axes)
    if every:
        np.einsum(f"{source}->{every}", y)[...] = spread
    else:
        y[...] = spread  # of no axes einsum makes no view
    return y


def linear(x, weight, bias):
    """``x @ weight.T + bias`` as one matrix product.

    Parameters
    ----------
    x : ndarray
        Vectors along the last axis.
    weight : ndarray
        Rows, or one vector.
    bias : ndarray or None
        Broadcasts to the product.

    Returns
    -------
    ndarray
    """
    if weight.ndim > 2:
        raise ValueError(f"linear: weight must have one or two axes, got {weight.ndim}")
    if x.ndim > 2 and x.size and weight.ndim == 2:
        y = (x.reshape(-1, x.shape[-1]) @ weight.T).reshape(*x.shape[:-1], -1)
    else:
        y = np.asarray(x @ weight.T)
    if bias is None:
        return y
    if np.result_type(y, bias) != y.dtype:
        return y + bias
    y += bias
    return y

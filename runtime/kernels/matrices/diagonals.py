"""Diagonals of matrices, and block-diagonal matrices."""

import numpy as np

__all__ = ["block_diag", "block_diag_backward", "diag_embed", "diagonal", "diagonal_backward"]


def block_diag(arrays):
    """A block-diagonal matrix with the given blocks, of at most two axes."""
    blocks = [np.atleast_2d(a) for a in arrays]
    y = np.zeros([sum(b.shape[axis] for b in blocks) for axis in (0, 1)], np.result_type(*blocks))
    for block, (place, _) in zip(blocks, _blocks([np.shape(a) for a in arrays])):
        y[place] = block
    return y


def block_diag_backward(x, shapes):
    """The adjoint of block_diag: the blocks of the matrix, with the given shapes."""
    return [x[place].reshape(shape).copy() for place, shape in _blocks(shapes)]


def diag_embed(x, offset, axis1, axis2):
    """Square matrices along two new axes with the last axis of `x` on a diagonal."""
    n, ndim = x.shape[-1] + abs(offset), x.ndim + 1
    axes = [np.lib.array_utils.normalize_axis_index(axis, ndim) for axis in (axis1, axis2)]
    if axes[0] == axes[1]:
        raise ValueError("rows and columns need an axis each")
    lead = iter(x.shape[:-1])
    shape = tuple(n if i in axes else next(lead) for i in range(ndim))
    return diagonal_backward(x, shape, offset, axis1, axis2)


def diagonal(x, offset, axis1, axis2):
    """``np.diagonal``, a view that is writable if `x` is."""
    x = np.asarray(x)
    y = x.diagonal(offset, axis1, axis2)  # the method takes a tenth of the function's time
    if x.flags.writeable:
        y.flags.writeable = True
    return y


def diagonal_backward(x, shape, offset, axis1, axis2):
    """Zeros of the given shape with the last axis of `x` on a diagonal."""
    y = np.zeros(shape, x.dtype)
    diagonal(y, offset, axis1, axis2)[...] = x
    return y


def _blocks(shapes):
    """The place of each block in the matrix, and its shape."""
    row = column = 0
    for shape in shapes:
        if len(shape) > 2:
            raise ValueError(f"block_diag takes matrices, vectors and numbers, not an array of shape {tuple(shape)}")
        rows, columns = (1,) * (2 - len(shape)) + tuple(shape)
        yield (slice(row, row + rows), slice(column, column + columns)), tuple(shape)
        row, column = row + rows, column + columns

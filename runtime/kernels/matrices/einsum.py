"""Einstein summation of one and two operands, and affine maps."""

import functools
import math

import numpy as np

from .matmul import matmul

__all__ = ["einsum_pair", "einsum_single", "einsum_single_backward", "linear"]


def einsum_pair(subscripts, a, b):
    """Einstein summation of two operands as one matrix product.

    Parameters
    ----------
    subscripts : str
        ``'ij,jk->ik'``; no index is repeated in an operand, and each occurs in two of the three terms.
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
    """The adjoint of einsum_single: zeros of the given shape with `x` broadcast to the elements that it sums.

    Parameters
    ----------
    x : ndarray
    subscripts : str
        As in einsum_single.
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
        y[...] = spread  # without axes einsum returns no view
    return y


def linear(x, weight, bias):
    """``x @ weight.T + bias`` as one matrix product.

    Parameters
    ----------
    x : ndarray
        Vectors along the last axis.
    weight : ndarray
        A matrix of rows, or one vector.
    bias : ndarray or None
        Broadcasts to the product.

    Returns
    -------
    ndarray
    """
    if weight.ndim > 2:
        raise ValueError(f"linear: weight must have one or two axes, got {weight.ndim}")
    if x.ndim > 2 and x.size and weight.ndim == 2:
        y = matmul(x.reshape(-1, x.shape[-1]), weight.T).reshape(*x.shape[:-1], -1)
    else:
        y = np.asarray(matmul(x, weight.T))
    if bias is None:
        return y
    if np.result_type(y, bias) != y.dtype:
        return y + bias
    y += bias
    return y


@functools.lru_cache(1024)
def _pair_plan(subscripts):
    """Permutations of the operands and of the result, None if nothing moves, and the number of axes of each kind."""
    left, right, out = subscripts.replace("->", ",").split(",")
    batch = [i for i in left if i in right and i in out]
    summed = [i for i in left if i not in out]
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

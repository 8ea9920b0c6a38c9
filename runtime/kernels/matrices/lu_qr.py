"""Triangular factors: LU with row exchanges, by SciPy, and QR."""

import numpy as np

from ..loops.scipy_fallback import scipy_linalg

__all__ = ["lu_order", "lu_parts", "permutation_matrix", "pivot_rows", "qr"]

_LONG = 64  # matrices from which an exchange in all of them at once is quicker


def lu_order(x):
    """The order of rows in which elimination takes those of matrices, and their exchanges. Needs SciPy.

    Parameters
    ----------
    x : (..., m, n) ndarray

    Returns
    -------
    rows : (..., m, 1) ndarray of int
        The row of `x` that stands in each place.
    pivots : (..., k) ndarray of int
        The row that each was exchanged with in turn.
    """
    factor = scipy_linalg("lu").lu_factor
    x = np.asarray(x)
    x = x.astype(x.dtype.newbyteorder("=") if x.dtype.kind in "fc" else np.float64, copy=False)
    pivots = np.zeros((*x.shape[:-2], min(x.shape[-2:])), np.intp)
    for place in np.ndindex(x.shape[:-2]) if x.size else ():
        pivots[place] = factor(x[place])[1]
    return pivot_rows(pivots, x.shape[-2]), pivots


def lu_parts(x):
    """Triangular factors of square matrices, rows exchanged. Needs SciPy.

    Parameters
    ----------
    x : (..., n, n) ndarray

    Returns
    -------
    l : (..., n, n) ndarray
        Lower triangular, ones on the diagonal.
    u : (..., n, n) ndarray
        Upper triangular.
    rows : (..., n, 1) ndarray of int
        The row of `x` that stands in each place.
    pivots : (..., n) ndarray of int
        The row that each was exchanged with in turn.
    """
    factor = scipy_linalg("lu").lu_factor
    x = np.asarray(x)
    x = x.astype(x.dtype.newbyteorder("=") if x.dtype.kind in "fc" else np.float64, copy=False)
    factors, pivots = np.empty_like(x, order="C"), np.zeros(x.shape[:-1], np.intp)
    for place in np.ndindex(x.shape[:-2]) if x.size else ():
        factors[place], pivots[place] = factor(x[place])
    return np.tril(factors, -1) + np.eye(x.shape[-1], dtype=x.dtype), np.triu(factors), pivot_rows(pivots, x.shape[-1]), pivots


def permutation_matrix(rows, n):
    """``y[..., rows[..., i, 0], i]`` is true.

    Parameters
    ----------
    rows : (..., n, 1) ndarray of int
    n : int

    Returns
    -------
    ndarray of bool
    """
    return np.swapaxes(np.asarray(rows) == np.arange(n), -2, -1)


def pivot_rows(pivots, count):
    """The order of rows after the first ones have each been exchanged with their pivot in turn.

    Parameters
    ----------
    pivots : (..., k) ndarray of int
    count : int
        How many rows there are.

    Returns
    -------
    (..., count, 1) ndarray of int
    """
    pivots = np.asarray(pivots)
    shape = *pivots.shape[:-1], count
    if pivots.size < _LONG * pivots.shape[-1]:  # Python's lists exchange sooner than NumPy does for one matrix
        orders = [_exchanged(row, count) for row in pivots.reshape(-1, pivots.shape[-1]).tolist()]
        return np.array(orders, np.intp).reshape(*shape, 1)
    rows = np.broadcast_to(np.arange(count), shape).copy()
    for place in range(pivots.shape[-1]):
        other = pivots[..., place : place + 1]
        moved = np.take_along_axis(rows, other, -1)
        np.put_along_axis(rows, other, rows[..., place : place + 1], -1)
        rows[..., place : place + 1] = moved
    return rows[..., None]


def _exchanged(pivots, count):
    """The order of so many rows of one matrix."""
    order = list(range(count))
    for place, other in enumerate(pivots):
        order[place], order[other] = order[other], order[place]
    return order


def qr(x):
    """Reduced QR factorisation.

    Parameters
    ----------
    x : (..., m, n) ndarray

    Returns
    -------
    q : (..., m, k) ndarray
    r : (..., k, n) ndarray
    """
    return tuple(np.linalg.qr(x))

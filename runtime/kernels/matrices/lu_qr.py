"""LU factorisation with row exchanges, by SciPy, and QR."""

import numpy as np

from ..loops.scipy_fallback import scipy_linalg

__all__ = ["lu_order", "lu_parts", "permutation_matrix", "pivot_rows", "qr"]

_LONG = 64  # matrices that make exchanging rows of all at once faster


def lu_order(x):
    """The order of rows after LU elimination, and the row exchanges. Needs SciPy.

    Parameters
    ----------
    x : (..., m, n) ndarray

    Returns
    -------
    rows : (..., m, 1) ndarray of int
        The row of `x` at each place.
    pivots : (..., k) ndarray of int
        The row that each row was exchanged with, in turn.
    """
    factor = scipy_linalg("lu").lu_factor
    x = np.asarray(x)
    x = x.astype(x.dtype.newbyteorder("=") if x.dtype.kind in "fc" else np.float64, copy=False)
    pivots = np.zeros((*x.shape[:-2], min(x.shape[-2:])), np.intp)
    for place in np.ndindex(x.shape[:-2]) if x.size else ():
        pivots[place] = factor(x[place])[1]
    return pivot_rows(pivots, x.shape[-2]), pivots


def lu_parts(x):
    """LU factors of square matrices with row exchanges. Needs SciPy.

    Parameters
    ----------
    x : (..., n, n) ndarray

    Returns
    -------
    l : (..., n, n) ndarray
        Lower triangular, with unit diagonal.
    u : (..., n, n) ndarray
        Upper triangular.
    rows : (..., n, 1) ndarray of int
        The row of `x` at each place.
    pivots : (..., n) ndarray of int
        The row that each row was exchanged with, in turn.
    """
    factor = scipy_linalg("lu").lu_factor
    x = np.asarray(x)
    x = x.astype(x.dtype.newbyteorder("=") if x.dtype.kind in "fc" else np.float64, copy=False)
    factors, pivots = np.empty_like(x, order="C"), np.zeros(x.shape[:-1], np.intp)
    for place in np.ndindex(x.shape[:-2]) if x.size else ():
        factors[place], pivots[place] = factor(x[place])
    return np.tril(factors, -1) + np.eye(x.shape[-1], dtype=x.dtype), np.triu(factors), pivot_rows(pivots, x.shape[-1]), pivots


def permutation_matrix(rows, n):
    """Permutation matrices: ``y[..., rows[..., i, 0], i]`` is true.

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
    """The order of rows after each of the first rows has been exchanged with its pivot, in turn.

    Parameters
    ----------
    pivots : (..., k) ndarray of int
    count : int
        Number of rows.

    Returns
    -------
    (..., count, 1) ndarray of int
    """
    pivots = np.asarray(pivots)
    shape = *pivots.shape[:-1], count
    if pivots.size < _LONG * pivots.shape[-1]:  # for a single matrix Python's lists are faster than NumPy
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
    """The order of `count` rows of one matrix."""
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

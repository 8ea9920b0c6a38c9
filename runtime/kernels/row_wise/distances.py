"""Distances between the rows of two matrices, and what their derivatives are made of, without an array of all differences.

Owns when a product of matrices is exact enough for a distance; what is not is computed from differences, some rows at a time.
"""

import numpy as np

from .distances_loops import differences_weighted, distances_direct
from .moments_loops import euclidean_norm

__all__ = ["along_differences", "row_distances", "weighted_differences"]

_BLOCK = 1 << 16  # elements of the differences that are there at once
_FEW = 1 << 16  # differences up to which a product of matrices costs more than they
_CLOSE = {"f": 1e-7, "d": 0.05}  # squared distance over squared norms below which a product in double loses digits of the result
_LEAST = 1e-280  # squared distances from which no square has lost digits to underflow


def row_distances(a, b):
    """The Euclidean distance of each row of `a` and each row of `b`.

    Parameters
    ----------
    a : (..., m, k) ndarray
    b : (..., n, k) ndarray

    Returns
    -------
    (..., m, n) ndarray
    """
    dtype = np.result_type(a, b, np.float16)
    a, b, y = _prepared(a, b, dtype)
    for place in np.ndindex(y.shape[:-2]):
        few = dtype.char in _CLOSE and b[place].size * len(a[place]) <= _FEW
        if few and distances_direct(np.require(a[place], None, "CA"), np.require(b[place], None, "CA"), y[place]):
            continue
        if dtype.char in _CLOSE and b[place].size * len(a[place]) > _BLOCK // 16:
            _by_product(a[place], b[place], y[place], _CLOSE[dtype.char])
        else:
            for rows in _blocks(*a[place].shape, len(b[place])):
                y[place][rows] = euclidean_norm(a[place][rows, None] - b[place], -1, False)
    return y


def weighted_differences(weight, a, b):
    """The sum over the rows of `b` of the differences of each row of `a` to them, each times its weight.

    Parameters
    ----------
    weight : (..., m, n) ndarray
    a : (..., m, k) ndarray
    b : (..., n, k) ndarray

    Returns
    -------
    (..., m, k) ndarray
    """
    if weight.shape[-2:] != (a.shape[-2], b.shape[-2]) or a.shape[-1] != b.shape[-1]:
        raise ValueError(f"weights of shape {weight.shape} are not those of {a.shape} and {b.shape}")
    lead = np.broadcast_shapes(weight.shape[:-2], a.shape[:-2], b.shape[:-2])
    weight, a, b = (np.broadcast_to(x, lead + x.shape[-2:]) for x in (weight, a, b))
    y = np.empty(a.shape, np.result_type(weight, a, b, np.float16))
    for place in np.ndindex(lead):
        parts = [part[place] for part in (weight, a, b)]
        if y.dtype.char in _CLOSE and differences_weighted(*(np.require(part, y.dtype, "CA") for part in parts), y[place]):
            continue
        for rows in _blocks(*a[place].shape, len(b[place])):
            y[place][rows] = (weight[place][rows, None] @ (a[place][rows, None] - b[place]))[:, 0]
    return y


def along_differences(x, a, b):
    """The product of row i of `x` with the difference of row i of `a` and row j of `b`.

    Parameters
    ----------
    x, a : (..., m, k) ndarray
    b : (..., n, k) ndarray

    Returns
    -------
    (..., m, n) ndarray
    """
    if x.shape[-2:] != a.shape[-2:] or a.shape[-1] != b.shape[-1]:
        raise ValueError(f"rows of shapes {x.shape}, {a.shape} and {b.shape} do not belong together")
    lead = np.broadcast_shapes(x.shape[:-2], a.shape[:-2], b.shape[:-2])
    x, a, b = (np.broadcast_to(part, lead + part.shape[-2:]) for part in (x, a, b))
    y = np.empty((*a.shape[:-1], b.shape[-2]), np.result_type(x, a, b, np.float16))
    for place in np.ndindex(lead):
        for rows in _blocks(*a[place].shape, len(b[place])):
            y[place][rows] = ((a[place][rows, None] - b[place]) @ x[place][rows, :, None])[..., 0]
    return y


def _prepared(a, b, dtype):
    """Both in one dtype with the same leading axes, and memory for the result."""
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"cdist: the rows of a have {a.shape[-1]} components and those of b {b.shape[-1]}")
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(x.astype(dtype, copy=False), lead + x.shape[-2:]) for x in (a, b))
    return a, b, np.empty((*a.shape[:-1], b.shape[-2]), dtype)


def _blocks(rows, length, others):
    """Rows of which all differences to the others fit into a block."""
    step = max(1, _BLOCK // max(1, length * others))
    return [slice(start, start + step) for start in range(0, rows, step)]


def _by_product(a, b, y, close):
    """|a|**2 + |b|**2 - 2 a @ b in double around the mean of `b`; where the terms cancel, or are no numbers, the differences."""
    with np.errstate(all="ignore"):
        centre = b.mean(0, np.float64)
        wide_a, wide_b = a - centre, b - centre
        a_squares, b_squares = np.vecdot(wide_a, wide_a), np.vecdot(wide_b, wide_b)
        for rows in _blocks(len(a), 1, len(b)):
            square = wide_a[rows] @ (-2 * wide_b.T)
            norms = a_squares[rows, None] + b_squares
            square += norms
            norms *= close
            np.maximum(norms, _LEAST, out=norms)
            apart = square > norms  # false of what is infinite or NaN, too
            y[rows] = np.sqrt(square, out=square)
            i, j = ((), ()) if apart.all() else np.nonzero(~apart)
            for some in _blocks(len(i), a.shape[-1], 1):
                y[rows][i[some], j[some]] = euclidean_norm(a[rows][i[some]] - b[j[some]], -1, False)

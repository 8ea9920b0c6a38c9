"""Distances between the rows of two matrices, and what their derivatives are made of, without an array of all differences.

Owns when a product of matrices is exact enough for a distance; what is not is computed from differences, some rows at a time.
"""

import numpy as np

from ..elementwise.choice import divide_or_zero
from .distances_loops import differences_weighted, distances_direct
from .moments_loops import euclidean_norm

__all__ = ["along_rows", "pulled_apart", "row_distances", "row_rates", "row_slopes", "weighted_rows"]

_BLOCK = 1 << 16  # elements of the differences that are there at once
_FEW = 1 << 16  # differences up to which a product of matrices costs more than they
_CLOSE = {"f": 1e-7, "d": 0.05}  # squared distance over squared norms below which a product in double loses digits of the result
_LEAST = 1e-280  # squared distances from which no square has lost digits to underflow


def row_distances(z, m):
    """The Euclidean distance of each of the first `m` rows and each of the others.

    Parameters
    ----------
    z : (..., m + n, k) ndarray
    m : int

    Returns
    -------
    (..., m, n) ndarray
    """
    z = z.astype(np.result_type(z, np.float16), copy=False)
    a, b = _parts(z, m)
    y = np.empty((*a.shape[:-1], b.shape[-2]), z.dtype)
    for place in np.ndindex(y.shape[:-2]):
        few = z.dtype.char in _CLOSE and b[place].size * len(a[place]) <= _FEW
        if few and distances_direct(np.require(a[place], None, "CA"), np.require(b[place], None, "CA"), y[place]):
            continue
        if z.dtype.char in _CLOSE and b[place].size * len(a[place]) > _BLOCK // 16:
            _by_product(a[place], b[place], y[place], _CLOSE[z.dtype.char])
        else:
            for rows in _blocks(*a[place].shape, len(b[place])):
                y[place][rows] = euclidean_norm(a[place][rows, None] - b[place], -1, False)
    return y


def row_rates(t, z, y):
    """along_rows(t, z, m) / y, and 0 where `y` is 0.

    Parameters
    ----------
    t, z : (..., m + n, k) ndarray
    y : (..., m, n) ndarray

    Returns
    -------
    (..., m, n) ndarray
    """
    _belongs(y, z)
    return divide_or_zero(along_rows(t, z, y.shape[-2]), y)


def row_slopes(c, z, y):
    """weighted_rows(c / y, z), and of a distance `y` of 0 with a `c` that is NaN, NaN.

    Parameters
    ----------
    c, y : (..., m, n) ndarray
    z : (..., m + n, k) ndarray

    Returns
    -------
    (..., m + n, k) ndarray
    """
    weight = divide_or_zero(c, y)
    unknown = np.equal(y, 0) & np.isnan(c)
    return weighted_rows(np.where(unknown, c, weight) if unknown.any() else weight, z)


def weighted_rows(weight, z):
    """The sum of the differences of each row and those across, each times its weight.

    Parameters
    ----------
    weight : (..., m, n) ndarray
    z : (..., m + n, k) ndarray
        The first m rows have the others across.

    Returns
    -------
    (..., m + n, k) ndarray
    """
    _belongs(weight, z)
    a, b = _parts(z, weight.shape[-2])
    lead = np.broadcast_shapes(weight.shape[:-2], z.shape[:-2])
    y = np.empty(lead + z.shape[-2:], np.result_type(weight, z, np.float16))
    weight, a, b = (np.broadcast_to(x, lead + x.shape[-2:]) for x in (weight, a, b))
    for place in np.ndindex(lead):
        for w, ours, theirs, found in (
            (weight[place], a[place], b[place], y[place][: a.shape[-2]]),
            (weight[place].T, b[place], a[place], y[place][a.shape[-2] :]),
        ):
            parts = (np.require(part, y.dtype, "CA") for part in (w, ours, theirs))
            if y.dtype.char in _CLOSE and differences_weighted(*parts, found):
                continue
            for rows in _blocks(*ours.shape, len(theirs)):
                found[rows] = (w[rows, None] @ (ours[rows, None] - theirs))[:, 0]
    return y


def along_rows(t, z, m):
    """The product of the difference of each of the first `m` rows of `t` and each of the others with that in `z`.

    Parameters
    ----------
    t, z : (..., m + n, k) ndarray
    m : int

    Returns
    -------
    (..., m, n) ndarray
    """
    if t.shape[-2:] != z.shape[-2:]:
        raise ValueError(f"rows of shapes {t.shape} and {z.shape} do not belong together")
    lead = np.broadcast_shapes(t.shape[:-2], z.shape[:-2])
    t, z = (np.broadcast_to(x, lead + x.shape[-2:]) for x in (t, z))
    (t, u), (a, b) = _parts(t, m), _parts(z, m)
    y = np.empty((*lead, m, b.shape[-2]), np.result_type(t, z, np.float16))
    for place in np.ndindex(lead):
        for rows in _blocks(*a[place].shape, len(b[place])):
            y[place][rows] = np.vecdot(t[place][rows, None] - u[place], a[place][rows, None] - b[place])
    return y


def pulled_apart(y, t):
    """1 where a distance of two rows is 0 and these rows of `t` differ, 0 elsewhere.

    Parameters
    ----------
    y : (..., m, n) ndarray
        Distances of the first m rows and the others.
    t : (..., m + n, k) ndarray

    Returns
    -------
    (..., m, n) ndarray
    """
    _belongs(y, t)
    lead = np.broadcast_shapes(y.shape[:-2], t.shape[:-2])
    apart = np.zeros(lead + y.shape[-2:], np.result_type(y, t, np.float16))
    if not np.all(y):
        y, (t, u) = np.broadcast_to(y, apart.shape), _parts(np.broadcast_to(t, lead + t.shape[-2:]), y.shape[-2])
        *place, i, j = np.nonzero(y == 0)
        apart[*place, i, j] = (t[*place, i] != u[*place, j]).any(-1)
    return apart


def _belongs(y, z):
    if sum(y.shape[-2:]) != z.shape[-2]:
        raise ValueError(f"an array of shape {y.shape} is not that of pairs among {z.shape[-2]} rows")


def _parts(z, m):
    """The first `m` rows and the others."""
    if not 0 <= m <= z.shape[-2]:
        raise ValueError(f"of {z.shape[-2]} rows {m} cannot be the first")
    return z[..., :m, :], z[..., m:, :]


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

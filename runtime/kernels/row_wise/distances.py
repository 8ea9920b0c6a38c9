"""Distances between the rows of two matrices, and their derivatives, without an array of all differences.

Decides which distances are computed again because a square was out of range; of other dtypes than float32 and float64 all are.
"""

import numpy as np

from .distances_loops import differences_weighted, distances_direct
from .moments_loops import euclidean_norm

__all__ = ["along_rows", "row_distances", "weighted_rows"]

_BLOCK = 1 << 16  # elements of differences in memory at once
_LEAST = 1e-140  # distances above this have lost no digits to underflow


def row_distances(z, m):
    """The Euclidean distances between each of the first `m` rows and each of the others.

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
    y = np.zeros((*a.shape[:-1], b.shape[-2]), z.dtype)
    for place in np.ndindex(y.shape[:-2]):
        parts = (np.require(part[place], None, "CA") for part in (a, b))
        if z.dtype.char not in "fd" or not distances_direct(*parts, y[place]):
            i, j = np.nonzero(~((y[place] > _LEAST) & (y[place] < np.inf)))
            for some in _blocks(len(i), a.shape[-1], 1):
                y[place][i[some], j[some]] = euclidean_norm(a[place][i[some]] - b[place][j[some]], -1, False)
    return y


def weighted_rows(weight, z):
    """The weighted sum of each row's differences from the other group's rows; equal rows contribute 0, whatever their weight.

    Parameters
    ----------
    weight : (..., m, n) ndarray
    z : (..., m + n, k) ndarray
        The first m rows are one group, the others the second.

    Returns
    -------
    (..., m + n, k) ndarray
    """
    weight, (z,), lead = _together(weight, z)
    y = np.empty(z.shape, np.result_type(weight, z, np.float16))
    for place in np.ndindex(lead):
        lost = ~np.isfinite(weight[place])
        known = np.where(lost, 0, weight[place])
        (a, b), found = _parts(z[place], len(known)), _parts(y[place], len(known))
        for w, ours, theirs, y_ in ((known, a, b, found[0]), (known.T, b, a, found[1])):
            parts = (np.require(part, y.dtype, "CA") for part in (ours, theirs))
            if y.dtype.char in "fd" and differences_weighted(np.require(w, y.dtype, "A"), *parts, y_):
                continue
            for rows in _blocks(*ours.shape, len(theirs)):
                y_[rows] = (w[rows, None] @ (ours[rows, None] - theirs))[:, 0]
        i, j = np.nonzero(lost)
        apart = a[i] - b[j]
        moved = apart.any(-1)
        change = weight[place][lost][moved, None] * apart[moved]
        np.add.at(found[0], i[moved], change)
        np.subtract.at(found[1], j[moved], change)
    return y


def along_rows(weight, t, z):
    """For each pair of rows the product of their differences in `t` and in `z`, times a weight; 0 for rows equal in either.

    Parameters
    ----------
    weight : (..., m, n) ndarray
    t, z : (..., m + n, k) ndarray
        The first m rows are paired with the others.

    Returns
    -------
    (..., m, n) ndarray
    """
    weight, (t, z), lead = _together(weight, t, z)
    y = np.empty(weight.shape, np.result_type(weight, t, z, np.float16))
    for place in np.ndindex(lead):
        (t_a, t_b), (a, b) = _parts(t[place], weight.shape[-2]), _parts(z[place], weight.shape[-2])
        for rows in _blocks(*a.shape, len(b)):
            y[place][rows] = np.vecdot(t_a[rows, None] - t_b, a[rows, None] - b)
        lost = ~np.isfinite(weight[place])
        y[place] *= np.where(lost, 0, weight[place])
        i, j = np.nonzero(lost)
        moved = (t_a[i] != t_b[j]).any(-1) & (a[i] != b[j]).any(-1)
        y[place][i[moved], j[moved]] = np.nan
    return y


def _together(weight, *rows):
    """Weights of pairs, and the paired rows, with the same leading axes."""
    if any(sum(weight.shape[-2:]) != z.shape[-2] or z.shape[-1] != rows[0].shape[-1] for z in rows):
        shapes = " and ".join(str(z.shape) for z in rows)
        raise ValueError(f"weights of shape {weight.shape} do not fit pairs of rows in {shapes}")
    lead = np.broadcast_shapes(weight.shape[:-2], *(z.shape[:-2] for z in rows))
    weight, *rows = (np.broadcast_to(x, lead + x.shape[-2:]) for x in (weight, *rows))
    return weight, rows, lead


def _parts(z, m):
    """The first `m` rows, and the others."""
    if not 0 <= m <= z.shape[-2]:
        raise ValueError(f"of {z.shape[-2]} rows {m} cannot be the first")
    return z[..., :m, :], z[..., m:, :]


def _blocks(rows, length, others):
    """Slices of rows whose differences from all others fit into a block."""
    step = max(1, _BLOCK // max(1, length * others))
    return [slice(start, start + step) for start in range(0, rows, step)]

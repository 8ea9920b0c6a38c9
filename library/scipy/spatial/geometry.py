"""Distances of points, and the path on a sphere."""

from __future__ import annotations

from typing import Any

from ...generated.ops import abs, arctan2, ones_like, sin
from ..values import reals
from .distance import _minkowski, _root, _sum


def minkowski_distance_p(x: Any, y: Any, p: float = 2) -> Any:
    """The power p of minkowski_distance, and that distance itself if p is infinite.

    Parameters
    ----------
    x, y : array_like, shape (..., n)
        Real; the other axes broadcast.
    p : float
        Order of the norm.

    Returns
    -------
    Tensor, shape (...)
    """
    x, y = reals("minkowski_distance_p", x, y)
    return minkowski_distance(x, y, p) if p in (1, float("inf")) else _sum(_root(abs(x - y), p))


def minkowski_distance(x: Any, y: Any, p: float = 2) -> Any:
    """Distance of vectors along the last axis, by the norm p.

    Parameters
    ----------
    x, y : array_like, shape (..., n)
        Real; the other axes broadcast.
    p : float
        Order of the norm.

    Returns
    -------
    Tensor, shape (...)
    """
    x, y = reals("minkowski_distance", x, y)
    return _minkowski(x, y, ones_like(x[..., :1]), p)


def distance_matrix(x: Any, y: Any, p: float = 2, threshold: int = 1000000) -> Any:
    """Distances of each row of x to each row of y, by the norm p.

    Parameters
    ----------
    x : array_like, shape (m, n)
    y : array_like, shape (k, n)
    p : float
        Order of the norm.
    threshold : int
        Without effect.

    Returns
    -------
    Tensor, shape (m, k)
    """
    x, y = reals("distance_matrix", x, y)
    return minkowski_distance(x[:, None, :], y[None, :, :], p)


def geometric_slerp(start: Any, end: Any, t: Any, tol: float = 1e-7) -> Any:
    """Points on the great circle between two points of a sphere.

    Parameters
    ----------
    start, end : array_like, shape (n,)
        Of length 1, not opposite to each other.
    t : array_like, shape (m,) or ()
        From 0 to 1.
    tol : float
        As in SciPy: antipodes nearer than that are refused.

    Returns
    -------
    Tensor, shape (m, n) or (n,)
    """
    start, end, t = reals("geometric_slerp", start, end, t)
    for point in (start, end):
        if point.ndim != 1 or not -1e-8 < float(_sum(point * point).detach().numpy()) - 1 < 1e-8:
            raise ValueError("geometric_slerp: start and end must be vectors of length 1")
    angle = 2 * arctan2(_root(_sum((start - end) ** 2)), _root(_sum((start + end) ** 2)))
    size = float(angle.detach().numpy())
    if 3.141592653589793 - size < tol:
        raise ValueError("geometric_slerp: the circle through opposite points is not unique")
    t = t[..., None]
    if size == 0:
        return start + t * (end - start)
    return (sin((1 - t) * angle) * start + sin(t * angle) * end) / sin(angle)


__all__ = ["distance_matrix", "geometric_slerp", "minkowski_distance", "minkowski_distance_p"]

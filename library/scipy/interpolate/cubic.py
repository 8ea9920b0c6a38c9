"""Cubic interpolation along an axis: splines, monotone pieces, Akima's pieces, and pieces of given slopes.

Computes the slopes of each kind at the breakpoints.  The slopes of a spline solve a banded system.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...support.dispatch import ops
from .piecewise import PPoly, along, floats, refuse_unsorted

__all__ = ["Akima1DInterpolator", "CubicHermiteSpline", "CubicSpline", "PchipInterpolator", "pchip_interpolate"]


class _Cubic(PPoly):
    """Cubic pieces through values at breakpoints, with the slopes from `slopes`."""

    least = 2

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        caller = type(self).__name__
        x, y = floats(x), floats(y)
        refuse_unsorted(caller, x)
        if not y.ndim or y.shape[axis] != x.size:
            raise ValueError(f"{caller}: y must have as many elements as x along its axis {axis}: {x.size}, got shape {y.shape}")
        axis %= y.ndim
        y = ops.moveaxis(y, axis, 0)
        h = along(x[1:] - x[:-1], y)
        m = (y[1:] - y[:-1]) / h
        s = self.slopes(x, y, h, m)
        bend = (s[:-1] + s[1:] - 2 * m) / h
        super().__init__(ops.stack([bend / h, (m - s[:-1]) / h - bend, s[:-1], y[:-1]]), x, extrapolate, axis)

    def slopes(self, x: Any, y: Any, h: Any, m: Any) -> Any:
        raise NotImplementedError


class CubicHermiteSpline(_Cubic):
    """Cubic pieces through values with given slopes; see `scipy.interpolate.CubicHermiteSpline`.

    Parameters
    ----------
    x : array_like, shape (n,)
    y, dydx : array_like
        Values and slopes, n along `axis`.
    axis : int
    extrapolate : bool or 'periodic', optional

    Examples
    --------
    >>> import gradspec as gs
    >>> f = lambda s: gs.scipy.interpolate.CubicHermiteSpline([0.0, 1.0], [0.0, 0.0], [s, 0.0])(0.5)
    >>> gs.grad(f)(1.0).item()
    0.125
    """

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
        self._dydx = floats(dydx), axis
        super().__init__(x, y, axis, extrapolate)

    def slopes(self, x: Any, y: Any, h: Any, m: Any) -> Any:
        s, axis = self._dydx
        if s.ndim != y.ndim:
            raise ValueError(f"CubicHermiteSpline: y and dydx must have one shape, got {s.ndim} axes for {y.ndim}")
        s = ops.moveaxis(s, axis, 0)
        if s.shape != y.shape:
            raise ValueError("CubicHermiteSpline: y and dydx must have one shape")
        return s


class PchipInterpolator(_Cubic):
    """Monotone cubic pieces; see `scipy.interpolate.PchipInterpolator`.

    Parameters
    ----------
    x : array_like, shape (n,)
    y : array_like
        n along `axis`.
    axis : int
    extrapolate : bool or 'periodic', optional

    Notes
    -----
    Slopes are weighted harmonic means of the adjacent differences (Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5, 1984),
    or 0 if the differences have different signs; the derivative by values follows the active case.
    """

    def slopes(self, x: Any, y: Any, h: Any, m: Any) -> Any:
        if len(m) == 1:
            return ops.concat([m, m])
        left, right = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
        same = ops.sign(m[1:]) * ops.sign(m[:-1]) > 0
        before, after = ops.where(same, m[:-1], 1.0), ops.where(same, m[1:], 1.0)
        inner = ops.where(same, (left + right) / (left / before + right / after), 0.0)
        ends = [self._end(h[0], h[1], m[0], m[1]), self._end(h[-1], h[-2], m[-1], m[-2])]
        return ops.concat([ends[0][None], inner, ends[1][None]])

    @staticmethod
    def _end(h: Any, further: Any, m: Any, next_m: Any) -> Any:
        """A parabola's slope at an end, limited to preserve the shape of the data."""
        slope = ((2 * h + further) * m - h * next_m) / (h + further)
        slope = ops.where((ops.sign(m) != ops.sign(next_m)) & (ops.absolute(slope) > 3 * ops.absolute(m)), 3 * m, slope)
        return ops.where(ops.sign(slope) != ops.sign(m), 0.0, slope)


class Akima1DInterpolator(_Cubic):
    """Akima's cubic pieces; see `scipy.interpolate.Akima1DInterpolator`.

    Parameters
    ----------
    x : array_like, shape (n,)
    y : array_like
        n along `axis`.
    axis : int
    method : {'akima', 'makima'}
    extrapolate : bool, optional
        False by default.

    Notes
    -----
    Akima, J. ACM 17, 1970.  A slope is a mean of the adjacent differences, with greater weights where the outer differences
    vary less.
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None) -> None:
        if method not in ("akima", "makima"):
            raise NotImplementedError(f"Akima1DInterpolator: method must be 'akima' or 'makima', got {method!r}")
        self._method = method
        super().__init__(x, y, axis, False if extrapolate is None else extrapolate)

    def slopes(self, x: Any, y: Any, h: Any, m: Any) -> Any:
        if len(m) == 1:
            return ops.concat([m, m])
        before, after = 2 * m[0] - m[1], 2 * m[-1] - m[-2]
        m = ops.concat([(2 * before - m[0])[None], before[None], m, after[None], (2 * after - m[-1])[None]])
        change = ops.absolute(m[1:] - m[:-1])
        if self._method == "makima":
            change = change + 0.5 * ops.absolute(m[1:] + m[:-1])
        right, left = change[2:], change[:-2]
        total = right + left
        weighed = total > 1e-9 * ops.max(total)
        mean = m[1:-2] + left / ops.where(weighed, total, 1.0) * (m[2:-1] - m[1:-2])
        return ops.where(weighed, mean, 0.5 * (m[3:] + m[:-3]))


class CubicSpline(_Cubic):
    """A cubic spline, twice continuously differentiable; see `scipy.interpolate.CubicSpline`.

    Parameters
    ----------
    x : array_like, shape (n,)
    y : array_like
        n along `axis`.
    axis : int
    bc_type : str or pair
        'not-a-knot', 'periodic', 'clamped', 'natural', or for each end a name, or a pair of the order of a derivative, 1 or 2,
        and its value.  The value also has a derivative.
    extrapolate : bool or 'periodic', optional

    Examples
    --------
    >>> import gradspec as gs
    >>> x = gs.asarray([0.0, 1.0, 2.0, 3.0])
    >>> gs.grad(lambda y: gs.scipy.interpolate.CubicSpline(x, y)(1.5))(x**2).numpy().round(4).tolist()
    [-0.0625, 0.5625, 0.5625, -0.0625]
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> None:
        self._conditions = _conditions(bc_type)
        if extrapolate is None:
            extrapolate = "periodic" if self._conditions[0] == "periodic" else True
        super().__init__(x, y, axis, extrapolate)

    def slopes(self, x: Any, y: Any, h: Any, m: Any) -> Any:
        first, last = self._conditions
        if first == "periodic":
            return _periodic_slopes(y, h, m)
        if len(m) == 1:
            first, last = [(1, m[0]) if end == "not-a-knot" else end for end in (first, last)]
        step, steps = ops.reshape(h, (-1,)), len(m)
        inner = 3 * (h[1:] * m[:-1] + h[:-1] * m[1:])
        parabola = steps == 2 and (first, last) == ("not-a-knot", "not-a-knot")
        d0, u0, r0 = _end(first, h[0], h[min(1, steps - 1)], m[0], m[min(1, steps - 1)], parabola, 1)
        d1, l1, r1 = _end(last, h[-1], h[max(-2, -steps)], m[-1], m[max(-2, -steps)], parabola, -1)
        zero = ops.zeros_like(step[:1])
        ab = ops.stack([
            ops.concat([zero, u0, step[:-1]]), ops.concat([d0, 2 * (step[:-1] + step[1:]), d1]), ops.concat([step[1:], l1, zero]),
        ])  # fmt: skip
        right = ops.concat([ops.broadcast_to(r0, y.shape[1:])[None], inner, ops.broadcast_to(r1, y.shape[1:])[None]])
        solution = ops.solve_banded((1, 1), ab, ops.reshape(right, (len(right), -1)))
        return ops.reshape(solution, right.shape)


def _end(condition: Any, h: Any, further: Any, m: Any, next_m: Any, parabola: bool, sign: int) -> tuple[Any, Any, Any]:
    """The equation of the slope at an end: its own factor, its neighbour's factor, and the right-hand side.

    `h`, `m` are step and difference at this end, `further`, `next_m` are their neighbours.
    """
    step, beyond = ops.reshape(h, (1,)), ops.reshape(further, (1,))
    if parabola:
        return ops.ones_like(step), ops.ones_like(step), 2 * m
    if condition == "not-a-knot":
        both = h + further
        return beyond, step + beyond, ((h + 2 * both) * further * m + h * h * next_m) / both
    order, value = condition
    if order == 1:
        return ops.ones_like(step), ops.zeros_like(step), value
    return 2 * step, step, 3 * h * m - sign * 0.5 * floats(value) * h * h


def _periodic_slopes(y: Any, h: Any, m: Any) -> Any:
    count = len(m)
    if count < 2:
        return ops.zeros_like(y)
    step = ops.reshape(h, (-1,))
    before = ops.roll(step, 1, 0)
    rows = np.arange(count)
    matrix = ops.zeros((count, count), dtype=step.dtype)
    for columns, values in ((rows, 2 * (before + step)), ((rows - 1) % count, step), ((rows + 1) % count, before)):
        matrix = matrix + ops.reshape(values, (-1, 1)) * np.eye(count)[columns]
    h_before = ops.roll(h, 1, 0)
    right = 3 * (h * ops.roll(m, 1, 0) + h_before * m)
    solution = ops.reshape(ops.solve(matrix, ops.reshape(right, (count, -1))), right.shape)
    return ops.concat([solution, solution[:1]])


def _conditions(bc_type: Any) -> tuple:
    ends = (bc_type, bc_type) if isinstance(bc_type, str) else tuple(bc_type)
    if len(ends) != 2:
        raise ValueError("CubicSpline: bc_type must be a string or a pair, one for each end")
    if "periodic" in [end for end in ends if isinstance(end, str)] and not all(end == "periodic" for end in ends):
        raise ValueError("CubicSpline: 'periodic' is a condition of both ends")
    known = {"clamped": (1, 0.0), "natural": (2, 0.0), "not-a-knot": "not-a-knot", "periodic": "periodic"}
    found = []
    for end in ends:
        if isinstance(end, str):
            if end not in known:
                raise ValueError(f"CubicSpline: bc_type must be one of {', '.join(map(repr, known))}, or a pair, got {end!r}")
            found.append(known[end])
            continue
        order, value = end
        if order not in (1, 2):
            raise ValueError(f"CubicSpline: the order of a derivative at an end must be 1 or 2, got {order!r}")
        found.append((order, floats(value)))
    return tuple(found)


def pchip_interpolate(xi: Any, yi: Any, x: Any, der: int = 0, axis: int = 0) -> Any:
    """The derivative `der` of PchipInterpolator(xi, yi, axis) at x.

    Parameters
    ----------
    xi, yi
        As x and y of `PchipInterpolator`.
    x : array_like
        Positions of the results.
    der : int
        Order of the derivative.
    axis : int
        The axis of `yi`.

    Returns
    -------
    Tensor
    """
    return PchipInterpolator(xi, yi, axis)(x, der)

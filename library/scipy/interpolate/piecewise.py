"""Evaluate piecewise polynomials of tensors: find the interval of a point, and compute values, derivatives and integrals.

Implements `PPoly`, the base of the cubic interpolators.  The index of an interval has no derivative; the rest is built from
operators, so values are differentiable by coefficients, breakpoints and points.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)
import gradspec.func  # noqa: F401 (as well)

from ...func import implicit
from ...support.dispatch import ops
from ...transforms.batching.level_tensor import LevelTensor
from ..values import numbers

__all__ = ["PPoly", "floats", "interval", "refuse_unsorted"]


def floats(x: Any) -> Any:
    """A tensor in double precision, which SciPy uses for interpolation."""
    return numbers("scipy.interpolate", x, least=np.float64)[0]


def refuse_unsorted(caller: str, x: Any, name: str = "x") -> None:
    """Refuse points that do not increase; rows of a vmap are not checked, because their numbers are unknown."""
    if x.ndim != 1 or x.size < 2:
        raise ValueError(f"{caller}: {name} must have one axis and at least two elements, got shape {x.shape}")
    if not isinstance(x, LevelTensor) and not (np.diff(x.detach().numpy()) > 0).all():
        raise ValueError(f"{caller}: {name} must be strictly increasing and finite")


def interval(x: Any, places: Any) -> Any:
    """The index of the interval [x[i], x[i + 1]) of each point; the first or the last interval for points outside."""
    return ops.clip(ops.searchsorted(x.detach(), places.detach(), side="right") - 1, 0, x.size - 2)


def along(x: Any, like: Any) -> Any:
    """A vector along the first axis of an array with the axes of `like`."""
    return ops.reshape(x, (-1,) + (1,) * (like.ndim - 1))


def folded(places: Any, first: Any, last: Any, extrapolate: Any) -> tuple[Any, Any]:
    """Points moved into one period, and a mask of points without a value."""
    if extrapolate == "periodic":
        return first + ops.remainder(places - first, last - first), None
    return places, None if extrapolate else ~((places >= first) & (places <= last))


def arranged(value: Any, shape: tuple, axis: int) -> Any:
    """Values at a vector of points, with the axes of the points in place of the interpolated axis."""
    value = ops.reshape(value, (*shape, *value.shape[1:]))
    return ops.moveaxis(value, tuple(range(len(shape))), tuple(range(axis, axis + len(shape))))


class PPoly:
    """A piecewise polynomial: the sum of c[j] (places - x[i])**(k - j) from x[i] to x[i + 1]; see `scipy.interpolate.PPoly`.

    Parameters
    ----------
    c : array_like, shape (k + 1, m, ...)
        Coefficients of the highest power first.
    x : array_like, shape (m + 1,)
        Breakpoints, in increasing order.
    extrapolate : bool or 'periodic', optional
        Whether to extend the first and the last piece, the default; otherwise the value outside is NaN.
    axis : int
        Position of the points' axes in the values.
    """

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
        self.c, self.x = floats(c), floats(x)
        refuse_unsorted(type(self).__name__, self.x)
        if self.c.ndim < 2 or self.c.shape[1] != self.x.size - 1:
            raise ValueError(f"{type(self).__name__}: c must have shape (k + 1, {self.x.size - 1}, ...) for {self.x.size} "
                             f"breakpoints, got {self.c.shape}")  # fmt: skip
        self.extrapolate = True if extrapolate is None else extrapolate
        self.axis = axis % (self.c.ndim - 1)

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """The polynomial, or its derivative.

        Parameters
        ----------
        x : array_like
        nu : int
            Which derivative; of the right piece at a breakpoint.
        extrapolate : bool or 'periodic', optional

        Returns
        -------
        Tensor
            The axes of `x` replace the interpolated axis.
        """
        x = floats(x)
        flat = ops.reshape(x, (-1,))
        places, outside = self.folded(flat, self.extrapolate if extrapolate is None else extrapolate)
        i = interval(self.x, places)
        value = self.pieces(i, places, nu)
        if outside is not None:
            value = ops.where(along(outside, value), math.nan, value)
        return arranged(value, x.shape, self.axis)

    def pieces(self, i: Any, places: Any, nu: int) -> Any:
        """The values of pieces at points, by Horner's rule: rows."""
        degree = len(self.c) - 1
        t = along(places - self.x[i], self.c[0])
        value: Any = None
        for j in range(degree + 1 - nu):
            power = degree - j
            term = self.c[j][i] * math.perm(power, nu)
            value = term if value is None else value * t + term
        return ops.zeros_like(self.c[0][i] * t) if value is None else ops.broadcast_to(value, (len(places), *self.c.shape[2:]))

    def folded(self, places: Any, extrapolate: Any) -> tuple[Any, Any]:
        """Points moved into one period, and a mask of points without a value."""
        return folded(places, *self.ends(), extrapolate)

    def ends(self) -> tuple[Any, Any]:
        return self.x[0], self.x[-1]

    def derivative(self, nu: int = 1) -> PPoly:
        """The derivative of order `nu` as a piecewise polynomial; an antiderivative if `nu` is negative."""
        if nu < 0:
            return self.antiderivative(-nu)
        degree = len(self.c) - 1
        kept = [self.c[j] * math.perm(degree - j, nu) for j in range(degree + 1 - nu)]
        return PPoly(ops.stack(kept or [ops.zeros_like(self.c[0])]), self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> PPoly:
        """The antiderivative of order `nu` that is continuous, and 0 at the first breakpoint."""
        found = self
        if nu <= 0:
            return self.derivative(-nu)
        for _ in range(nu):
            found = found._integral()
        return found

    def _integral(self) -> PPoly:
        degree = len(self.c) - 1
        whole = along(self.x[1:] - self.x[:-1], self.c[0])
        raised = [self.c[j] / (degree + 1 - j) for j in range(degree + 1)]
        area: Any = 0.0
        for c in raised:
            area = (area + c) * whole
        start = ops.concat([ops.zeros_like(area[:1]), ops.cumsum(area, 0)[:-1]])
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return PPoly(ops.stack([*raised, start]), self.x, extrapolate, self.axis)

    def solve(self, y: Any = 0.0, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        """Points where the polynomial, with one number at each point, equals `y`.

        Parameters
        ----------
        y : float or Tensor
        discontinuity : bool
            Count breakpoints where the function jumps over `y`; these roots move with the breakpoint.
        extrapolate : bool or 'periodic', optional

        Returns
        -------
        Tensor, shape (number of places,)
            With derivatives by `y`, coefficients and breakpoints, by the implicit function theorem.
        """
        from scipy.interpolate import PPoly as plain

        if self.c.ndim != 2:
            raise NotImplementedError("PPoly.solve: is there for a single number at each place")
        y = floats(y)
        c, x = (value.detach().numpy() for value in (self.c, self.x))
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        found = plain(c, x, extrapolate).solve(y.detach().item(), discontinuity, extrapolate)
        if np.isnan(found).any():
            raise ValueError("PPoly.solve: a piece is y all along")
        jumps = np.isin(found, x) & (np.abs(plain(c, x, extrapolate)(found) - y.detach().item()) > 1e-9)
        breakpoints = self.x[np.searchsorted(x, found).clip(0, len(x) - 1)]
        inside = np.where(jumps, x[0], found)
        condition = lambda at: ops.where(jumps, at - x[0], self(at, extrapolate=extrapolate) - y)  # noqa: E731
        return ops.where(jumps, breakpoints, implicit(lambda: inside, condition)())

    def roots(self, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        """Points where the polynomial is 0; see `solve`."""
        return self.solve(0.0, discontinuity, extrapolate)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from `a` to `b`.

        Parameters
        ----------
        a, b : array_like
            One number each.
        extrapolate : bool or 'periodic', optional

        Returns
        -------
        Tensor
            Differentiable by the ends, too.
        """
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        primitive = self.antiderivative()
        ends = [floats(a), floats(b)]
        if extrapolate != "periodic":
            primitive.extrapolate = extrapolate
            return primitive(ends[1]) - primitive(ends[0])
        first, last = self.ends()
        over = primitive(last)
        parts = [primitive(first + ops.remainder(end - first, last - first)) + over * ops.floor((end - first).detach()
                                                                                               / (last - first).detach())
                 for end in ends]  # fmt: skip
        return parts[1] - parts[0]

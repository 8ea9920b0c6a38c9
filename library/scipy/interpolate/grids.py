"""Interpolation along lines and on grids: `interp1d`, `RegularGridInterpolator` and `interpn`.

Decides the values outside the grid, and which neighbours are used.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ...support.dispatch import ops
from ...transforms.batching.level_tensor import LevelTensor
from .bsplines import BSpline, make_interp_spline
from .cubic import PchipInterpolator
from .piecewise import along, arranged, floats, interval, refuse_unsorted

__all__ = ["RegularGridInterpolator", "interp1d", "interpn"]

DEGREES = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3, "quintic": 5}


class interp1d:
    """Interpolation along one axis; see `scipy.interpolate.interp1d`.

    Parameters
    ----------
    x : array_like, shape (n,)
    y : array_like
        n along `axis`.
    kind : str or int
        'linear', 'nearest', 'nearest-up', 'previous', 'next', 'zero', 'slinear', 'quadratic', 'cubic', or the degree of a spline.
    axis : int
    copy : bool
        Without effect.
    bounds_error : bool, optional
        Refuse points outside; True unless `fill_value` is given.
    fill_value : number, pair of numbers or 'extrapolate'
        The value outside.
    assume_sorted : bool
        `x` increases; else it is sorted.
    """

    def __init__(
        self, x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True, bounds_error: bool | None = None,
        fill_value: Any = None, assume_sorted: bool = False,
    ) -> None:  # fmt: skip
        x, y = floats(x), floats(y)
        self.axis = axis % y.ndim
        if y.shape[self.axis] != x.size:
            raise ValueError(
                f"interp1d: x and y arrays must be equal in length along interpolation axis, got {x.size} and {y.shape}"
            )
        y = ops.moveaxis(y, self.axis, 0)
        if not assume_sorted and not isinstance(x, LevelTensor):
            order = np.argsort(x.detach().numpy(), kind="mergesort")
            x, y = x[order], y[order]
        self.x, self.y, self.kind = x, y, kind
        self.extrapolate = isinstance(fill_value, str) and fill_value == "extrapolate"
        self.bounds_error = bounds_error if bounds_error is not None else fill_value is None
        self.fill_value = (math.nan, math.nan) if fill_value is None or self.extrapolate else fill_value
        if not isinstance(self.fill_value, tuple):
            self.fill_value = (self.fill_value, self.fill_value)
        degree = kind if isinstance(kind, int) else DEGREES.get(kind)
        known = ("linear", "nearest", "nearest-up", "previous", "next")
        if degree is None and kind not in known:
            raise NotImplementedError(f"interp1d: kind must be one of {', '.join(map(repr, (*known, *DEGREES)))} or a degree, "
                                      f"got {kind!r}")  # fmt: skip
        self.spline: BSpline | None = make_interp_spline(x, y, degree, check_finite=False) if degree else None
        if degree == 0:
            self.kind = "previous"

    def __call__(self, x: Any) -> Any:
        """Values at points.

        Parameters
        ----------
        x : array_like

        Returns
        -------
        Tensor
            The axes of `x` replace the interpolated axis.
        """
        x = floats(x)
        places = ops.reshape(x, (-1,))
        value = self.spline(places) if self.spline is not None else self.near(places)
        if not self.extrapolate:
            below, above = places < self.x[0], places > self.x[-1]
            if self.bounds_error and not isinstance(places, LevelTensor) and not isinstance(self.x, LevelTensor):
                if (below | above).numpy().any():
                    raise ValueError("interp1d: A value in x is outside the interpolation range; give fill_value, or "
                                     "bounds_error=False")  # fmt: skip
            for outside, fill in zip((below, above), self.fill_value):
                value = ops.where(along(outside, value), floats(fill), value)
        return arranged(value, x.shape, self.axis)

    def near(self, places: Any) -> Any:
        """Values of neighbours, or on the line between them."""
        x, y = self.x, self.y
        fixed, at = x.detach(), places.detach()
        if self.kind == "linear":
            i = ops.clip(ops.searchsorted(fixed, at, side="left") - 1, 0, x.size - 2)
            share = along((places - x[i]) / (x[i + 1] - x[i]), y)
            return y[i] + share * (y[i + 1] - y[i])
        if self.kind in ("nearest", "nearest-up"):
            i = ops.searchsorted((fixed[1:] + fixed[:-1]) / 2, at, side="left" if self.kind == "nearest" else "right")
        elif self.kind == "previous":
            i = ops.searchsorted(fixed, at, side="right") - 1
        else:
            i = ops.searchsorted(fixed, at, side="left")
        return y[ops.clip(i, 0, x.size - 1)]


class RegularGridInterpolator:
    """Interpolation on a rectangular grid; see `scipy.interpolate.RegularGridInterpolator`.

    Parameters
    ----------
    points : tuple of array_like
        The coordinates of the grid along each axis.
    values : array_like
        Its first axes are the axes of the grid.
    method : {'linear', 'nearest', 'slinear', 'cubic', 'quintic', 'pchip'}
    bounds_error : bool
        Refuse points outside.
    fill_value : number or None
        The value outside, if points outside are not refused; None to extrapolate.

    Examples
    --------
    >>> import gradspec as gs
    >>> f = gs.scipy.interpolate.RegularGridInterpolator(([0.0, 1.0], [0.0, 2.0]), [[0.0, 2.0], [1.0, 3.0]])
    >>> gs.grad(lambda x: f(x).sum())(gs.asarray([0.5, 0.5])).tolist()
    [1.0, 1.0]
    """

    def __init__(
        self, points: Any, values: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = math.nan
    ) -> None:
        self.grid = tuple(map(floats, points))
        self.values = floats(values)
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        self.check(method)
        if len(self.grid) > self.values.ndim or any(x.size != n for x, n in zip(self.grid, self.values.shape)):
            raise ValueError(f"RegularGridInterpolator: the grid has {tuple(x.size for x in self.grid)} places, and values have "
                             f"shape {self.values.shape}")  # fmt: skip
        for x in self.grid:
            refuse_unsorted("RegularGridInterpolator", x, "each axis of points")

    @staticmethod
    def check(method: str) -> None:
        if method not in ("linear", "nearest", "slinear", "cubic", "quintic", "pchip"):
            raise NotImplementedError("RegularGridInterpolator: method must be 'linear', 'nearest', 'slinear', 'cubic', "
                                      f"'quintic' or 'pchip', got {method!r}")  # fmt: skip

    def __call__(self, xi: Any, method: str | None = None, *, nu: Any = None) -> Any:
        """Values at points.

        Parameters
        ----------
        xi : array_like, shape (..., ndim), or tuple of array_like
            A tuple has the coordinates one by one.
        method : str, optional
        nu : sequence of int, optional
            Order of the derivative in each coordinate; only for splines.

        Returns
        -------
        Tensor
        """
        method = self.method if method is None else method
        self.check(method)
        if isinstance(xi, tuple):
            xi = ops.stack(list(ops.broadcast_arrays(*map(floats, xi))), -1)
        xi = floats(xi)
        if xi.shape[-1:] != (len(self.grid),):
            raise ValueError(
                f"RegularGridInterpolator: a place has {len(self.grid)} coordinates, got an array of shape {xi.shape}"
            )
        shape = xi.shape[:-1]
        places = [ops.reshape(xi[..., j], (-1,)) for j in range(len(self.grid))]
        if method in ("linear", "nearest"):
            value = self.corners(places, method)
        elif method == "pchip":
            if nu is not None and any(nu):
                raise ValueError("RegularGridInterpolator: only splines have derivatives nu=, got method='pchip'")
            value = self.monotone(places)
        else:
            value = self.product(places, DEGREES[method], nu or (0,) * len(self.grid))
        outside: Any = None
        for x, at in zip(self.grid, places):
            here = (at < x[0]) | (at > x[-1])
            outside = here if outside is None else outside | here
        if self.bounds_error:
            if not isinstance(outside, LevelTensor) and outside.numpy().any():
                raise ValueError("RegularGridInterpolator: one of the requested xi is out of bounds; say bounds_error=False")
        elif self.fill_value is not None:
            value = ops.where(along(outside, value), floats(self.fill_value), value)
        return ops.reshape(value, (*shape, *value.shape[1:]))

    def corners(self, places: list, method: str) -> Any:
        """A mean of the corners of the cell, or the nearest corner."""
        low = [interval(x, at) for x, at in zip(self.grid, places)]
        shares = [(at - x[i]) / (x[i + 1] - x[i]) for x, at, i in zip(self.grid, places, low)]
        if method == "nearest":
            return self.values[tuple(i + ops.astype(share.detach() > 0.5, np.int64) for i, share in zip(low, shares))]
        total: Any = 0.0
        for corner in itertools.product((0, 1), repeat=len(low)):
            weight: Any = 1.0
            for up, share in zip(corner, shares):
                weight = weight * (share if up else 1 - share)
            value = self.values[tuple(i + up for i, up in zip(low, corner))]
            total = total + along(weight, value) * value
        return total

    def monotone(self, places: list) -> Any:
        """Monotone cubic pieces along the last axis, then along the axis before it, and so on."""
        last = len(self.grid) - 1
        value = PchipInterpolator(self.grid[last], ops.moveaxis(self.values, last, 0))(places[last])
        rows = np.arange(len(places[last]))
        for axis in range(last - 1, -1, -1):  # value: (place, axes of the grid that are left, axes of one value)
            pieces = PchipInterpolator(self.grid[axis], ops.moveaxis(value, axis + 1, 0))
            i = interval(pieces.x, places[axis])
            t = ops.reshape(places[axis] - pieces.x[i], (-1,) + (1,) * (value.ndim - 2))
            value = pieces.c[0][i, rows]
            for c in pieces.c[1:]:
                value = value * t + c[i, rows]
        return value

    def product(self, places: list, k: int, nu: Any) -> Any:
        """A product of splines along each axis."""
        c = self.values
        for axis, x in enumerate(self.grid):
            if x.size <= k:
                raise ValueError(f"RegularGridInterpolator: there are {x.size} points in dimension {axis}, but the method "
                                 f"requires at least {k + 1}")  # fmt: skip
            c = make_interp_spline(x, c, k, axis=axis, check_finite=False).c
        value: Any = None
        for axis, (x, at) in enumerate(zip(self.grid, places)):
            spline = make_interp_spline(x, np.eye(x.size), k)
            basis = BSpline(spline.t, np.eye(x.size), k)(at, nu[axis])
            if value is None:
                value = ops.tensordot(basis, c, 1)
            else:
                value = (ops.reshape(basis, (*basis.shape, *(1,) * (value.ndim - 2))) * value).sum(1)
        return value


def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = math.nan
) -> Any:
    """Interpolation on a rectangular grid in one call; see `scipy.interpolate.interpn`.

    Parameters
    ----------
    points, values
        As for `RegularGridInterpolator`.
    xi : array_like, shape (..., ndim), or tuple of array_like
    method, bounds_error, fill_value
        As for `RegularGridInterpolator`.

    Returns
    -------
    Tensor
    """
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)

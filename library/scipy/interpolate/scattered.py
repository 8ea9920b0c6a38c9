"""Interpolation between scattered points: triangles, nearest neighbours and radial functions.

Defines the radial functions.  Triangles are SciPy's, and have no derivative; coordinates inside them are built from operators.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...support.dispatch import ops
from ...transforms.batching.level_tensor import LevelTensor
from .grids import interp1d
from .piecewise import floats

__all__ = ["LinearNDInterpolator", "NearestNDInterpolator", "RBFInterpolator", "griddata"]


def _numbers(caller: str, points: Any) -> np.ndarray:
    if isinstance(points, LevelTensor):
        raise NotImplementedError(
            f"{caller}: points that differ from row to row of a vmap have neighbours of their own; call it for each row"
        )
    return points.detach().numpy()


class LinearNDInterpolator:
    """Linear interpolation in the triangles of points; see `scipy.interpolate.LinearNDInterpolator`.

    Parameters
    ----------
    points : array_like, shape (m, ndim)
    values : array_like, shape (m, ...)
    fill_value : float
        The value outside all triangles.
    rescale : bool
        Find triangles of points whose coordinates fill the unit cube.

    Notes
    -----
    The triangulation is a constant in derivatives.
    """

    def __init__(self, points: Any, values: Any, fill_value: Any = math.nan, rescale: bool = False) -> None:
        from scipy.spatial import Delaunay

        self.points, self.values, self.fill_value = floats(points), floats(values), fill_value
        if self.points.ndim != 2 or self.values.shape[:1] != self.points.shape[:1]:
            raise ValueError(f"LinearNDInterpolator: points must have shape (m, ndim), and values m rows, got "
                             f"{self.points.shape} and {self.values.shape}")  # fmt: skip
        at = _numbers("LinearNDInterpolator", self.points)
        self.offset = at.mean(0) if rescale else np.zeros(at.shape[1])
        wide = np.ptp(at, axis=0)
        self.scale = np.where(wide > 0, wide, 1.0) if rescale else np.ones(at.shape[1])
        self.triangles = Delaunay((at - self.offset) / self.scale)

    def __call__(self, *args: Any) -> Any:
        """Values at points: an array of shape (..., ndim), or the coordinates one by one."""
        xi = _places(args, self.points.shape[1])
        shape, count = xi.shape[:-1], xi.shape[-1]
        flat = ops.reshape(xi, (-1, count))
        found = self.triangles.find_simplex((_numbers("LinearNDInterpolator", flat) - self.offset) / self.scale)
        corners = self.triangles.simplices[found]
        vertices = self.points[corners]
        sides = ops.mT(vertices[:, :-1] - vertices[:, -1:])
        shares = ops.solve(sides, (flat - vertices[:, -1])[..., None])[..., 0]
        shares = ops.concat([shares, 1 - shares.sum(-1, keepdims=True)], -1)
        values = self.values[corners]
        value = (ops.reshape(shares, (*shares.shape, *(1,) * (values.ndim - 2))) * values).sum(1)
        value = ops.where(np.reshape(found < 0, (-1,) + (1,) * (value.ndim - 1)), floats(self.fill_value), value)
        return ops.reshape(value, (*shape, *value.shape[1:]))


class NearestNDInterpolator:
    """The value of the nearest point; see `scipy.interpolate.NearestNDInterpolator`.

    Parameters
    ----------
    x : array_like, shape (m, ndim)
    y : array_like, shape (m, ...)
        The derivative is only by values; by points it is 0.
    rescale : bool
    """

    def __init__(self, x: Any, y: Any, rescale: bool = False) -> None:
        from scipy.interpolate import NearestNDInterpolator as Nearest

        self.points, self.values = floats(x), floats(y)
        at = _numbers("NearestNDInterpolator", self.points)
        self.nearest = Nearest(at, np.arange(len(at)), rescale)

    def __call__(self, *args: Any) -> Any:
        """Values at points: an array of shape (..., ndim), or the coordinates one by one."""
        xi = _places(args, self.points.shape[1])
        return self.values[self.nearest(_numbers("NearestNDInterpolator", xi)).astype(np.int64)]


def _places(args: tuple, count: int) -> Any:
    xi = args[0] if len(args) == 1 else tuple(args)
    if isinstance(xi, tuple):
        xi = ops.stack(list(ops.broadcast_arrays(*map(floats, xi))), -1)
    xi = floats(xi)
    if xi.shape[-1:] != (count,):
        raise ValueError(f"number of dimensions in xi does not match x: a place has {count} coordinates, got shape {xi.shape}")
    return xi


def griddata(points: Any, values: Any, xi: Any, method: str = "linear", fill_value: Any = math.nan, rescale: bool = False) -> Any:
    """Interpolation between scattered points in one call; see `scipy.interpolate.griddata`.

    Parameters
    ----------
    points : array_like, shape (m, ndim) or (m,), or tuple of arrays of shape (m,)
    values : array_like, shape (m, ...)
    xi : array_like, shape (..., ndim), or tuple of arrays
    method : {'linear', 'nearest'}
    fill_value : float
        The value outside all triangles.
    rescale : bool

    Returns
    -------
    Tensor
        Differentiable by all three.
    """
    if method not in ("linear", "nearest"):
        way = "; SciPy searches for the slopes of a cubic one: take RBFInterpolator, kernel='cubic'" * (method == "cubic")
        raise NotImplementedError(f"griddata: method must be 'linear' or 'nearest', got {method!r}{way}")
    if isinstance(points, tuple):
        points = ops.stack(list(map(floats, points)), -1)
    points = floats(points)
    if points.ndim == 1 or points.shape[1] == 1:
        line = ops.reshape(points, (-1,))
        at = floats(xi[0] if isinstance(xi, tuple) else xi)
        if points.ndim == 2 and at.shape[-1:] == (1,):
            at = at[..., 0]
        fill = "extrapolate" if method == "nearest" else fill_value
        return interp1d(line, values, method, 0, bounds_error=False, fill_value=fill)(at)
    if method == "nearest":
        return NearestNDInterpolator(points, values, rescale)(xi)
    return LinearNDInterpolator(points, values, fill_value, rescale)(xi)


# Radial functions of the square of a distance, and the least degree of the added polynomial.


def _root(s: Any) -> Any:
    """A distance from its square, whose derivative at 0 is defined as 0."""
    return ops.where(s > 0, ops.sqrt(ops.where(s > 0, s, 1.0)), 0.0)


RADIAL: dict[str, tuple[Callable[[Any], Any], int]] = {
    "linear": (lambda s: -_root(s), 0),
    "thin_plate_spline": (lambda s: 0.5 * s * ops.log(ops.where(s > 0, s, 1.0)), 1),
    "cubic": (lambda s: s * _root(s), 1),
    "quintic": (lambda s: -s * s * _root(s), 2),
    "multiquadric": (lambda s: -ops.sqrt(s + 1), 0),
    "inverse_multiquadric": (lambda s: 1 / ops.sqrt(s + 1), -1),
    "inverse_quadratic": (lambda s: 1 / (s + 1), -1),
    "gaussian": (lambda s: ops.exp(-s), -1),
}
SCALED = ("multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian")


class RBFInterpolator:
    """Interpolation by radial functions and a polynomial; see `scipy.interpolate.RBFInterpolator`.

    Parameters
    ----------
    y : array_like, shape (m, ndim)
        Points.
    d : array_like, shape (m, ...)
        Values.
    neighbors : None
        All points count.
    smoothing : float or array_like, shape (m,)
    kernel : str
        'linear', 'thin_plate_spline', 'cubic', 'quintic', 'multiquadric', 'inverse_multiquadric', 'inverse_quadratic' or
        'gaussian'.
    epsilon : float, optional
        By what distances are multiplied; needed by the last four.
    degree : int, optional
        Degree of the polynomial, -1 for no polynomial.

    Notes
    -----
    Differentiable by points, values, `smoothing`, `epsilon` and places.
    """

    def __init__(
        self, y: Any, d: Any, neighbors: Any = None, smoothing: Any = 0.0, kernel: str = "thin_plate_spline", epsilon: Any = None,
        degree: int | None = None,
    ) -> None:  # fmt: skip
        if neighbors is not None:
            raise NotImplementedError("RBFInterpolator: neighbors is not there: all points count")
        if kernel not in RADIAL:
            raise ValueError(f"RBFInterpolator: kernel must be one of {', '.join(map(repr, RADIAL))}, got {kernel!r}")
        if epsilon is None and kernel in SCALED:
            raise ValueError(f"RBFInterpolator: epsilon must be specified for the kernel {kernel!r}")
        self.y, self.d = floats(y), floats(d)
        if self.y.ndim != 2 or self.d.shape[:1] != self.y.shape[:1]:
            raise ValueError(f"RBFInterpolator: y must have shape (m, ndim), and d m rows, got {self.y.shape} and {self.d.shape}")
        self.radial, least = RADIAL[kernel]
        self.epsilon = floats(1.0 if epsilon is None else epsilon)
        degree = max(least, 0) if degree is None else degree
        count, ndim = self.y.shape
        self.powers = [power for power in itertools.product(range(degree + 1), repeat=ndim) if sum(power) <= degree]
        if len(self.powers) > count:
            raise ValueError(f"RBFInterpolator: at least {len(self.powers)} points are needed for degree {degree}, got {count}")
        # The polynomial is the same in any coordinates; these keep its matrix well conditioned.
        low, high = self.y.detach().min(0), self.y.detach().max(0)
        self.shift, self.scale = (low + high) / 2, ops.where(high > low, (high - low) / 2, 1.0)
        K = self.kernel(self.y) + ops.diag(ops.broadcast_to(floats(smoothing), (count,)))
        P = self.polynomial(self.y)
        whole = ops.concat([ops.concat([K, P], 1), ops.concat([P.mT, np.zeros((len(self.powers),) * 2)], 1)])
        values = ops.reshape(self.d, (count, -1))
        self.coefficients = ops.solve(whole, ops.concat([values, np.zeros((len(self.powers), values.shape[1]))]))

    def kernel(self, x: Any) -> Any:
        apart = (x[:, None, :] - self.y) * self.epsilon
        return self.radial((apart * apart).sum(-1))

    def polynomial(self, x: Any) -> Any:
        x = (x - self.shift) / self.scale
        columns = []
        for power in self.powers:
            column = ops.ones_like(x[:, 0])
            for j, exponent in enumerate(power):
                for _ in range(exponent):
                    column = column * x[:, j]
            columns.append(column)
        return ops.stack(columns, 1) if columns else ops.zeros((len(x), 0))

    def __call__(self, x: Any) -> Any:
        """Values at points, an array of shape (n, ndim)."""
        x = floats(x)
        if x.ndim != 2 or x.shape[1] != self.y.shape[1]:
            raise ValueError(f"RBFInterpolator: x must have shape (n, {self.y.shape[1]}), got {x.shape}")
        value = ops.concat([self.kernel(x), self.polynomial(x)], 1) @ self.coefficients
        return ops.reshape(value, (len(x), *self.d.shape[1:]))

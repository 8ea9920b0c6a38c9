"""B-splines of tensors: values, derivatives, integrals, and splines through or near data.

Computes de Boor's recursion and the interpolation system, which is banded if its conditions are only values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...support.dispatch import ops
from ...transforms.batching.level_tensor import LevelTensor
from ..optimize import minimize_scalar
from .piecewise import along, arranged, floats, folded, refuse_unsorted

__all__ = ["BSpline", "make_interp_spline", "make_smoothing_spline", "splev", "splint"]


class BSpline:
    """A spline as a sum of B-splines; see `scipy.interpolate.BSpline`.

    Parameters
    ----------
    t : array_like, shape (n + k + 1,)
        Knots, in nondecreasing order.
    c : array_like, shape (>= n, ...)
        Coefficients along `axis`.
    k : int
        The degree.
    extrapolate : bool or 'periodic'
        Whether to extend the first and the last piece beyond t[k] and t[n]; otherwise the value there is NaN.
    axis : int

    Examples
    --------
    >>> import gradspec as gs
    >>> t = gs.asarray([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    >>> gs.grad(lambda c: gs.scipy.interpolate.BSpline(t, c, 2)(0.5))(gs.ones(3)).tolist()
    [0.25, 0.5, 0.25]
    """

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        self.t, self.c, self.k, self.extrapolate = floats(t), floats(c), int(k), extrapolate
        self.axis = axis % self.c.ndim
        self.n = self.t.size - self.k - 1
        if self.k < 0 or self.n < self.k + 1:
            raise ValueError(f"BSpline: need at least {2 * self.k + 2} knots for degree {k}, got {self.t.size}")
        if not isinstance(self.t, LevelTensor) and (np.diff(self.t.detach().numpy()) < 0).any():
            raise ValueError("BSpline: knots must be in a non-decreasing order")
        if self.c.shape[self.axis] < self.n:
            raise ValueError(f"BSpline: knots, coefficients and degree are inconsistent: {self.n} coefficients are needed along "
                             f"axis {self.axis}, got shape {self.c.shape}")  # fmt: skip

    @property
    def tck(self) -> tuple[Any, Any, int]:
        """Knots, coefficients and degree."""
        return self.t, self.c, self.k

    def rows(self) -> Any:
        """The coefficients with their axis in front."""
        return ops.moveaxis(self.c, self.axis, 0)[: self.n]

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """The spline, or its derivative.

        Parameters
        ----------
        x : array_like
        nu : int
            Order of the derivative; at a knot, from the right piece.
        extrapolate : bool or 'periodic', optional

        Returns
        -------
        Tensor
            The axes of `x` replace the coefficients' axis.
        """
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        x = floats(x)
        places, outside = folded(ops.reshape(x, (-1,)), self.t[self.k], self.t[self.n], extrapolate)
        i = self.interval(places)
        spline = self.derivative(nu) if nu else self
        shift = self.k - spline.k  # a derivative has fewer knots in front
        value = _de_boor(spline.t, spline.rows(), spline.k, i - shift, places)
        if nu > self.k:
            value = ops.zeros_like(value)
        if outside is not None:
            value = ops.where(along(outside, value), math.nan, value)
        return arranged(value, x.shape, self.axis)

    def interval(self, places: Any) -> Any:
        """The index of the knot before each point, counting only nonempty intervals."""
        inner = self.t[self.k : self.n + 1].detach()
        places = places.detach()
        i = ops.searchsorted(inner, places, side="right") - 1
        last = ops.searchsorted(inner, inner[-1:], side="left")[0] - 1
        return ops.clip(i, 0, last) + self.k

    def derivative(self, nu: int = 1) -> BSpline:
        """The derivative of order `nu` as a spline."""
        found = self
        for _ in range(min(nu, self.k)):
            found = found._slope()
        if nu > self.k:
            found = BSpline(found.t, ops.zeros_like(found.c), found.k, found.extrapolate, found.axis)
        return found

    def _slope(self) -> BSpline:
        t, c, k = self.t, self.rows(), self.k
        apart = along(t[k + 1 : k + self.n] - t[1 : self.n], c)
        slopes = ops.where(apart > 0, k * (c[1:] - c[:-1]) / ops.where(apart > 0, apart, 1.0), 0.0)
        return BSpline(t[1:-1], ops.moveaxis(slopes, 0, self.axis), k - 1, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> BSpline:
        """The antiderivative of order `nu` as a spline that is 0 at its first knot."""
        found = self
        for _ in range(nu):
            found = found._integral()
        return found

    def _integral(self) -> BSpline:
        t, c, k = self.t, self.rows(), self.k
        wide = along(t[k + 1 : k + 1 + self.n] - t[: self.n], c)
        sums = ops.cumsum(c * wide, 0) / (k + 1)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        knots = ops.concat([t[:1], t, t[-1:]])
        return BSpline(
            knots, ops.moveaxis(ops.concat([ops.zeros_like(sums[:1]), sums]), 0, self.axis), k + 1, extrapolate, self.axis
        )

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from `a` to `b`; without `extrapolate`, only over the part where the spline is defined.

        Parameters
        ----------
        a, b : array_like
            One number each.
        extrapolate : bool, optional

        Returns
        -------
        Tensor
            Differentiable by the ends, too.
        """
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            raise NotImplementedError("BSpline.integrate: extrapolate='periodic' is not there; PPoly.integrate has it")
        ends = [floats(a), floats(b)]
        if not extrapolate:
            ends = [ops.clip(end, self.t[self.k], self.t[self.n]) for end in ends]
        primitive = self.antiderivative()
        return primitive(ends[1], extrapolate=True) - primitive(ends[0], extrapolate=True)


def _de_boor(t: Any, c: Any, k: int, i: Any, x: Any) -> Any:
    """Values of a spline at points in the intervals that start at knots `i`: rows."""
    parts = [c[i - k + j] for j in range(k + 1)]
    for r in range(1, k + 1):
        for j in range(k, r - 1, -1):
            low, high = t[i + j - k], t[i + j + 1 - r]
            share = along((x - low) / (high - low), c)
            parts[j] = (1 - share) * parts[j - 1] + share * parts[j]
    return parts[k]


def _collocation(t: Any, k: int, x: Any, nu: int = 0) -> Any:
    """The B-splines, or their derivatives, at points: a row for each point."""
    return BSpline(t, np.eye(t.size - k - 1), k)(x, nu)


def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> BSpline:
    """The spline through data; see `scipy.interpolate.make_interp_spline`.

    Parameters
    ----------
    x : array_like, shape (n,)
    y : array_like
        n along `axis`.
    k : int
        The degree.
    t : array_like, optional
        Knots; by default SciPy's choice from the points in `x`.
    bc_type : str or pair, optional
        'not-a-knot', 'natural', 'clamped', or for each end None, a name, or a list of pairs of the order of a derivative and its
        value.
    axis : int
    check_finite : bool
        Refuse infinities and NaN.

    Returns
    -------
    BSpline
        Differentiable by `x`, `y`, `t` and the values in `bc_type`.
    """
    x, y = floats(x), floats(y)
    axis %= y.ndim
    y = ops.moveaxis(y, axis, 0)
    if k or x.size < 2:
        refuse_unsorted("make_interp_spline", x)
    if y.shape[0] != x.size:
        raise ValueError(f"make_interp_spline: x and y are incompatible: {x.size} places, and y of shape {y.shape}")
    if check_finite and not isinstance(y, LevelTensor) and not np.isfinite(y.detach().numpy()).all():
        raise ValueError("make_interp_spline: y must not contain infs or NaNs")
    left, right = _end_conditions(bc_type)
    if k == 0:
        return BSpline(ops.concat([x, x[-1:]]), ops.moveaxis(y, 0, axis), 0, axis=axis)
    given = t is not None
    t = floats(t) if given else _knots(x, k, bool(left or right))
    count = t.size - k - 1
    if count != x.size + len(left) + len(right):
        raise ValueError(f"make_interp_spline: {count} coefficients for {x.size} values and {len(left) + len(right)} conditions "
                         "at the ends: as many are needed")  # fmt: skip
    rows, values = [_collocation(t, k, x)], [ops.reshape(y, (len(y), -1))]
    for place, conditions, where in ((x[:1], left, 0), (x[-1:], right, 2)):
        for order, value in conditions:
            rows.insert(0 if where == 0 else len(rows), _collocation(t, k, place, order))
            flat = ops.reshape(ops.broadcast_to(floats(value), y.shape[1:]), (1, -1))
            values.insert(0 if where == 0 else len(values), flat)
    if left or right:
        c = ops.solve(ops.concat(rows), ops.concat(values))
    else:
        c = ops.solve_banded((k, k), _bands(rows[0], k), values[0])
    return BSpline(t, ops.moveaxis(ops.reshape(c, (count, *y.shape[1:])), 0, axis), k, axis=axis)


def _bands(matrix: Any, k: int) -> Any:
    """The diagonals of a matrix from the k-th above to the k-th below, in the form of `solve_banded`."""
    count = len(matrix)
    found = []
    for shift in range(k, -k - 1, -1):
        diagonal = ops.diagonal(matrix, shift) if abs(shift) < count else matrix[0][:0]
        empty = ops.zeros((min(abs(shift), count),), dtype=matrix.dtype)
        found.append(ops.concat([empty, diagonal] if shift > 0 else [diagonal, empty]))
    return ops.stack(found)


def _knots(x: Any, k: int, conditions: bool) -> Any:
    """SciPy's choice of knots: all points if there are end conditions, otherwise without the points next to the ends; midpoints
    for an even degree."""
    if conditions or k == 1:
        inner = x[1:-1]
    elif k % 2:
        inner = x[(k + 1) // 2 : -(k + 1) // 2]
    else:
        inner = ((x[1:] + x[:-1]) / 2)[k // 2 : -(k // 2)]
    return ops.concat([ops.broadcast_to(x[:1], (k + 1,)), inner, ops.broadcast_to(x[-1:], (k + 1,))])


def _end_conditions(bc_type: Any) -> tuple[list, list]:
    if bc_type is None or isinstance(bc_type, str):
        bc_type = (bc_type, bc_type)
    named: dict[Any, list] = {None: [], "not-a-knot": [], "natural": [(2, 0.0)], "clamped": [(1, 0.0)]}
    found = []
    for end in bc_type:
        if end == "periodic":
            raise NotImplementedError("make_interp_spline: bc_type='periodic' is not there; CubicSpline has it")
        if isinstance(end, str) and end not in named:
            raise ValueError(f"make_interp_spline: bc_type must be one of {', '.join(map(repr, named))}, got {end!r}")
        found.append(named[end] if end is None or isinstance(end, str) else list(end))
    return found[0], found[1]


def make_smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: int = 0) -> BSpline:
    """The cubic smoothing spline near data; see `scipy.interpolate.make_smoothing_spline`.

    Parameters
    ----------
    x : array_like, shape (n,)
        At least 5 places.
    y : array_like
        n along `axis`.
    w : array_like, shape (n,), optional
        Weights of the squares.
    lam : float, optional
        The weight of the integral of the squared second derivative.  The default minimises generalized cross-validation, for data
        with one axis; its derivative by the data is included.
    axis : int

    Returns
    -------
    BSpline
        Differentiable by `x`, `y`, `w` and `lam`.

    Notes
    -----
    Reinsch, Numer. Math. 10, 1967, solved as a matrix of n rows.
    """
    x, y = floats(x), floats(y)
    axis %= y.ndim
    y = ops.moveaxis(y, axis, 0)
    refuse_unsorted("make_smoothing_spline", x)
    if x.size < 5 or y.shape[0] != x.size:
        raise ValueError(f"make_smoothing_spline: at least 5 places are needed, and as many values, got {x.size} and {y.shape}")
    w = ops.ones_like(x) if w is None else floats(w)
    flat = ops.reshape(y, (len(y), -1))
    bending = _bending(x)

    def smoother(lam: Any) -> Any:
        """The matrix that maps values to smoothed values."""
        return ops.solve(ops.diag(w) + lam * bending, ops.diag(w))

    if lam is None:
        if y.ndim > 1:
            raise NotImplementedError("make_smoothing_spline: lam has to be given where y has more than one axis")

        def score(lam: Any) -> Any:
            A = smoother(lam)
            return (w * (y - A @ y) ** 2).sum() / len(w) / (1 - ops.trace(A) / len(w)) ** 2

        lam = minimize_scalar(score, bounds=(0.0, float(len(w))), method="bounded").x
    smooth = ops.reshape(smoother(floats(lam)) @ flat, y.shape)
    return make_interp_spline(x, ops.moveaxis(smooth, 0, axis), bc_type="natural", axis=axis, check_finite=False)


def _bending(x: Any) -> Any:
    """The integral of the square of the second derivative of a natural spline, as a quadratic form of its values."""
    h = x[1:] - x[:-1]
    count = x.size
    eye = np.eye(count)
    inverse = ops.reshape(1 / h, (-1, 1))
    slopes = inverse * (eye[1:] - eye[:-1])
    bends = slopes[1:] - slopes[:-1]  # divided differences of second order, not divided by a width
    inner = np.eye(count - 2)
    widths = ops.diag((h[1:] + h[:-1]) / 3)
    if count > 3:
        side = ops.reshape(h[1:-1], (-1, 1)) / 6
        lower = side * inner[:-1]
        zero = np.zeros((1, count - 2))
        widths = widths + ops.concat([zero, lower]) + ops.concat([side * inner[1:], zero])
    return bends.mT @ ops.solve(widths, bends)


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """The values of a spline, or of one of its derivatives.

    Parameters
    ----------
    x : array_like
    tck : BSpline or tuple (t, c, k)
        Knots, coefficients and degree.
    der : int
        Order of the derivative.
    ext : {0, 1}
        0 extrapolates, 1 gives 0 outside; others are refused.

    Returns
    -------
    Tensor
        Has the shape of `x`.
    """
    if ext not in (0, 1):
        raise NotImplementedError(f"splev: ext must be 0 or 1, got {ext}")
    spline = _of_tck(tck)
    found = spline(x, der)
    x = floats(x)
    return found if ext == 0 else ops.where((x < spline.t[spline.k]) | (x > spline.t[-spline.k - 1]), 0.0, found)


def splint(a: Any, b: Any, tck: Any) -> Any:
    """The integral of a spline from a to b, which is 0 outside of its base interval.

    Parameters
    ----------
    a, b : float or Tensor
        The ends.
    tck : BSpline or tuple (t, c, k)
        Knots, coefficients and degree.

    Returns
    -------
    Tensor
    """
    return _of_tck(tck).integrate(a, b, extrapolate=False)


def _of_tck(tck: Any) -> BSpline:
    if isinstance(tck, BSpline):
        return tck
    t, c, k = tck
    return BSpline(t, floats(c)[: len(t) - k - 1], k)

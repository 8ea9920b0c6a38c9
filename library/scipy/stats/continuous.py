"""Continuous distributions: compute densities, probabilities, quantiles and random numbers from the formulas of a family.

Defines the values at and beyond the ends of a support, and quantiles and random numbers as solutions of cdf(y) == q.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...func import custom_jvp, jvp, stop_gradient
from ...support.dispatch import ops
from ..values import implicit, is_zero, refused_along
from .distribution import Distribution, Formula
from .tails import some


def _reflected(formula: Formula) -> Formula:
    return lambda y, *shapes: formula(-y, *shapes)


def _negative(formula: Formula) -> Formula:
    return lambda y, *shapes: -formula(y, *shapes)


def _zero(orders: Any, y: Any) -> Any:
    """0, whose derivatives in y beyond some order are NaN."""

    @custom_jvp
    def zero(y: Any) -> Any:
        return ops.zeros_like(orders)

    @zero.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return zero(*primals), ops.where(orders > 0, _zero(orders - 1, *primals), math.nan) * tangents[0]

    return zero(y)


class Continuous(Distribution):
    """A distribution with a density.

    Parameters
    ----------
    symmetric : bool
        Whether it is symmetric about 0: one tail then serves for both.
    slopes : callable, optional
        For a family without a formula of probabilities, whose values are SciPy's.  Takes a number and the shape parameters,
        returns the derivative of the `cdf` by each parameter; None for a parameter without a formula.
    estimates : callable, optional
        Takes data, `loc` and `scale`, returns the maximum-likelihood values of both; a value that is not None is kept.  For a
        family without shape parameters whose likelihood has its maximum at a corner, which no gradient describes.
    """

    def __init__(self, *args: Any, symmetric: bool = False, slopes: Formula | None = None, estimates: Formula | None = None,
                 **stated: Any) -> None:  # fmt: skip
        self._slopes, self._estimates = slopes, estimates
        if symmetric:
            for name, other in (("cdf", "sf"), ("sf", "cdf"), ("logcdf", "logsf"), ("logsf", "logcdf")):
                if name in stated:
                    stated.setdefault(other, _reflected(stated[name]))
            for name, other in (("ppf", "isf"), ("isf", "ppf")):
                if name in stated:
                    stated.setdefault(other, _negative(stated[name]))
        if stated.keys().isdisjoint(("cdf", "sf", "logcdf", "logsf")):
            stated.update(cdf=self._by_scipy("cdf", 1), sf=self._by_scipy("sf", -1))
        super().__init__(*args, **stated)

    def _by_scipy(self, name: str, sign: int) -> Formula:
        """SciPy's probability with the density as its derivative; that in shape parameters is refused."""

        @custom_jvp
        def probability(y: Any, shapes: Any) -> Any:
            return self._scipys(name, y, *shapes)

        @probability.defjvp
        def rule(primals: Any, tangents: Any) -> Any:
            (y, shapes), (y_t, shapes_t) = primals, tangents
            value = probability(y, shapes)
            moved = self._formulas["pdf"](y, *shapes) * y_t
            slopes = self._slopes(y, *shapes) if self._slopes is not None else (None,) * len(shapes)
            for slope, shape_t in zip(slopes, shapes_t):
                if slope is None:
                    moved = moved + refused_along([shape_t], 0.0 * value, self._words(name))
                else:
                    moved = moved + slope * shape_t
            return value, sign * moved

        return lambda y, *shapes: probability(y, list(shapes))

    def _standard(self, where: str, x: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
        """x at `loc` 0 and `scale` 1 with infinities and without, the shapes, the scale, whether they are admissible, and the
        ends of the support."""
        x, shapes, loc, scale = self._tensors(where, args, kwds, (x,))
        far = ops.isinf(x)
        y = (ops.where(far, 0.0, x) - loc) / scale
        return ops.where(far, x, y), y, shapes, scale, self._valid(shapes, scale), self._ends(shapes)

    def _density(self, which: str, x: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
        with np.errstate(all="ignore"):
            place, y, shapes, scale, valid, ends = self._standard(which, x, args, kwds)
            beyond = (place < ends[0]) | (place > ends[1]) | ops.isinf(place)
            value = self._settled(which, ops.where(beyond, self._inside(ends), y), shapes, ends)
            value = self._at_ends(which, value, y, shapes, ends)
            value, nothing = (value - ops.log(scale), -math.inf) if which == "logpdf" else (value / scale, 0.0)
            return ops.where(valid, ops.where(beyond, nothing, value), math.nan)

    def _settled(self, which: str, y: Any, shapes: list[Any], ends: Any) -> Any:
        """A formula at y; derivatives are 0 where the density underflows to 0, because inner ones may be infinite."""
        formula = self._formulas[which]
        value = formula(y, *shapes)
        flat = ops.isinf(value) | (value == 0) | (value == 1)
        for end in ends:
            flat = flat & (abs(y - end) > 1e-10)
        if not some(flat):
            return value
        flat = flat & (self._formulas["pdf"](stop_gradient(y), *map(stop_gradient, shapes)) == 0)
        if not some(flat):
            return value
        return ops.where(flat, stop_gradient(value), formula(ops.where(flat, self._inside(ends), y), *shapes))

    def _at_ends(self, which: str, value: Any, y: Any, shapes: list[Any], ends: Any) -> Any:
        """The density at the ends of the support: its limit if a formula subtracts infinities, with derivatives if that is 0."""
        at = (y == ends[0]) | (y == ends[1])
        lost, flat = ops.isnan(value) & at, (value == 0) & at & (which == "pdf")
        if some(lost):
            first, _ = self._power(y, ops.where(y == 0, 1e-50, 1e-6), shapes, ends)
            second, beside = self._power(y, ops.where(y == 0, 1e-100, 1e-9), shapes, ends)
            falls = ((first > 1e-3) & (second > first - 1e-3)) | (beside == -math.inf)
            grows = (first < -1e-3) & (second < first + 1e-3)
            level = lost & (abs(first) + abs(second) < 1e-4)
            limit = ops.where(falls, -math.inf, ops.where(grows, math.inf, math.nan))
            limit = limit if which == "logpdf" else ops.exp(limit)
            value, flat = ops.where(lost, limit, value), flat | (lost & (limit == 0))
            if some(level):
                near = stop_gradient(self._risen(level, value, y, shapes, ends))
                value = ops.where(level, ops.log(ops.where(level, near, 1.0)) if which == "logpdf" else near, value)
            value = value + _zero(ops.where(lost & ~flat, 0.0, math.inf), y + sum(shapes))
        return self._risen(flat, value, y, shapes, ends) if some(flat) else value

    def _power(self, y: Any, near: Any, shapes: list[Any], ends: Any) -> tuple[Any, Any]:
        """The power as which the density rises from an end y of the support, by the slope of `logpdf` near it, and `logpdf`."""
        constants = [stop_gradient(shape) for shape in shapes]
        step = near * self._inward(y, ends)
        beside, slope = jvp(lambda y: self._formulas["logpdf"](y, *constants), (stop_gradient(y + step),), (ops.ones_like(step),))
        return slope * step, beside

    def _inward(self, y: Any, ends: Any) -> Any:
        """The way from an end y of the support to a regular point."""
        return stop_gradient(ops.where(y == ends[0], 1, -1) * abs(y - self._inside(ends)))

    def _risen(self, at: Any, value: Any, y: Any, shapes: list[Any], ends: Any) -> Any:
        """A density that is 0 at an end of the support, with derivatives: it rises as a power, taken from `logpdf` nearby.

        Derivatives of an order below the power are 0.  For the powers 1 and 2 they are extrapolated from three points near the
        end, and so is the value for the power 0.  All other derivatives are NaN, and also second derivatives of a family with
        shape parameters, because the power may depend on them.
        """
        formula, inside = self._formulas["pdf"], self._inside(ends)
        power, _ = self._power(y, 1e-6, shapes, ends)
        size, constants = 1e-6 * self._inward(y, ends), [stop_gradient(shape) for shape in shapes]
        over = y - ops.where(y == ends[0], *ends)
        whole = at & (abs(power - ops.round(power)) < 1e-4) & (power < 2.5)
        places = [ops.where(whole, stop_gradient(y + k * size) + over, stop_gradient(inside)) for k in (1, 2, 3)]
        near = sum(factor * formula(place, *constants) for factor, place in zip((3, -3, 1), places))
        orders = ops.where(at & ~whole, ops.where(power > 2, 2.0, ops.where(power > 1, 1.0, 0.0)), math.inf)
        near = near - ops.where(power > 0.5, stop_gradient(near), 0.0)
        found = ops.where(whole, near, stop_gradient(value) + _zero(orders, over))
        for shape in shapes:
            found = found + _zero(ops.where(whole, 1.0, math.inf), over + shape)
        return ops.where(at, found, formula(ops.where(at, inside, y), *shapes))

    def logpdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """Logarithm of the density at x; -inf with derivatives 0 outside the support."""
        return self._density("logpdf", x, args, kwds)

    def pdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The density at x."""
        return self._density("pdf", x, args, kwds)

    def _probability(self, which: str, x: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
        with np.errstate(all="ignore"):
            place, y, shapes, _, valid, ends = self._standard(which, x, args, kwds)
            below, above = place <= ends[0], place >= ends[1]
            value = self._settled(which, ops.where(below | above, self._inside(ends), y), shapes, ends)
            return self._between(which, valid, below, above, value)

    def cdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of at most x."""
        return self._probability("cdf", x, args, kwds)

    def sf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of more than x."""
        return self._probability("sf", x, args, kwds)

    def logcdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of `cdf`."""
        return self._probability("logcdf", x, args, kwds)

    def logsf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of `sf`."""
        return self._probability("logsf", x, args, kwds)

    def _quantile(self, which: str, q: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
        with np.errstate(all="ignore"):
            q, shapes, loc, scale = self._tensors(which, args, kwds, (q,))
            first, last = self._ends(shapes)[:: 1 if which == "ppf" else -1]
            inner = (q > 0) & (q < 1)
            formula = self._formulas.get(which) or self._implicit(which)
            y = formula(ops.where(inner, q, 0.365), *shapes)
            if some(~inner, unknown=True):
                y = ops.where(inner, y, self._end(which, q, shapes, ops.where(q <= 0, first, ops.where(q >= 1, last, y))))
            valid = self._valid(shapes, scale) & (q >= 0) & (q <= 1)
            return ops.where(valid, y * scale + loc, math.nan)

    def _end(self, which: str, q: Any, shapes: list[Any], end: Any) -> Any:
        """The quantile at the probabilities 0 and 1: an end of the support, which moves with q as any quantile does."""

        @custom_jvp
        def quantile(q: Any, shapes: Any, end: Any) -> Any:
            return ops.copy(end)

        @quantile.defjvp
        def rule(primals: Any, tangents: Any) -> Any:
            (q, shapes, end), (q_t, _, end_t) = primals, tangents
            y = quantile(q, shapes, end)
            if is_zero(q_t):
                return y, end_t
            density = self._at_ends("pdf", self._formulas["pdf"](y, *shapes), y, shapes, self._ends(shapes))
            return y, end_t + (q_t if which == "ppf" else -q_t) / density

        return quantile(q, list(shapes), end + ops.zeros_like(q))

    def _implicit(self, which: str) -> Formula:
        """The quantile as solution of cdf(y) == q, or of sf(y) == q, whose value is SciPy's."""
        name, sign = ("cdf", 1) if which == "ppf" else ("sf", -1)

        def value(*arguments: Any) -> Any:
            return self._scipys(which, *arguments)

        def slope(*arguments: Any) -> Any:
            return sign * self._formulas["pdf"](*arguments)

        return implicit(value, self._formulas[name], slope)

    def ppf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        """The quantile: the point where `cdf` is q."""
        return self._quantile("ppf", q, args, kwds)

    def isf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        """The inverse of `sf`, at q."""
        return self._quantile("isf", q, args, kwds)

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **kwds: Any) -> Any:
        """Random numbers with derivatives in the parameters: each number moves so that its probability `cdf` is constant.

        Parameters
        ----------
        *args, **kwds
            Shape parameters, `loc`, `scale`.
        size : int or tuple of int, optional
            The shape of the result; by default the parameters' shape.
        random_state : int, numpy.random.Generator or RandomState, optional
            As in SciPy, with the same numbers; by default the generator of `gradspec.manual_seed`.

        Returns
        -------
        Tensor
        """
        shapes, loc, scale = self._tensors("rvs", args, kwds)
        drawn = self._drawn(shapes, loc, scale, size, random_state)
        if shapes:
            drawn = implicit(lambda drawn, *_: drawn, self._formulas["cdf"], self._formulas["pdf"])(drawn, *shapes)
        return drawn * scale + loc

    def fit(self, data: Any, *args: Any, **kwds: Any) -> tuple:
        """The parameters of the greatest likelihood of data.

        Parameters
        ----------
        data : array_like or Tensor
            Finite numbers; the parameters have derivatives in them.
        *args : float
            Start of the search for the shape parameters; by default SciPy's guess.
        **kwds : float
            `loc` and `scale`: start of the search for them.  `floc`, `fscale`, `f0`, `f1` (or `fa`, `fix_a`) fix a parameter.

        Returns
        -------
        tuple of Tensor
            The shape parameters, `loc` and `scale`.

        Notes
        -----
        The search follows exact gradients from SciPy's first guess.  SciPy's own search is used if the maximum is at the
        edge of the support, as for `halfnorm`.  The derivative in the data is the derivative of the solution of "the
        gradient is 0", by the implicit function theorem.  It is NaN at such an edge.  The estimates of `laplace`, `expon`
        and `uniform` are order statistics and means, and move as these do.

        Examples
        --------
        >>> import gradspec as gs
        >>> mean = lambda data: gs.scipy.stats.norm.fit(data)[0]
        >>> gs.grad(mean)(gs.asarray([1.0, 2.0, 6.0, 7.0])).round(6).tolist()
        [0.25, 0.25, 0.25, 0.25]
        """
        from .fitting import fit

        return fit(self, data, args, kwds)

    def expect(self, func: Any = None, args: tuple = (), loc: Any = 0.0, scale: Any = 1.0, lb: Any = None, ub: Any = None,
               conditional: bool = False) -> Any:  # fmt: skip
        """The mean of a function of x, by `gradspec.scipy.integrate.quad`.

        Parameters
        ----------
        func : callable, optional
            Takes a Tensor of shape () and returns a number; x itself by default.
        args : tuple
            The shape parameters, each a single number, like `loc` and `scale`.
        lb, ub : float or Tensor, optional
            The ends of the integral, by default the ends of the support.
        conditional : bool
            Whether the integral is divided by the probability between the ends.

        Returns
        -------
        Tensor, shape ()
            With derivatives in the parameters, the ends, and captured values of `func`.
        """
        from .fitting import expect

        return expect(self, func or (lambda x: x), tuple(args), {"loc": loc, "scale": scale}, (lb, ub), conditional)

    def nnlf(self, theta: Any, x: Any) -> Any:
        """The negative log-likelihood of data x: theta holds the shape parameters, `loc` and `scale`."""
        return -ops.sum(self.logpdf(x, *theta))

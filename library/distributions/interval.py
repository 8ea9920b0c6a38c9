"""Distributions on an interval: Uniform, Beta and ContinuousBernoulli.

States constraints, densities, quantiles, random numbers and moments of each family.
"""

from __future__ import annotations

import math
from typing import Any

from ..special import betainc, betaln, digamma, xlog1py, xlogy
from ..support.dispatch import ops
from . import constraints
from .discrete import OfOdds
from .distribution import Distribution, ExponentialFamily
from .half_line import log_gamma_draw
from .numbers import broadcast, known


class Uniform(Distribution):
    """Uniform distribution: the density 1 / (high - low) from low up to but not including high.

    Parameters
    ----------
    low, high : array_like
        Ends, low < high.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Uniform(1.0, 3.0).variance.round(6)
    tensor(0.333333)
    """

    arg_constraints = {"low": constraints.dependent, "high": constraints.dependent}
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast("Uniform", low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and known(self.low < self.high) is False:
            raise ValueError(f"Uniform is not defined when low >= high: low {self.low.detach()}, high {self.high.detach()}")

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        return constraints.interval(self.low, self.high)

    def _draw(self, shape: Any, generator: Any) -> Any:
        return self.low + (self.high - self.low) * ops._standard("uniform", self.low, self.high, shape, generator=generator)

    @property
    def mean(self) -> Any:
        return (self.low + self.high) / 2

    @property
    def mode(self) -> Any:
        return math.nan * self.high

    @property
    def variance(self) -> Any:
        return (self.high - self.low) ** 2 / 12

    @property
    def stddev(self) -> Any:
        return (self.high - self.low) / math.sqrt(12)

    def _log_prob(self, value: Any) -> Any:
        return ops.where(value < self.high, -ops.log(self.high - self.low), -math.inf) + ops.zeros_like(value)

    def _cdf(self, value: Any) -> Any:
        return (value - self.low) / (self.high - self.low)

    def _icdf(self, value: Any) -> Any:
        return self.low + (self.high - self.low) * value

    def entropy(self) -> Any:
        return ops.log(self.high - self.low)


class Beta(ExponentialFamily):
    """Beta distribution: the density x^(a - 1) (1 - x)^(b - 1) / B(a, b), with a = concentration1 and b = concentration0.

    Parameters
    ----------
    concentration1, concentration0 : array_like
        Positive.
    validate_args : bool, optional

    Notes
    -----
    `rsample` is the share of one gamma number in the sum of two, each with implicit derivatives.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Beta(1.0, 3.0).mean
    tensor(0.25)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast("Beta", concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    def _draw(self, shape: Any, generator: Any) -> Any:
        first, second = (log_gamma_draw(a, shape, generator) for a in (self.concentration1, self.concentration0))
        return ops.sigmoid(first - second)

    @property
    def _total(self) -> Any:
        return self.concentration1 + self.concentration0

    @property
    def mean(self) -> Any:
        return self.concentration1 / self._total

    @property
    def mode(self) -> Any:
        """The most probable value; NaN where both concentrations are below 1, as of `Dirichlet`."""
        a, b = self.concentration1, self.concentration0
        inner = (a > 1) & (b > 1)
        place = (a - 1) / ops.where(inner, self._total - 2, 1.0)
        return ops.where(inner, place, ops.where(a > b, 1.0, ops.where(a < b, 0.0, math.nan)))

    @property
    def variance(self) -> Any:
        total = self._total
        return self.concentration1 * self.concentration0 / (total * total * (total + 1))

    def _log_prob(self, value: Any) -> Any:
        a, b = self.concentration1, self.concentration0
        return xlogy(a - 1, value) + xlog1py(b - 1, -value) - betaln(a, b)

    def _cdf(self, value: Any) -> Any:
        return betainc(self.concentration1, self.concentration0, value)

    def _icdf(self, value: Any) -> Any:
        from ..scipy.special import betaincinv

        return betaincinv(self.concentration1, self.concentration0, value)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        return betaln(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b)

    @property
    def _natural_params(self) -> Any:
        return self.concentration1, self.concentration0

    @property
    def _mean_carrier_measure(self) -> Any:  # type: ignore[override]
        total = 2 * digamma(self._total)
        return total - digamma(self.concentration1) - digamma(self.concentration0)

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return betaln(x, y)


class ContinuousBernoulli(OfOdds, ExponentialFamily):
    """Continuous Bernoulli distribution: the density C(p) p^x (1 - p)^(1 - x) from 0 to 1.

    Parameters
    ----------
    probs : array_like
        p, between 0 and 1; or
    logits : array_like
        log(p / (1 - p)).
    lims : pair of float
        Without effect: near p = 1/2 a series is used that is exact to the last digits.
    validate_args : bool, optional

    References
    ----------
    Loaiza-Ganem and Cunningham, The continuous Bernoulli: fixing a pervasive error in variational autoencoders, 2019.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.ContinuousBernoulli(probs=0.5).log_prob(0.3)
    tensor(0.)
    """

    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: Any = (0.499, 0.501), validate_args: bool | None = None
    ) -> None:
        super().__init__(probs, logits, validate_args)

    # The density is exp(t x) / A'(t) with the logit t, A = log((exp(t) - 1) / t): a truncated exponential distribution.

    def _draw(self, shape: Any, generator: Any) -> Any:
        return self._icdf(ops._standard("uniform", 0.0, self.logits, shape, generator=generator))

    @property
    def mean(self) -> Any:
        return _slope(self.logits)

    @property
    def variance(self) -> Any:
        return _bend(self.logits)

    def _log_prob(self, value: Any) -> Any:
        return self.logits * value - _log_mean_exp(self.logits)

    def _cdf(self, value: Any) -> Any:
        t = self.logits
        flat = abs(t) < 1e-5
        t1 = ops.where(flat, 1.0, t)
        up = t1 > 0
        falling = ops.where(up, -t1, t1)  # for a large t both parts are divided by exp(t)
        steep = ops.where(
            up, ops.exp(-t1 * ops.where(up, 1 - value, 0.0)) - ops.exp(falling), ops.expm1(ops.where(up, 0.0, t1) * value)
        )
        steep = steep / ops.where(up, -ops.expm1(falling), ops.expm1(falling))
        return ops.where(flat, value * (1 + t * (value - 1) / 2), steep)

    def _icdf(self, value: Any) -> Any:
        t = self.logits
        flat = abs(t) < 1e-5
        t1 = ops.where(flat, 1.0, t)
        up = t1 > 0
        u = ops.where(up, 1 - value, value)  # of 1 - x, whose logit is -t
        x = ops.log1p(u * ops.expm1(-abs(t1))) / -abs(t1)
        return ops.where(flat, value * (1 - t * (value - 1) / 2), ops.where(up, 1 - x, x))

    def entropy(self) -> Any:
        return _log_mean_exp(self.logits) - self.logits * self.mean

    @property
    def _natural_params(self) -> Any:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        return _log_mean_exp(x)


def _even(t: Any, formula: Any, *coefficients: float) -> Any:
    """A function of t that is a power series of t^2 near 0, where its formula subtracts large numbers."""
    near = abs(t) < 0.5
    square = ops.where(near, t, 0.0) ** 2
    total: Any = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = total * square + coefficient
    return ops.where(near, total, formula(ops.where(near, 1.0, t)))


def _log_mean_exp(t: Any) -> Any:
    """log((exp(t) - 1) / t): the logarithm of the mean of exp(t x) for x between 0 and 1."""

    def formula(t: Any) -> Any:
        size = abs(t)
        return size / 2 + ops.log(-ops.expm1(-size) / size)

    return t / 2 + _even(t, formula, 0.0, 1 / 24, -1 / 2880, 1 / 181440, -1 / 9676800, 1 / 479001600, -691 / 15692092416000,
                         1 / 1046139494400)  # fmt: skip


def _slope(t: Any) -> Any:
    """The derivative of `_log_mean_exp`: the mean."""

    def formula(t: Any) -> Any:
        return 0.5 / ops.tanh(t / 2) - 1 / t

    near = abs(t) < 0.5
    small = ops.where(near, t, 0.0)
    series = _even(small, lambda t: t, 1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000,
                   1 / 74724249600)  # fmt: skip
    return 0.5 + ops.where(near, small * series, formula(ops.where(near, 1.0, t)))


def _bend(t: Any) -> Any:
    """The second derivative of `_log_mean_exp`: the variance."""

    def formula(t: Any) -> Any:
        half = ops.exp(-abs(t))
        return 1 / (t * t) - half / ops.expm1(-abs(t)) ** 2

    return _even(t, formula, 1 / 12, -1 / 240, 1 / 6048, -1 / 172800, 1 / 5322240, -691 / 118879488000, 1 / 5748019200)

"""Distributions on the positive numbers: Gamma and its kin, Exponential, HalfNormal, HalfCauchy and FisherSnedecor.

States constraints, densities, quantiles, random numbers and moments of each family, and gamma random numbers by their quantiles.
"""

from __future__ import annotations

import math
from typing import Any

from ..special import betaln, digamma, gammainc, gammaincinv, ndtri, xlogy
from ..special import gammaln as lgamma
from ..support.dispatch import ops
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .numbers import broadcast


def log_gamma_draw(a: Any, shape: Any, generator: Any) -> Any:
    """The logarithm of gamma random numbers of scale 1: the quantile of a uniform number, whose derivative is implicit.

    For a tiny quantile x, P(a, x) = x^a / Gamma(a + 1) to all digits, which gives a logarithm without underflow.
    """
    u = ops._standard("uniform", 0.0, a, shape, generator=generator)
    u = ops.where(u > 0, u, float(2.0**-54))
    low = (ops.log(u) + lgamma(a + 1)) / a
    tiny = low < -40
    return ops.where(tiny, low, ops.log(gammaincinv(a, ops.where(tiny, 0.5, u))))


def gamma_draw(a: Any, shape: Any, generator: Any) -> Any:
    """Gamma random numbers of scale 1, at least the smallest normal number, with implicit derivatives in a."""
    drawn = log_gamma_draw(a, shape, generator)
    least = math.log(1e-37 if drawn.dtype.itemsize < 8 else 1e-307)
    return ops.exp(ops.where(drawn > least, drawn, least))


class Gamma(ExponentialFamily):
    """Gamma distribution: the density rate^a x^(a - 1) exp(-rate x) / Gamma(a), with a the concentration.

    Parameters
    ----------
    concentration : array_like
        Shape parameter, positive.
    rate : array_like
        1 / scale, positive.
    validate_args : bool, optional

    Notes
    -----
    `rsample` takes quantiles of uniform numbers; its derivatives are theirs, and so implicit derivatives.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Gamma(2.0, 4.0).mean
    tensor(0.5)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast(type(self).__name__, concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    def _draw(self, shape: Any, generator: Any) -> Any:
        return gamma_draw(self.concentration, shape, generator) / self.rate

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ops.maximum((self.concentration - 1) / self.rate, 0.0)

    @property
    def variance(self) -> Any:
        return self.concentration / (self.rate * self.rate)

    def _log_prob(self, value: Any) -> Any:
        a, rate = self.concentration, self.rate
        return xlogy(a, rate) + xlogy(a - 1, value) - rate * value - lgamma(a)

    def _cdf(self, value: Any) -> Any:
        return gammainc(self.concentration, self.rate * value)

    def _icdf(self, value: Any) -> Any:
        return gammaincinv(self.concentration, value) / self.rate

    def entropy(self) -> Any:
        a = self.concentration
        return a - ops.log(self.rate) + lgamma(a) + (1 - a) * digamma(a)

    @property
    def _natural_params(self) -> Any:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return lgamma(x + 1) - (x + 1) * ops.log(-y)


class Chi2(Gamma):
    """Chi-squared distribution: Gamma(df / 2, 1/2).

    Parameters
    ----------
    df : array_like
        Degrees of freedom, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Chi2(3.0).variance
    tensor(6.)
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (self.df,) = broadcast("Chi2", df)
        Distribution.__init__(self, self.df.shape, validate_args=validate_args)

    @property
    def concentration(self) -> Any:  # type: ignore[override]
        """df / 2."""
        return self.df / 2

    @property
    def rate(self) -> Any:  # type: ignore[override]
        """1/2."""
        return ops.full_like(self.df, 0.5)


class Exponential(ExponentialFamily):
    """Exponential distribution: the density rate exp(-rate x).

    Parameters
    ----------
    rate : array_like
        1 / mean, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Exponential(2.0).log_prob(0.0).exp()
    tensor(2.)
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast("Exponential", rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    def _draw(self, shape: Any, generator: Any) -> Any:
        return ops._standard("exponential", 0.0, self.rate, shape, generator=generator) / self.rate

    @property
    def mean(self) -> Any:
        return 1 / self.rate

    @property
    def mode(self) -> Any:
        return ops.zeros_like(self.rate)

    @property
    def variance(self) -> Any:
        return self.rate**-2

    @property
    def stddev(self) -> Any:
        return 1 / self.rate

    def _log_prob(self, value: Any) -> Any:
        return ops.log(self.rate) - self.rate * value

    def _cdf(self, value: Any) -> Any:
        return -ops.expm1(-self.rate * value)

    def _icdf(self, value: Any) -> Any:
        return -ops.log1p(-value) / self.rate

    def entropy(self) -> Any:
        return 1 - ops.log(self.rate)

    @property
    def _natural_params(self) -> Any:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:
        return -ops.log(-x)


class _OfScale(Distribution):
    """The absolute value of a number that is symmetric about 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast(type(self).__name__, scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def mode(self) -> Any:
        return ops.zeros_like(self.scale)


class HalfNormal(_OfScale):
    """Absolute value of a normal number: the density sqrt(2 / pi) exp(-(x / scale)^2 / 2) / scale.

    Parameters
    ----------
    scale : array_like
        Standard deviation of the normal number, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.HalfNormal(1.0).cdf(1.0).round(6)
    tensor(0.682689)
    """

    def _draw(self, shape: Any, generator: Any) -> Any:
        return self.scale * abs(ops._standard("normal", 0.0, self.scale, shape, generator=generator))

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale**2 * (1 - 2 / math.pi)

    def _log_prob(self, value: Any) -> Any:
        z = value / self.scale
        return 0.5 * math.log(2 / math.pi) - 0.5 * z * z - ops.log(self.scale)

    def _cdf(self, value: Any) -> Any:
        return ops.erf(value / self.scale / math.sqrt(2))

    def _icdf(self, value: Any) -> Any:
        return -self.scale * ndtri((1 - value) / 2)

    def entropy(self) -> Any:
        return ops.log(self.scale) + 0.5 * math.log(math.pi / 2) + 0.5


class HalfCauchy(_OfScale):
    """Absolute value of a Cauchy number: the density 2 / (pi scale (1 + (x / scale)^2)).

    Parameters
    ----------
    scale : array_like
        Median, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.HalfCauchy(2.0).cdf(2.0)
    tensor(0.5)
    """

    def _draw(self, shape: Any, generator: Any) -> Any:
        return self._icdf(ops._standard("uniform", 0.0, self.scale, shape, generator=generator))

    @property
    def mean(self) -> Any:
        return ops.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Any:
        return ops.full_like(self.scale, math.inf)

    def _log_prob(self, value: Any) -> Any:
        z = value / self.scale
        return math.log(2 / math.pi) - ops.log(self.scale) - ops.log1p(z * z)

    def _cdf(self, value: Any) -> Any:
        return 2 / math.pi * ops.atan(value / self.scale)

    def _icdf(self, value: Any) -> Any:
        return self.scale * ops.tan(math.pi / 2 * value)

    def entropy(self) -> Any:
        return ops.log(2 * math.pi * self.scale)


class FisherSnedecor(Distribution):
    """F distribution: the quotient of two chi-squared numbers, each divided by its degrees of freedom.

    Parameters
    ----------
    df1, df2 : array_like
        Degrees of freedom of numerator and denominator, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.FisherSnedecor(2.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast("FisherSnedecor", df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    def _draw(self, shape: Any, generator: Any) -> Any:
        first, second = (log_gamma_draw(df / 2, shape, generator) for df in (self.df1, self.df2))
        return ops.exp(first - second) * (self.df2 / self.df1)

    @property
    def mean(self) -> Any:
        large = self.df2 > 2
        df2 = ops.where(large, self.df2, 3.0)
        return ops.where(large, df2 / (df2 - 2), math.nan)

    @property
    def mode(self) -> Any:
        return ops.where(self.df1 > 2, (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2), math.nan)

    @property
    def variance(self) -> Any:
        large = self.df2 > 4
        df2 = ops.where(large, self.df2, 5.0)
        return ops.where(large, 2 * df2**2 * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2) ** 2 * (df2 - 4)), math.nan)

    def _log_prob(self, value: Any) -> Any:
        a, b = self.df1 / 2, self.df2 / 2
        share = self.df1 / self.df2 * value
        return xlogy(a - 1, share) - (a + b) * ops.log1p(share) + ops.log(self.df1 / self.df2) - betaln(a, b)

    def _cdf(self, value: Any) -> Any:
        share = self.df1 * value
        return ops.betainc(self.df1 / 2, self.df2 / 2, share / (share + self.df2))

    def _icdf(self, value: Any) -> Any:
        from ..scipy.special import betaincinv

        share = betaincinv(self.df1 / 2, self.df2 / 2, value)
        return self.df2 / self.df1 * share / (1 - share)

"""Distributions that are images of others: LogNormal, Weibull, Pareto, InverseGamma, Kumaraswamy, LogisticNormal and more.

Defines their parameters and moments; densities and random numbers follow from the base and the transforms.
"""

from __future__ import annotations

import math
from typing import Any

from ..special import digamma, gammaincc
from ..special import gammaln as lgamma
from ..support.dispatch import ops
from . import constraints
from .composite import TransformedDistribution
from .distribution import Distribution
from .elementwise_transforms import AffineTransform, ExpTransform, PowerTransform
from .half_line import Exponential, Gamma
from .interval import Uniform
from .numbers import alias, broadcast
from .transforms_of_vectors import StickBreakingTransform
from .whole_line import EULER, Normal


class _Image(TransformedDistribution):
    """A transformed distribution with parameters of its own; `_parts` makes the base and the transforms from them."""

    has_rsample: Any = True

    def __init__(self, validate_args: bool | None, **parameters: Any) -> None:
        self.__dict__.update(zip(parameters, broadcast(type(self).__name__, *parameters.values())))
        base, transforms = self._parts()
        Distribution.__init__(self, base.batch_shape, validate_args=validate_args)  # whose messages name these parameters
        super().__init__(base, transforms, validate_args=validate_args)

    def _parts(self) -> Any:
        raise NotImplementedError

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = Distribution.expand(self, batch_shape, _instance)
        base, new.transforms = new._parts()
        new.base_dist = base
        return new

    def __repr__(self) -> str:
        return Distribution.__repr__(self)


class LogNormal(_Image):
    """Exponential of a normal number.

    Parameters
    ----------
    loc : array_like
        Mean of the logarithm.
    scale : array_like
        Standard deviation of the logarithm, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.LogNormal(0.0, 1.0).cdf(1.0)
    tensor(0.5)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.positive

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, loc=loc, scale=scale)

    def _parts(self) -> Any:
        return Normal(self.loc, self.scale, validate_args=False), [ExpTransform()]

    @property
    def mean(self) -> Any:
        return ops.exp(self.loc + self.scale**2 / 2)

    @property
    def mode(self) -> Any:
        return ops.exp(self.loc - self.scale**2)

    @property
    def variance(self) -> Any:
        square = self.scale**2
        return ops.expm1(square) * ops.exp(2 * self.loc + square)

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class Weibull(_Image):
    """Weibull distribution: the probability of more than x is exp(-(x / scale)^k), with k the concentration.

    Parameters
    ----------
    scale, concentration : array_like
        Positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support: Any = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, scale=scale, concentration=concentration)

    def _parts(self) -> Any:
        base = Exponential(ops.ones_like(self.scale), validate_args=False)
        return base, [PowerTransform(1 / self.concentration), AffineTransform(0, self.scale)]

    @property
    def mean(self) -> Any:
        return self.scale * ops.exp(lgamma(1 + 1 / self.concentration))

    @property
    def mode(self) -> Any:
        above = self.concentration > 1
        k = ops.where(above, self.concentration, 2.0)
        return ops.where(above, self.scale * ((k - 1) / k) ** (1 / k), 0.0)

    @property
    def variance(self) -> Any:
        first, second = lgamma(1 + 1 / self.concentration), lgamma(1 + 2 / self.concentration)
        return self.scale**2 * ops.exp(2 * first) * ops.expm1(second - 2 * first)

    def entropy(self) -> Any:
        return EULER * (1 - 1 / self.concentration) + ops.log(self.scale / self.concentration) + 1


class Pareto(_Image):
    """Pareto distribution: the probability of more than x is (scale / x)^alpha, for x from scale on.

    Parameters
    ----------
    scale, alpha : array_like
        Positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Pareto(1.0, 2.0).mean
    tensor(2.)
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, scale=scale, alpha=alpha)

    def _parts(self) -> Any:
        return Exponential(self.alpha, validate_args=False), [ExpTransform(), AffineTransform(0, self.scale)]

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        large = self.alpha > 1
        alpha = ops.where(large, self.alpha, 2.0)
        return ops.where(large, alpha * self.scale / (alpha - 1), math.inf)

    mode = alias("scale")

    @property
    def variance(self) -> Any:
        large = self.alpha > 2
        alpha = ops.where(large, self.alpha, 3.0)
        return ops.where(large, self.scale**2 * alpha / ((alpha - 1) ** 2 * (alpha - 2)), math.inf)

    def entropy(self) -> Any:
        return ops.log(self.scale / self.alpha) + (1 + 1 / self.alpha)


class InverseGamma(_Image):
    """Inverse of a gamma number: the density rate^a x^(-a - 1) exp(-rate / x) / Gamma(a), with a the concentration.

    Parameters
    ----------
    concentration, rate : array_like
        Positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support: Any = constraints.positive

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, concentration=concentration, rate=rate)

    def _parts(self) -> Any:
        return Gamma(self.concentration, self.rate, validate_args=False), [PowerTransform(-1.0)]

    def _cdf(self, value: Any) -> Any:
        return gammaincc(self.concentration, self.rate / value)

    def _icdf(self, value: Any) -> Any:
        from ..scipy.special import gammainccinv

        return self.rate / gammainccinv(self.concentration, value)

    @property
    def mean(self) -> Any:
        large = self.concentration > 1
        return ops.where(large, self.rate / ops.where(large, self.concentration - 1, 1.0), math.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        large = self.concentration > 2
        a = ops.where(large, self.concentration, 3.0)
        return ops.where(large, self.rate**2 / ((a - 1) ** 2 * (a - 2)), math.inf)

    def entropy(self) -> Any:
        a = self.concentration
        return a + ops.log(self.rate) + lgamma(a) - (1 + a) * digamma(a)


class Kumaraswamy(_Image):
    """Kumaraswamy distribution: the probability of at most x is 1 - (1 - x^a)^b, for x from 0 to 1.

    Parameters
    ----------
    concentration1, concentration0 : array_like
        a and b, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Kumaraswamy(1.0, 2.0).cdf(0.5)
    tensor(0.75)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support: Any = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, concentration1=concentration1, concentration0=concentration0)

    def _parts(self) -> Any:
        base = Uniform(ops.zeros_like(self.concentration0), 1.0, validate_args=False)
        return base, [
            PowerTransform(1 / self.concentration0),
            AffineTransform(1.0, -1.0),
            PowerTransform(1 / self.concentration1),
        ]

    def _cdf(self, value: Any) -> Any:
        return -ops.expm1(self.concentration0 * ops.log1p(-(value**self.concentration1)))

    def _icdf(self, value: Any) -> Any:
        return (-ops.expm1(ops.log1p(-value) / self.concentration0)) ** (1 / self.concentration1)

    def _moment(self, order: int) -> Any:
        a, b = 1 + order / self.concentration1, self.concentration0
        return b * ops.exp(lgamma(a) + lgamma(b) - lgamma(a + b))

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        inner = (a >= 1) & (b >= 1) & (a * b > 1)
        share = (a - 1) / ops.where(inner, a * b - 1, 1.0)
        return ops.where(inner, ops.where(inner, share, 0.5) ** (1 / a), math.nan)

    @property
    def variance(self) -> Any:
        return self._moment(2) - self.mean**2

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        return (1 - 1 / b) + (1 - 1 / a) * (digamma(b + 1) + EULER) - ops.log(a) - ops.log(b)


class LogisticNormal(TransformedDistribution):
    """A point of the simplex of n + 1 numbers: the `StickBreakingTransform` of n normal numbers.

    Parameters
    ----------
    loc : array_like
        Means of the normal numbers.
    scale : array_like
        Standard deviations, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.LogisticNormal(gs.zeros((2,)), 1.0).event_shape
    (3,)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.simplex
    has_rsample: Any = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    loc = alias("base_dist.base_dist.loc", "Means of the normal numbers.")
    scale = alias("base_dist.base_dist.scale", "Standard deviations of the normal numbers.")

"""Distributions on all real numbers: Normal, Laplace, Cauchy, Gumbel, StudentT and VonMises.

States constraints, densities, quantiles, random numbers and moments of each family; formulas are the usual ones of textbooks.
"""

from __future__ import annotations

import math
from typing import Any

from ..core.conversion import asarray
from ..func import stop_gradient
from ..scipy.values import implicit
from ..special import digamma, i0e, i1e, log_ndtr, ndtr, ndtri
from ..special import gammaln as lgamma
from ..support.dispatch import ops
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .half_line import Chi2
from .numbers import alias, broadcast

EULER = 0.57721566490153286
HALF_LOG_2PI = math.log(2 * math.pi) / 2


class _LocationScale(Distribution):
    """A distribution of loc + scale * z, with z a standard number; `_standard` names its operator of random numbers."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _standard: str

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast(type(self).__name__, loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def _draw(self, shape: Any, generator: Any) -> Any:
        return self.loc + self.scale * ops._standard(self._standard, self.loc, self.scale, shape, generator=generator)

    def _z(self, value: Any) -> Any:
        return (value - self.loc) / self.scale

    mean = alias("loc")
    mode = alias("loc")


class Normal(_LocationScale, ExponentialFamily):
    """Normal distribution: the density exp(-((x - loc) / scale)^2 / 2) / (scale sqrt(2 pi)).

    Parameters
    ----------
    loc : array_like
        Mean.
    scale : array_like
        Standard deviation, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Normal(0.0, 1.0).log_prob([0.0, 1.0])
    tensor([-0.91893853, -1.41893853])
    >>> gs.grad(lambda loc: gs.distributions.Normal(loc, 2.0).log_prob(1.0))(0.0)
    tensor(0.25)
    """

    _standard = "normal"
    _mean_carrier_measure = -HALF_LOG_2PI

    @property
    def variance(self) -> Any:
        return self.scale * self.scale

    stddev = alias("scale")

    def _log_prob(self, value: Any) -> Any:
        z = self._z(value)
        return -0.5 * z * z - ops.log(self.scale) - HALF_LOG_2PI

    def _cdf(self, value: Any) -> Any:
        return ndtr(self._z(value))

    def log_cdf(self, value: Any) -> Any:
        """log(cdf), far in the left tail too.

        Parameters
        ----------
        value : array_like or Tensor

        Returns
        -------
        Tensor
        """
        return log_ndtr(self._z(self._as_value(value)))

    def _icdf(self, value: Any) -> Any:
        return self.loc + self.scale * ndtri(value)

    def entropy(self) -> Any:
        return 0.5 + HALF_LOG_2PI + ops.log(self.scale)

    @property
    def _natural_params(self) -> Any:
        return self.loc / self.variance, -0.5 / self.variance

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return -x * x / (4 * y) - 0.5 * ops.log(-2 * y)


class Laplace(_LocationScale):
    """Laplace distribution: the density exp(-abs(x - loc) / scale) / (2 scale).

    Parameters
    ----------
    loc : array_like
        Mean.
    scale : array_like
        Positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Laplace(0.0, 0.5).log_prob(1.0)
    tensor(-2.)
    """

    _standard = "laplace"

    @property
    def variance(self) -> Any:
        return 2 * self.scale * self.scale

    @property
    def stddev(self) -> Any:
        return math.sqrt(2) * self.scale

    def _log_prob(self, value: Any) -> Any:
        return -abs(self._z(value)) - ops.log(2 * self.scale)

    def _cdf(self, value: Any) -> Any:
        z = self._z(value)
        tail = 0.5 * ops.exp(-abs(z))
        return ops.where(z < 0, tail, 1 - tail)

    def _icdf(self, value: Any) -> Any:
        low = value < 0.5
        tail = ops.log(2 * ops.where(low, value, 1 - value))
        return self.loc + self.scale * ops.where(low, tail, -tail)

    def entropy(self) -> Any:
        return 1 + ops.log(2 * self.scale)


class Cauchy(_LocationScale):
    """Cauchy distribution: the density 1 / (pi scale (1 + ((x - loc) / scale)^2)).

    Parameters
    ----------
    loc : array_like
        Median.
    scale : array_like
        Half width at half maximum, positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Cauchy(0.0, 1.0).cdf(1.0)
    tensor(0.75)
    """

    def _draw(self, shape: Any, generator: Any) -> Any:
        return self._icdf(ops._standard("uniform", self.loc, self.scale, shape, generator=generator))

    @property
    def mean(self) -> Any:
        return ops.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Any:
        return ops.full_like(self.loc, math.inf)

    def _log_prob(self, value: Any) -> Any:
        z = self._z(value)
        return -math.log(math.pi) - ops.log(self.scale) - ops.log1p(z * z)

    def _cdf(self, value: Any) -> Any:
        return ops.atan2(ops.ones_like(self.loc), -self._z(value)) / math.pi

    def _icdf(self, value: Any) -> Any:
        return self.loc + self.scale * ops.tan(math.pi * (value - 0.5))

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + ops.log(self.scale)


class Gumbel(_LocationScale):
    """Gumbel distribution of maxima: the probability of at most x is exp(-exp(-(x - loc) / scale)).

    Parameters
    ----------
    loc : array_like
        Mode.
    scale : array_like
        Positive.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Gumbel(0.0, 1.0).log_prob(0.0)
    tensor(-1.)
    """

    _standard = "gumbel"

    @property
    def mean(self) -> Any:
        return self.loc + EULER * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev * self.stddev

    @property
    def stddev(self) -> Any:
        return math.pi / math.sqrt(6) * self.scale

    def _log_prob(self, value: Any) -> Any:
        z = self._z(value)
        return -z - ops.exp(-z) - ops.log(self.scale)

    def _cdf(self, value: Any) -> Any:
        return ops.exp(-ops.exp(-self._z(value)))

    def _icdf(self, value: Any) -> Any:
        return self.loc - self.scale * ops.log(-ops.log(value))

    def entropy(self) -> Any:
        return ops.log(self.scale) + (1 + EULER)


class StudentT(Distribution):
    """Student's t distribution: loc + scale * z / sqrt(v / df), with z a standard normal and v a chi-squared number.

    Parameters
    ----------
    df : array_like
        Degrees of freedom, positive.
    loc, scale : array_like
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.StudentT(1.0).cdf(1.0)
    tensor(0.75)
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast("StudentT", df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    def _draw(self, shape: Any, generator: Any) -> Any:
        normal = ops._standard("normal", self.loc, self.scale, shape, generator=generator)
        squares = Chi2(self.df, validate_args=False)._draw(shape, generator)
        return self.loc + self.scale * normal * ops.sqrt(self.df / squares)

    @property
    def mean(self) -> Any:
        return ops.where(self.df > 1, self.loc, math.nan)

    mode = alias("loc")

    @property
    def variance(self) -> Any:
        large = self.df > 2
        df = ops.where(large, self.df, 3.0)
        return ops.where(large, self.scale**2 * df / (df - 2), ops.where(self.df > 1, ops.full_like(df, math.inf), math.nan))

    def _log_prob(self, value: Any) -> Any:
        z, df = (value - self.loc) / self.scale, self.df
        return (-0.5 * (df + 1) * ops.log1p(z * z / df) + lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * ops.log(math.pi * df)
                - ops.log(self.scale))  # fmt: skip

    def _cdf(self, value: Any) -> Any:
        return ops.stdtr(self.df, (value - self.loc) / self.scale)

    def _icdf(self, value: Any) -> Any:
        from ..scipy.special import stdtrit

        return self.loc + self.scale * stdtrit(self.df, value)

    def entropy(self) -> Any:
        df = self.df
        return (ops.log(self.scale) + 0.5 * (df + 1) * (digamma((df + 1) / 2) - digamma(df / 2)) + 0.5 * ops.log(df)
                + lgamma(df / 2) + math.log(math.pi) / 2 - lgamma((df + 1) / 2))  # fmt: skip


def _circle_density(x: Any, k: Any) -> Any:
    """The density at an angle x from the mode."""
    return ops.exp(-2 * k * ops.sin(x / 2) ** 2 - 2 * HALF_LOG_2PI) / i0e(k)


def _circle_cdf(x: Any, k: Any) -> Any:
    """The probability from the left end to x, by Gauss-Legendre quadrature.

    From 14 / sqrt(k) on the density is below 1e-16 of its maximum: the interval begins there, or at -pi.
    """
    import numpy.polynomial

    nodes, weights = (asarray(array / 2, dtype=x.dtype) for array in numpy.polynomial.legendre.leggauss(100))
    left = ops.minimum(math.pi, 14 / ops.sqrt(stop_gradient(k)))
    width = x + left
    places = -left[..., None] + width[..., None] * (nodes + 0.5)
    return width * ops.sum(_circle_density(places, k[..., None]) * weights, -1)


class VonMises(Distribution):
    """Von Mises distribution of an angle: the density exp(k cos(x - loc)) / (2 pi I0(k)) from -pi to pi.

    Parameters
    ----------
    loc : array_like
        An angle in radians.
    concentration : array_like
        k, positive.
    validate_args : bool, optional

    Notes
    -----
    `variance` is that of an angle, 1 - I1(k) / I0(k).  `rsample`, which PyTorch does not offer, has the derivatives of the
    quantile; its numbers are SciPy's.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.VonMises(0.0, 1.0).log_prob(0.0).round(6)
    tensor(-1.073791)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast("VonMises", loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def _log_prob(self, value: Any) -> Any:
        k = self.concentration
        half = ops.sin((value - self.loc) / 2)
        return -2 * k * half * half - 2 * HALF_LOG_2PI - ops.log(i0e(k))

    def _draw(self, shape: Any, generator: Any) -> Any:
        from ..scipy.stats import vonmises

        k = stop_gradient(self.concentration)
        angle = stop_gradient(vonmises.rvs(k, size=shape, random_state=generator))
        drawn = self.loc + implicit(lambda angle, *_: angle, _circle_cdf, _circle_density)(angle, self.concentration)
        turns = ops.floor((drawn.detach() + math.pi) / (2 * math.pi))
        return drawn - 2 * math.pi * turns

    mean = alias("loc")
    mode = alias("loc")

    @property
    def variance(self) -> Any:
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def entropy(self) -> Any:
        k = self.concentration
        return 2 * HALF_LOG_2PI + ops.log(i0e(k)) + k * self.variance

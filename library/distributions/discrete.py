"""Distributions of whole numbers: Bernoulli, Geometric, Poisson, Binomial and NegativeBinomial.

States constraints, probabilities, random numbers and moments of each family.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..func import stop_gradient
from ..special import betainc, gammaincc, xlog1py, xlogy
from ..special import gammaln as lgamma
from ..support.dispatch import ops
from . import constraints
from .distribution import Distribution, ExponentialFamily, Paired
from .numbers import alias, broadcast, known, one_of


def softplus(x: Any) -> Any:
    """log(1 + exp(x))."""
    return ops.logaddexp(0.0, x)


def _below(value: Any, probs: Any, generator: Any) -> Any:
    """Whether uniform numbers are below probabilities."""
    uniform = ops._standard("uniform", 0.0, probs, value, generator=generator)
    return ops.astype(uniform < stop_gradient(probs), probs.dtype)


class OfOdds(Paired, Distribution):
    """A distribution with the parameter `probs` or `logits`, each a number."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._given, value = one_of(type(self).__name__, probs, logits)
        (value,) = broadcast(type(self).__name__, value)
        self.__dict__[self._given] = value
        super().__init__(value.shape, validate_args=validate_args)

    param_shape = alias("batch_shape", "The shape of `probs`.")

    def _log_odds(self, successes: Any, failures: Any) -> Any:
        """The logarithm of p^successes (1 - p)^failures, from the parameter that was given."""
        if self._given == "probs":
            return xlogy(successes, self.probs) + xlog1py(failures, -self.probs)
        return -successes * softplus(-self.logits) - failures * softplus(self.logits)


class Bernoulli(OfOdds, ExponentialFamily):
    """Bernoulli distribution: 1 with probability p, else 0.

    Parameters
    ----------
    probs : array_like
        p, between 0 and 1; or
    logits : array_like
        log(p / (1 - p)).
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Bernoulli(probs=0.25).log_prob(1.0).exp()
    tensor(0.25)
    """

    support = constraints.boolean
    has_enumerate_support = True

    mean = alias("probs")

    @property
    def mode(self) -> Any:
        return ops.where(self.probs == 0.5, math.nan, ops.astype(self.probs > 0.5, self.probs.dtype))

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def _draw(self, shape: Any, generator: Any) -> Any:
        return _below(shape, self.probs, generator)

    def _log_prob(self, value: Any) -> Any:
        return self._log_odds(value, 1 - value)

    def entropy(self) -> Any:
        return -self._log_odds(self.probs, 1 - self.probs)

    def _values(self) -> Any:
        return ops.arange(2, dtype=self._dtype)

    @property
    def _natural_params(self) -> Any:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        return softplus(x)


class Geometric(OfOdds):
    """Geometric distribution: the number of failures before the first success, of probability p.

    Parameters
    ----------
    probs : array_like
        p, above 0 and at most 1; or
    logits : array_like
        log(p / (1 - p)).
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Geometric(probs=0.25).mean
    tensor(3.)
    """

    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        if self._given == "probs" and self._validate_args and known(self.probs > 0) is False:
            raise ValueError(f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of "
                             f"distribution {self!r} to be positive but found invalid values:\n"
                             f"{stop_gradient(self.probs)}")  # fmt: skip

    @property
    def mean(self) -> Any:
        return 1 / self.probs - 1 if self._given == "probs" else ops.exp(-self.logits)

    @property
    def mode(self) -> Any:
        return ops.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return self.mean / self.probs

    def _draw(self, shape: Any, generator: Any) -> Any:
        exponential = ops._standard("exponential", 0.0, self.probs, shape, generator=generator)
        rate = -ops.log1p(-self.probs) if self._given == "probs" else softplus(self.logits)
        return ops.floor(exponential / rate)

    def _log_prob(self, value: Any) -> Any:
        return self._log_odds(1.0, value)

    def entropy(self) -> Any:
        return -self._log_odds(1.0, self.mean)


class Poisson(ExponentialFamily):
    """Poisson distribution: the probability rate^x exp(-rate) / x!.

    Parameters
    ----------
    rate : array_like
        Mean, not negative.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Poisson(2.0).log_prob(0.0)
    tensor(-2.)
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast("Poisson", rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    mean = alias("rate")

    @property
    def mode(self) -> Any:
        return ops.floor(self.rate)

    variance = alias("rate")

    def _draw(self, shape: Any, generator: Any) -> Any:
        return ops.astype(ops.poisson(stop_gradient(self.rate), shape, generator=generator), self.rate.dtype)

    def _log_prob(self, value: Any) -> Any:
        return xlogy(value, self.rate) - self.rate - lgamma(value + 1)

    def _cdf(self, value: Any) -> Any:
        return gammaincc(ops.floor(value) + 1, self.rate)

    @property
    def _natural_params(self) -> Any:
        return (ops.log(self.rate),)

    def _log_normalizer(self, x: Any) -> Any:
        return ops.exp(x)

    def entropy(self) -> Any:
        raise self._lacks("entropy")


class _Counted(OfOdds):
    """A distribution with a total count beside the odds."""

    def __init__(self, total_count: Any, probs: Any, logits: Any, validate_args: bool | None) -> None:
        self._given, value = one_of(type(self).__name__, probs, logits)
        self.total_count, value = broadcast(type(self).__name__, total_count, value)
        self.__dict__[self._given] = value
        Distribution.__init__(self, value.shape, validate_args=validate_args)


class Binomial(_Counted):
    """Binomial distribution: the number of successes, of probability p, in `total_count` trials.

    Parameters
    ----------
    total_count : array_like
        Whole numbers.
    probs : array_like
        p, between 0 and 1; or
    logits : array_like
        log(p / (1 - p)).
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Binomial(4, probs=0.5).log_prob(2.0).exp().round(6)
    tensor(0.375)
    """

    arg_constraints = {"total_count": constraints.nonnegative_integer, **OfOdds.arg_constraints}
    has_enumerate_support = True

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(total_count, probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ops.minimum(ops.floor((self.total_count + 1) * self.probs), self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def _draw(self, shape: Any, generator: Any) -> Any:
        counts = ops.astype(stop_gradient(self.total_count), np.int64)
        return ops.astype(ops.binomial(counts, stop_gradient(self.probs), shape, generator=generator), self._dtype)

    def _log_prob(self, value: Any) -> Any:
        n = self.total_count
        choices = lgamma(n + 1) - lgamma(value + 1) - lgamma(n - value + 1)
        return choices + self._log_odds(value, n - value)

    def _values(self) -> Any:
        total = int(stop_gradient(ops.max(self.total_count)).numpy())
        if known(self.total_count == total) is False:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return ops.arange(total + 1, dtype=self._dtype)

    def entropy(self) -> Any:
        return -ops.sum(ops.exp(lp := self.log_prob(self.enumerate_support(False))) * ops.where(lp == -math.inf, 0.0, lp), 0)


class NegativeBinomial(_Counted):
    """Negative binomial distribution: the number of successes, of probability p, before `total_count` failures.

    Parameters
    ----------
    total_count : array_like
        Not negative, and need not be whole.
    probs : array_like
        p, from 0 up to but not including 1; or
    logits : array_like
        log(p / (1 - p)).
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.NegativeBinomial(2, probs=0.5).mean
    tensor(2.)
    """

    arg_constraints = {"total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
                       "logits": constraints.real}  # fmt: skip
    support = constraints.nonnegative_integer

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(total_count, probs, logits, validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * ops.exp(self.logits)

    @property
    def mode(self) -> Any:
        return ops.maximum(ops.floor((self.total_count - 1) * ops.exp(self.logits)), 0.0)

    @property
    def variance(self) -> Any:
        return self.mean * (1 + ops.exp(self.logits))

    def _draw(self, shape: Any, generator: Any) -> Any:
        from .half_line import gamma_draw

        none = self.total_count == 0
        rate = gamma_draw(ops.where(none, 1.0, self.total_count), shape, generator) * ops.exp(self.logits)
        rate = stop_gradient(ops.where(none, 0.0, rate))
        return ops.astype(ops.poisson(rate, shape, generator=generator), self._dtype)

    def _log_prob(self, value: Any) -> Any:
        n = self.total_count
        ways = lgamma(n + value) - lgamma(value + 1) - lgamma(n)
        ways = ops.where(n + value == 0, 0.0, ways)
        return ways + self._log_odds(value, n)

    def _cdf(self, value: Any) -> Any:
        return betainc(self.total_count, ops.floor(value) + 1, 1 - self.probs)

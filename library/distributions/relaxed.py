"""Relaxed discrete distributions: numbers near 0 and 1, and points near the corners of a simplex, with derivatives.

Defines densities and random numbers by logits; a temperature says how near.  The method is that of Maddison, Mnih and Teh, The
concrete distribution, 2017, and of Jang, Gu and Poole, Categorical reparameterization with Gumbel-softmax, 2017.
"""

from __future__ import annotations

from typing import Any

import gradspec  # noqa: F401 (waits for it)

from ..special import gammaln as lgamma
from ..support.dispatch import ops
from . import constraints
from .categorical import Categorical, OfCategorical
from .composite import TransformedDistribution
from .discrete import OfOdds
from .elementwise_transforms import ExpTransform, SigmoidTransform
from .numbers import alias, reals


class LogitRelaxedBernoulli(OfOdds):
    """The logit of `RelaxedBernoulli`: (logits + logistic noise) / temperature.

    Parameters
    ----------
    temperature : array_like
        Positive.
    probs : array_like
        Between 0 and 1; or
    logits : array_like
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.relaxed.LogitRelaxedBernoulli(1.0, logits=0.0).log_prob(0.0).exp()
    tensor(0.25)
    """

    support = constraints.real
    has_rsample = True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (self.temperature,) = reals("LogitRelaxedBernoulli", temperature)
        super().__init__(probs, logits, validate_args)

    def _draw(self, shape: Any, generator: Any) -> Any:
        return (self.logits + ops._standard("logistic", 0.0, self.logits, shape, generator=generator)) / self.temperature

    def _log_prob(self, value: Any) -> Any:
        z = self.logits - value * self.temperature
        return ops.log(self.temperature) + z - 2 * ops.logaddexp(0.0, z)


class _Relaxed(TransformedDistribution):
    """The image of a distribution of logits, whose parameters are its own."""

    has_rsample: Any = True

    temperature = alias("base_dist.temperature", "How near the corners the numbers are: the nearer, the lower it is.")
    probs = alias("base_dist.probs", "Probabilities of the discrete distribution.")
    logits = alias("base_dist.logits", "Logits of the discrete distribution.")


class RelaxedBernoulli(_Relaxed):
    """A number between 0 and 1 that tends to `Bernoulli` as the temperature tends to 0.

    Parameters
    ----------
    temperature : array_like
        Positive.
    probs : array_like
        Between 0 and 1; or
    logits : array_like
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.RelaxedBernoulli(1.0, probs=0.5).log_prob(0.25).exp().round(6)
    tensor(1.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: Any = constraints.unit_interval

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits, validate_args), SigmoidTransform(), validate_args)


class ExpRelaxedCategorical(OfCategorical):
    """The logarithm of `RelaxedOneHotCategorical`: log_softmax((logits + Gumbel noise) / temperature).

    Parameters
    ----------
    temperature : array_like
        Positive.
    probs : array_like
        Weights along the last axis; or
    logits : array_like
        Their logarithms.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.relaxed.ExpRelaxedCategorical(1.0, probs=[0.5, 0.5]).event_shape
    (2,)
    """

    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (self.temperature,) = reals("ExpRelaxedCategorical", temperature)
        self._categorical = Categorical(probs, logits, validate_args)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def _draw(self, shape: Any, generator: Any) -> Any:
        noise = ops._standard("gumbel", 0.0, self.logits, shape, generator=generator)
        return ops.log_softmax((self.logits + noise) / self.temperature, -1)

    def _log_prob(self, value: Any) -> Any:
        count = self.event_shape[0]
        scores = ops.log_softmax(self.logits - value * self.temperature, -1)
        constant = lgamma(ops.full_like(self.temperature, float(count))) + (count - 1) * ops.log(self.temperature)
        return ops.sum(scores, -1) + constant


class RelaxedOneHotCategorical(_Relaxed):
    """A point of the simplex that tends to `OneHotCategorical` as the temperature tends to 0.

    Parameters
    ----------
    temperature : array_like
        Positive.
    probs : array_like
        Weights along the last axis; or
    logits : array_like
        Their logarithms.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.RelaxedOneHotCategorical(1.0, probs=[0.5, 0.5]).log_prob([0.5, 0.5]).round(6).exp().round(4)
    tensor(1.)
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support: Any = constraints.simplex

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(ExpRelaxedCategorical(temperature, probs, logits, validate_args), ExpTransform(), validate_args)

"""Distributions of an index: Categorical, OneHotCategorical, and Multinomial, which counts indices.

States constraints, probabilities, random numbers and moments of each family.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..func import stop_gradient
from ..special import gammaln as lgamma
from ..support.dispatch import ops
from . import constraints
from .discrete import Binomial
from .distribution import Distribution
from .numbers import alias, broadcast, lazy, one_of


class Categorical(Distribution):
    """Distribution of an index: the last axis of the parameter holds the weight of each index.

    Parameters
    ----------
    probs : array_like
        Weights, not negative; they are divided by their sum; or
    logits : array_like
        Logarithms of weights.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Categorical(probs=[1.0, 3.0]).log_prob(1).exp()
    tensor(0.75)
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        name = type(self).__name__
        self._given, value = one_of(name, probs, logits)
        (value,) = broadcast(name, value)
        if value.ndim < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        if self._given == "probs":
            self.__dict__["probs"] = value / ops.sum(value, -1, keepdims=True)
        else:
            self.__dict__["logits"] = ops.log_softmax(value, -1)
        self._num_events = value.shape[-1]
        event = (self._num_events,) if isinstance(self, OneHotCategorical) else ()
        super().__init__(value.shape[:-1], event, validate_args=validate_args)

    @lazy
    def probs(self) -> Any:
        """Probabilities, which sum to 1."""
        return ops.exp(self.logits)

    @lazy
    def logits(self) -> Any:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return ops.log(self.probs)

    @property
    def param_shape(self) -> Any:
        """The shape of `probs`."""
        return (*self.batch_shape, self._num_events)

    @constraints.dependent_property(is_discrete=True)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Any:
        return ops.full(self.batch_shape, math.nan, dtype=self._dtype)

    @property
    def mode(self) -> Any:
        return ops.argmax(self.probs, -1)

    variance = alias("mean")

    def _places(self, shape: Any, generator: Any) -> Any:
        """Indices: the places of the greatest sums of logarithms and Gumbel numbers."""
        return ops.argmax(self._gumbels(shape, generator), -1)

    def _gumbels(self, shape: Any, generator: Any) -> Any:
        shape = (*shape, self._num_events)
        return stop_gradient(self.logits) + ops._standard("gumbel", 0.0, self.logits, shape, generator=generator)

    def _draw(self, shape: Any, generator: Any) -> Any:
        return self._places(shape, generator)

    def _as_value(self, value: Any) -> Any:
        return asarray(value)

    def _log_prob(self, value: Any) -> Any:
        value = ops.astype(value, np.int64)
        shape = ops.broadcast_to(ops.zeros((), dtype=self._dtype), value.shape) + ops.zeros(self.batch_shape)
        place = ops.expand_dims(ops.broadcast_to(ops.clip(value, 0, self._num_events - 1), shape.shape), -1)
        logits = ops.broadcast_to(self.logits, (*shape.shape, self._num_events))
        return ops.squeeze(ops.take_along_axis(logits, place, -1), -1)

    def entropy(self) -> Any:
        return _mean_of_minus(self.logits, self.probs)

    def _values(self) -> Any:
        return ops.arange(self._num_events)


def _mean_of_minus(logits: Any, probs: Any) -> Any:
    """The mean of -logits, where an index of probability 0 counts nothing."""
    return -ops.sum(probs * ops.where(probs == 0, 0.0, logits), -1)


class OneHotCategorical(Categorical):
    """Distribution of a vector of zeros with a single 1, at an index of `Categorical`.

    Parameters
    ----------
    probs : array_like
        Weights, not negative; they are divided by their sum; or
    logits : array_like
        Logarithms of weights.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.OneHotCategorical(probs=[1.0, 3.0]).mean
    tensor([0.25, 0.75])
    """

    support: Any = constraints.one_hot

    mean = alias("probs")

    @property
    def mode(self) -> Any:
        return ops.one_hot(ops.argmax(self.probs, -1), self._num_events, dtype=self._dtype)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def _as_value(self, value: Any) -> Any:
        return Distribution._as_value(self, value)

    def _draw(self, shape: Any, generator: Any) -> Any:
        return ops.one_hot(self._places(shape[:-1], generator), self._num_events, dtype=self._dtype)

    def _log_prob(self, value: Any) -> Any:
        return ops.sum(ops.where(value == 0, 0.0, self.logits) * value, -1)

    def _values(self) -> Any:
        return ops.eye(self._num_events, dtype=self._dtype)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` whose `rsample` has the derivatives of `probs`: the straight-through estimate, which is biased.

    Parameters
    ----------
    probs, logits : array_like
        As of `OneHotCategorical`.
    validate_args : bool, optional

    References
    ----------
    Bengio, Leonard and Courville, Estimating or propagating gradients through stochastic neurons, 2013.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.OneHotCategoricalStraightThrough(probs=[0.0, 1.0]).rsample()
    tensor([0., 1.])
    """

    has_rsample = True

    def _draw(self, shape: Any, generator: Any) -> Any:
        return super()._draw(shape, generator) + (self.probs - stop_gradient(self.probs))


class OfCategorical(Distribution):
    """A distribution with the parameter of a `Categorical`, which it holds as `_categorical`."""

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _categorical: Categorical

    probs = alias("_categorical.probs", "Probabilities, which sum to 1.")
    logits = alias("_categorical.logits", "Logarithms of the probabilities.")
    param_shape = alias("_categorical.param_shape", "The shape of `probs`.")
    _dtype = alias("_categorical._dtype")

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return new

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._categorical._given}: {tuple(self.param_shape)})"


class Multinomial(OfCategorical):
    """Multinomial distribution: how often each index was drawn in `total_count` draws.

    Parameters
    ----------
    total_count : int
    probs : array_like
        Weights along the last axis, divided by their sum; or
    logits : array_like
        Logarithms of weights.
    validate_args : bool, optional

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.distributions.Multinomial(4, probs=[1.0, 3.0]).mean
    tensor([1., 3.])
    """

    def __init__(self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if isinstance(total_count, TensorBase) and total_count.ndim:
            raise NotImplementedError("Multinomial: inhomogeneous total_count is not supported")
        self.total_count = int(total_count)
        self._categorical = Categorical(probs, logits, validate_args)
        super().__init__(self._categorical.batch_shape, (self._categorical._num_events,), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def _draw(self, shape: Any, generator: Any) -> Any:
        places = self._categorical._places((self.total_count, *shape[:-1]), generator)
        return ops.sum(ops.one_hot(places, shape[-1], dtype=self._dtype), 0)

    def _log_prob(self, value: Any) -> Any:
        ways = lgamma(ops.sum(value, -1) + 1) - ops.sum(lgamma(value + 1), -1)
        return ways + ops.sum(ops.where(value == 0, 0.0, self.logits) * value, -1)

    def entropy(self) -> Any:
        n, p = self.total_count, self.probs
        single = Binomial(n, probs=p, validate_args=False)
        counts = single.enumerate_support(False)[1:]
        means = ops.sum(ops.exp(single.log_prob(counts)) * lgamma(counts + 1), (0, -1))
        return n * self._categorical.entropy() - math.lgamma(n + 1) + means

    def __repr__(self) -> str:
        return f"Multinomial(total_count: {self.total_count}, {self._categorical._given}: {tuple(self.param_shape)})"

"""kl_divergence: the registry of pairs, and the divergences of two distributions of one family.

Chooses the function of a pair by the closest registered classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..func import jvp
from ..special import betaln, digamma, xlogy
from ..special import gammaln as lgamma
from ..support.dispatch import ops
from .categorical import Categorical, OneHotCategorical
from .composite import Independent, TransformedDistribution
from .discrete import Bernoulli, Binomial, Geometric, Poisson
from .distribution import Distribution, ExponentialFamily
from .half_line import Exponential, Gamma, HalfNormal
from .interval import Beta, ContinuousBernoulli, Uniform
from .multivariate import Dirichlet, LowRankMultivariateNormal, MultivariateNormal, squared_length
from .numbers import broadcast_shapes, sum_last
from .transformed import Pareto
from .whole_line import EULER, Cauchy, Gumbel, Laplace, Normal

_PAIRS: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Register a function as the divergence of a pair of classes, as a decorator.

    Parameters
    ----------
    type_p, type_q : type
        Subclasses of Distribution; the function serves their subclasses too, unless a closer one is registered.

    Returns
    -------
    callable
        Takes the function of two distributions, and returns it.

    Raises
    ------
    TypeError
        A type does not derive from Distribution.

    Examples
    --------
    >>> import gradspec as gs
    >>> from gradspec.distributions import Normal, kl_divergence, register_kl
    >>> class Mine(Normal): pass
    >>> @register_kl(Mine, Mine)
    ... def mine(p, q):
    ...     return gs.zeros(p.batch_shape)
    >>> kl_divergence(Mine(0.0, 1.0), Mine(1.0, 1.0)), kl_divergence(Mine(0.0, 1.0), Normal(1.0, 1.0))
    (tensor(0.), tensor(0.5))
    """
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"Expected type_p and type_q to be Distribution subclasses but got {kind}")

    def register(function: Any) -> Any:
        _PAIRS[type_p, type_q] = function
        return function

    return register


def _closest(type_p: type, type_q: type) -> Any:
    """The function of the closest pair of classes: p's class decides first, then q's."""
    for p in type_p.__mro__:
        for q in type_q.__mro__:
            if (p, q) in _PAIRS:
                return _PAIRS[p, q]
    return None


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The Kullback-Leibler divergence KL(p || q), the mean of log p(x) - log q(x) over x from p.

    Parameters
    ----------
    p, q : Distribution

    Returns
    -------
    Tensor
        Of the broadcast batch shapes; inf if p has values that q does not have.

    Raises
    ------
    NotImplementedError
        No formula is registered for the pair.

    Examples
    --------
    >>> import gradspec as gs
    >>> from gradspec.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5)
    """
    function = _closest(type(p), type(q))
    if function is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}; "
                                  "register_kl takes one, and p.log_prob(x) - q.log_prob(x) of samples estimates it")  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        return function(p, q)


def minus_one_minus_log(ratio: Any) -> Any:
    """ratio - 1 - log(ratio)."""
    return ratio - 1 - ops.log(ratio)


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    shift = (p.loc - q.loc) / q.scale
    return 0.5 * (minus_one_minus_log((p.scale / q.scale) ** 2) + shift * shift)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return 0.5 * minus_one_minus_log((p.scale / q.scale) ** 2)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    shift = abs(p.loc - q.loc)
    return ops.log(q.scale / p.scale) + shift / q.scale + p.scale / q.scale * ops.exp(-shift / p.scale) - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    return ops.log(((p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2) / (4 * p.scale * q.scale))


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -ops.log(ratio) + EULER * (ratio - 1) + shift + ops.exp(lgamma(1 + ratio) - shift) - 1


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    return minus_one_minus_log(q.rate / p.rate)


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    return b * ops.log(p.rate / q.rate) + lgamma(b) - lgamma(a) + (a - b) * digamma(a) + (q.rate / p.rate - 1) * a


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    a1, a0, b1, b0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    return (betaln(b1, b0) - betaln(a1, a0) + (a1 - b1) * digamma(a1) + (a0 - b0) * digamma(a0)
            + (b1 + b0 - a1 - a0) * digamma(a1 + a0))  # fmt: skip


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = ops.sum(a, -1)
    means = digamma(a) - digamma(total)[..., None]
    return lgamma(total) - lgamma(ops.sum(b, -1)) + ops.sum(lgamma(b) - lgamma(a) + (a - b) * means, -1)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    found = q.alpha * ops.log(p.scale / q.scale) + minus_one_minus_log(ratio)
    return ops.where(p.scale < q.scale, math.inf, found)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    found = ops.log((q.high - q.low) / (p.high - p.low))
    return ops.where((q.low > p.low) | (q.high < p.high), math.inf, found)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Any:
    """A(q) - A(p) - <dA(p), q - p>, the Bregman divergence of the log-normaliser A."""
    if type(p) is not type(q):
        raise NotImplementedError(f"The cross KL-divergence between different exponential families cannot be computed: "
                                  f"{type(p).__name__} and {type(q).__name__}")  # fmt: skip
    eta, other = p._natural_params, q._natural_params
    value, slope = jvp(p._log_normalizer, eta, tuple(b - a + ops.zeros_like(a) for a, b in zip(eta, other)))
    return q._log_normalizer(*other) - value - slope


def _odds(p: Any, q: Any) -> tuple[Any, Any]:
    """Logarithms of p's and of 1 - p's probabilities, each over q's: from logits if both were given by these."""
    if p._given == q._given == "logits":
        return ops.logaddexp(0.0, -q.logits) - ops.logaddexp(0.0, -p.logits), ops.logaddexp(0.0, q.logits) - ops.logaddexp(
            0.0, p.logits
        )
    return ops.log(p.probs / q.probs), ops.log1p(-p.probs) - ops.log1p(-q.probs)


def _times(probability: Any, logarithm: Any) -> Any:
    return ops.where(probability == 0, 0.0, probability * ops.where(probability == 0, 0.0, logarithm))


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    one, zero = _odds(p, q)
    return _times(p.probs, one) + _times(1 - p.probs, zero)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    found = p.total_count * _bernoulli(p, q)
    found = ops.where(p.total_count > q.total_count, math.inf, found)
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    return found


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    one, zero = _odds(p, q)
    return one + _times(p.mean, zero)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return xlogy(p.rate, p.rate / q.rate) - p.rate + q.rate


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    return ops.sum(_times(p.probs, ops.where(p.probs == 0, 0.0, p.logits) - q.logits), -1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p, q)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two multivariate normals with different event shapes cannot be computed: "
                         f"{p.event_shape} and {q.event_shape}")  # fmt: skip
    size = p.event_shape[0]
    batch = broadcast_shapes(p.batch_shape, q.batch_shape)
    low, other = (ops.broadcast_to(one.scale_tril, (*batch, size, size)) for one in (p, q))
    ratio = ops.solve_triangular(other, low, lower=True)
    diagonal = ops.diagonal(ratio, 0, -2, -1)
    inner = ops.sum(ops.tril(ratio, -1) ** 2, (-2, -1)) + ops.sum(minus_one_minus_log(diagonal**2), -1)
    return 0.5 * (inner + squared_length(other, p.loc - q.loc))


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL of Independent distributions with different reinterpreted_batch_ndims: "
                                  f"{p.reinterpreted_batch_ndims} and {q.reinterpreted_batch_ndims}")  # fmt: skip
    return sum_last(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms:
        raise NotImplementedError(f"KL of distributions with different transforms: {p.transforms} and {q.transforms}")
    if p.event_shape != q.event_shape:
        raise NotImplementedError(f"KL of distributions with different event shapes: {p.event_shape} and {q.event_shape}")
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return sum_last(kl_divergence(p.base_dist, q.base_dist), max(extra, 0))

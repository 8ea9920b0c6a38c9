"""Divergences of distributions of different families: the mean of -log q(x) over x from p, less the entropy of p.

States which means of p a density q needs, and those means of each family.
"""

from __future__ import annotations

import math
from typing import Any

from ..special import betaln, digamma, ndtr, xlogy
from ..special import gammaln as lgamma
from ..support.dispatch import ops
from .discrete import Bernoulli, Binomial, Poisson
from .half_line import Exponential, Gamma
from .interval import Beta, ContinuousBernoulli, Uniform, _log_mean_exp
from .kl import register_kl
from .numbers import broadcast_shapes
from .transformed import Pareto
from .whole_line import EULER, HALF_LOG_2PI, Gumbel, Laplace, Normal


def _mean_log(p: Any) -> Any:
    """The mean of log(x)."""
    if isinstance(p, Beta):
        return digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0)
    if isinstance(p, Exponential):
        return -ops.log(p.rate) - EULER
    if isinstance(p, Gamma):
        return digamma(p.concentration) - ops.log(p.rate)
    if isinstance(p, Pareto):
        return ops.log(p.scale) + 1 / p.alpha
    return _uniform_mean_log(p.low, p.high)


def _uniform_mean_log(low: Any, high: Any) -> Any:
    """The mean of log(x) for x between two numbers that are not negative."""
    return (xlogy(high, high) - xlogy(low, low)) / (high - low) - 1


def _mean_exp(p: Any, t: Any) -> Any:
    """The mean of exp(-t x)."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate + t)
    if isinstance(p, Gamma):
        return (p.rate / (p.rate + t)) ** p.concentration
    if isinstance(p, Normal):
        return ops.exp(-t * p.loc + 0.5 * (t * p.scale) ** 2)
    return ops.exp(-t * p.low + _log_mean_exp(-t * (p.high - p.low)))


def _mean_distance(p: Any, point: Any) -> Any:
    """The mean of abs(x - point) for a normal x."""
    z = (p.loc - point) / p.scale
    return 2 * p.scale * ops.exp(-0.5 * z * z - HALF_LOG_2PI) + (p.loc - point) * (2 * ndtr(z) - 1)


def _to_normal(p: Any, q: Any) -> Any:
    return HALF_LOG_2PI + ops.log(q.scale) + 0.5 * (p.variance + (p.mean - q.loc) ** 2) / q.scale**2


def _to_exponential(p: Any, q: Any) -> Any:
    return q.rate * p.mean - ops.log(q.rate)


def _to_gamma(p: Any, q: Any) -> Any:
    a = q.concentration
    return lgamma(a) - a * ops.log(q.rate) - (a - 1) * _mean_log(p) + q.rate * p.mean


def _to_beta(p: Any, q: Any) -> Any:
    """Of a uniform p between 0 and 1."""
    a, b = q.concentration1, q.concentration0
    return betaln(a, b) - (a - 1) * _uniform_mean_log(p.low, p.high) - (b - 1) * _uniform_mean_log(1 - p.high, 1 - p.low)


def _to_continuous_bernoulli(p: Any, q: Any) -> Any:
    return _log_mean_exp(q.logits) - q.logits * p.mean


def _to_uniform(p: Any, q: Any) -> Any:
    return ops.log(q.high - q.low)


def _to_pareto(p: Any, q: Any) -> Any:
    return (q.alpha + 1) * _mean_log(p) - ops.log(q.alpha) - q.alpha * ops.log(q.scale)


def _to_gumbel(p: Any, q: Any) -> Any:
    return ops.log(q.scale) + (p.mean - q.loc) / q.scale + _mean_exp(p, 1 / q.scale) * ops.exp(q.loc / q.scale)


def _to_laplace(p: Any, q: Any) -> Any:
    return ops.log(2 * q.scale) + _mean_distance(p, q.loc) / q.scale


def _ends(distribution: Any) -> tuple[Any, Any]:
    """The ends of the support."""
    if isinstance(distribution, Uniform):
        return distribution.low, distribution.high
    if isinstance(distribution, (Beta, ContinuousBernoulli)):
        return 0.0, 1.0
    if isinstance(distribution, Pareto):
        return distribution.scale, math.inf
    return (-math.inf if isinstance(distribution, (Normal, Laplace, Gumbel)) else 0.0), math.inf


# For each p: its families q with a finite divergence.
_FINITE: dict[type, tuple[type, ...]] = {
    Beta: (ContinuousBernoulli, Exponential, Gamma, Normal, Uniform),
    ContinuousBernoulli: (Exponential, Normal, Uniform),
    Exponential: (Gamma, Gumbel, Normal),
    Gamma: (Exponential, Gumbel, Normal),
    Gumbel: (Normal,),
    Laplace: (Normal,),
    Normal: (Gumbel, Laplace),
    Pareto: (Exponential, Gamma, Normal),
    Uniform: (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Normal, Pareto),
}  # fmt: skip
_CROSS: dict[type, Any] = {
    Beta: _to_beta, ContinuousBernoulli: _to_continuous_bernoulli, Exponential: _to_exponential, Gamma: _to_gamma,
    Gumbel: _to_gumbel, Laplace: _to_laplace, Normal: _to_normal, Pareto: _to_pareto, Uniform: _to_uniform,
}  # fmt: skip
# For each p: families q without some values of p, for all parameters.
_NARROW = (Beta, ContinuousBernoulli, Pareto, Uniform)
_INFINITE: dict[type, tuple[type, ...]] = {
    Beta: (Pareto,), ContinuousBernoulli: (Pareto,), Exponential: _NARROW, Gamma: _NARROW,
    **dict.fromkeys((Gumbel, Laplace, Normal), (*_NARROW, Exponential, Gamma)), Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}  # fmt: skip


def _difference(cross: Any) -> Any:
    def divergence(p: Any, q: Any) -> Any:
        (low, high), (q_low, q_high) = _ends(p), _ends(q)
        found = cross(p, q) - p.entropy()
        outside = (low < q_low) | (high > q_high)
        return found if outside is False else ops.where(outside, math.inf, found)

    return divergence


def _infinite(p: Any, q: Any) -> Any:
    shape = broadcast_shapes(p.batch_shape, q.batch_shape)
    return ops.full(shape, math.inf, dtype=p._dtype)


for _p, _families in _FINITE.items():
    for _q in _families:
        register_kl(_p, _q)(_difference(_CROSS[_q]))
for _p, _families in _INFINITE.items():
    for _q in _families:
        register_kl(_p, _q)(_infinite)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return q.rate - p.probs * ops.log(q.rate) - p.entropy()

"""Logarithms of probabilities that are too small for floating point.

Computes the far tails of the incomplete gamma and beta functions.  The factor of the integral is computed by itself.  The
integral uses Gauss-Laguerre quadrature, because the density falls nearly as exp(-t).
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...func import stop_gradient
from ...generated.ops import expand_dims, isinf, log, log1p, logsumexp, where
from ...special import betainc, betaln, gammainc, gammaincc, gammaln, log_ndtr
from ...support.dispatch import ops

SMALL = 1e-200  # below it a probability has few digits left, or a product in its derivatives underflows


@functools.cache
def _nodes() -> tuple[Any, Any]:
    """40 nodes, and the logarithms of weights times exp(node)."""
    import numpy.polynomial

    nodes, weights = numpy.polynomial.laguerre.laggauss(40)
    return nodes, np.log(weights) + nodes


def some(mask: Any, unknown: bool = False) -> bool:
    """Whether there is a True; `unknown` for a batch of `vmap`, whose numbers are unknown."""
    try:
        return bool(stop_gradient(mask).numpy().any())
    except (RuntimeError, TypeError):
        return unknown


def _log_either(value: Any, rest: Any, far: Any, *arguments: Any) -> Any:
    """The logarithm of a probability; from `rest` if that is smaller, from `far` of the arguments if the value is tiny."""
    small, large = value < SMALL, value > 0.5
    near = where(large, log1p(-where(large, rest, 0.5)), log(where(small | large, 0.5, value)))
    return where(small, far(small, *arguments), near) if some(small, unknown=True) else near


def _integral(fall: Any, *arguments: Any) -> Any:
    """log of the integral of exp(-fall(t)) from 0 to infinity, elementwise in the arguments; fall(t) is about t."""
    nodes, weights = _nodes()
    arguments = tuple(expand_dims(argument, -1) for argument in arguments)
    nodes, weights = (asarray(array, dtype=arguments[0].dtype) for array in (nodes, weights))
    return logsumexp(weights - fall(nodes, *arguments), axis=-1)


def log_gammainc(a: Any, x: Any) -> Any:
    """log(gammainc(a, x)), far below the median too."""

    def far(small: Any, a: Any, x: Any) -> Any:
        # The integral over u = log(x) - t / (a - x) of exp(a u - exp(u)).
        a, x = where(small, a, 2.0), where(small, x, 1.0)
        rate = a - x
        rest = _integral(lambda t, a, x, rate: a * t / rate + x * ops.expm1(-t / rate), a, x, rate)
        return a * log(x) - x - gammaln(a) - log(rate) + rest

    return _log_either(gammainc(a, x), gammaincc(a, x), far, a, x)


def log_gammaincc(a: Any, x: Any) -> Any:
    """log(gammaincc(a, x)), far above the median too."""

    def far(small: Any, a: Any, x: Any) -> Any:
        a, x = where(small, a, 1.0), where(small, x, 2.0)
        rate = 1 - (a - 1) / x
        rest = _integral(lambda t, a, x, rate: t / rate - (a - 1) * log1p(t / (rate * x)), a, x, rate)
        return (a - 1) * log(x) - x - gammaln(a) - log(rate) + rest

    return where(isinf(x), -math.inf, _log_either(gammaincc(a, x), gammainc(a, x), far, a, where(isinf(x), 1e300, x)))


def log_betainc(a: Any, b: Any, x: Any) -> Any:
    """log(betainc(a, b, x)), far below the median too."""

    def far(small: Any, a: Any, b: Any, x: Any) -> Any:
        # The integral over u = log(x) - t / rate of exp(a u + (b - 1) log(1 - exp(u))).
        a, b, x = where(small, a, 1.0), where(small, b, 1.0), where(small, x, 0.25)
        odds = x / (1 - x)
        rate = a - (b - 1) * odds
        def fall(t: Any, a: Any, b: Any, odds: Any, rate: Any) -> Any:
            return a * t / rate - (b - 1) * log1p(-odds * ops.expm1(-t / rate))

        rest = _integral(fall, a, b, odds, rate)
        return a * log(x) + (b - 1) * log1p(-x) - betaln(a, b) - log(rate) + rest

    return _log_either(betainc(a, b, x), betainc(b, a, 1 - x), far, a, b, x)


def log_ndtr_between(a: Any, b: Any) -> Any:
    """The logarithm of the probability of a standard normal number between a and b, a < b, in both tails."""
    right = a > 0
    low, high = where(right, -b, a), where(right, -a, b)
    return log_ndtr(high) + ops.log1mexp(log_ndtr(high) - log_ndtr(low))


def modulus(x: Any) -> Any:
    """abs(x) with the derivative 1 at 0: in a formula of two pieces, the piece from 0 on keeps its derivative."""
    return where(x < 0, -x, x)


def softplus(x: Any) -> Any:
    """log(1 + exp(x))."""
    return ops.logaddexp(0.0, x)


def from_raw(*moments: Any) -> tuple[Any, Any, Any, Any]:
    """Mean, variance, skewness and excess kurtosis from the means of the first four powers."""
    m1, m2, m3, m4 = moments
    variance = m2 - m1 * m1
    skewness = (m3 - 3 * m1 * m2 + 2 * m1**3) / variance**1.5
    return m1, variance, skewness, (m4 - 4 * m1 * m3 + 6 * m1 * m1 * m2 - 3 * m1**4) / (variance * variance) - 3


def existing(where_there: Any, value: Any, otherwise: float = math.inf) -> Any:
    """A moment, if it exists."""
    return where(where_there, value, otherwise)

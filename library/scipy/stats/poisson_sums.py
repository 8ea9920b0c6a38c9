"""Sums over a Poisson-distributed count, restricted to the terms that matter.

Selects the counts around the mode of the terms, and sums the terms or adds their logarithms stably.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...func import stop_gradient
from ...generated.ops import astype, exp, expand_dims, floor, logsumexp, maximum, sum, where, xlogy
from ...special import gammaln

_TINY = 1e-290  # replaces a mean of 0, where the first term of a sum has a derivative
_BATCHED = 1e4  # the greatest mode in a batch of `vmap`, whose numbers are unknown; NaN beyond


def extreme(values: Any, of: Callable[..., Any], otherwise: float) -> float:
    """The maximum or minimum of some numbers; `otherwise` if they are unknown."""
    try:
        found = np.asarray(stop_gradient(values).numpy())
    except (RuntimeError, TypeError):
        return otherwise
    found = found[np.isfinite(found)]
    return float(of(found)) if found.size else otherwise


def _counts(mode: Any) -> tuple[Any, Any]:
    """Integers around a mode, along a new last axis, that cover all nonzero terms of a sum; and whether they are sufficient."""
    mode = maximum(stop_gradient(mode), 0.0)
    most = extreme(mode, np.max, _BATCHED)
    reach = int(12 * math.sqrt(most) + 40)
    first = floor(maximum(mode - reach, 0.0))
    return expand_dims(first, -1) + np.arange(2.0 * reach), mode <= most


def log_sum(terms: Callable[[Any], Any], mode: Any) -> Any:
    """The logarithm of a sum over counts, from the logarithms of its terms; the mode has the greatest term."""
    counts, held = _counts(mode)
    return astype(where(held, logsumexp(terms(counts), -1), math.nan), mode.dtype)


def last(*values: Any) -> list[Any]:
    """The values with one more axis at the end, for the counts."""
    return [expand_dims(value, -1) for value in values]


def log_poisson(j: Any, mean: Any) -> Any:
    """The logarithm of the probability of a count, with its derivative also for a mean of 0."""
    mean = mean + where(mean == 0, _TINY, 0.0)
    return xlogy(j, mean) - mean - gammaln(j + 1)


def poisson_mean(function: Callable[..., Any], mean: Any, *arguments: Any) -> Any:
    """The mean of function(count, *arguments) over a Poisson number; the sum is of double precision."""
    (counts, held), dtype = _counts(mean), mean.dtype
    mean, *arguments = last(mean, *arguments)
    return astype(where(held, sum(exp(log_poisson(counts, mean)) * function(counts, *arguments), -1), math.nan), dtype)

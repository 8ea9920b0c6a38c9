"""Quotients that are 1 at 0 and have all their derivatives there: log(1 + x) / x and (exp(x) - 1) / x.

Owns their series near 0.
"""

from __future__ import annotations

import math
from typing import Any

from ..generated.ops import log1p, where
from ..support.dispatch import ops


def log1p_ratio(x: Any) -> Any:
    """log(1 + x) / x, 1 at 0, with its derivatives there."""
    near = abs(x) < 0.03
    small, large = where(near, x, 0.0), where(near, 1.0, x)
    series = 0.0 * small
    for k in reversed(range(14)):
        series = series * small + (-1) ** k / (k + 1)
    return where(near, series, log1p(large) / large)


def expm1_ratio(x: Any) -> Any:
    """(exp(x) - 1) / x, 1 at 0, with its derivatives there."""
    near = abs(x) < 0.1
    small, large = where(near, x, 0.0), where(near, 1.0, x)
    series = 0.0 * small
    for k in reversed(range(14)):
        series = series * small + 1 / math.factorial(k + 1)
    return where(near, series, ops.expm1(large) / large)

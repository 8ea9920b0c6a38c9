"""log(1 + x) / x, which is 1 at 0, with all its derivatives there."""

from __future__ import annotations

from typing import Any

from ..generated.ops import log1p, where


def log1p_ratio(x: Any) -> Any:
    """log(1 + x) / x, 1 at 0, with its derivatives there."""
    near = abs(x) < 0.03
    small, large = where(near, x, 0.0), where(near, 1.0, x)
    series = 0.0 * small
    for k in reversed(range(14)):
        series = series * small + (-1) ** k / (k + 1)
    return where(near, series, log1p(large) / large)

"""Transforms of numbers, each by itself, under PyTorch's names.

States the map, its inverse and the logarithm of its slope.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.conversion import asarray
from ..support.dispatch import ops
from . import constraints
from .numbers import alias, broadcast_shapes, sum_last
from .transform import Transform


class _Elementwise(Transform):
    bijective = True
    domain: Any = constraints.real
    _sign: Any = 1


class ExpTransform(_Elementwise):
    """y = exp(x).

    Parameters
    ----------
    cache_size : int
        As for `Transform`.
    """

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return ops.exp(x)

    def _inverse(self, y: Any) -> Any:
        return ops.log(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(_Elementwise):
    """y = x ** exponent, of positive numbers.

    Parameters
    ----------
    exponent : array_like
    cache_size : int
    """

    domain = constraints.positive
    codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent

    @property
    def sign(self) -> Any:
        return ops.sign(asarray(self.exponent))

    def _call(self, x: Any) -> Any:
        return x**self.exponent

    def _inverse(self, y: Any) -> Any:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return ops.log(abs(self.exponent * y / x))

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return broadcast_shapes(tuple(shape), getattr(self.exponent, "shape", ()))

    inverse_shape = forward_shape

    def _state(self) -> Any:
        return (self.exponent,)


class SigmoidTransform(_Elementwise):
    """y = 1 / (1 + exp(-x)).

    Parameters
    ----------
    cache_size : int
        As for `Transform`.
    """

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        return ops.sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return ops.log(y) - ops.log1p(-y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -ops.logaddexp(0.0, -x) - ops.logaddexp(0.0, x)


class SoftplusTransform(_Elementwise):
    """y = log(1 + exp(x)).

    Parameters
    ----------
    cache_size : int
        As for `Transform`.
    """

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return ops.logaddexp(0.0, x)

    def _inverse(self, y: Any) -> Any:
        return y + ops.log(-ops.expm1(-y))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -ops.logaddexp(0.0, -x)


class TanhTransform(_Elementwise):
    """y = tanh(x).  With `cache_size=1` the inverse of a sample near 1 or -1 loses no digits.

    Parameters
    ----------
    cache_size : int
        As for `Transform`.
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return ops.tanh(x)

    def _inverse(self, y: Any) -> Any:
        return ops.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2 * (math.log(2) - x - ops.logaddexp(0.0, -2 * x))


class AbsTransform(Transform):
    """y = abs(x); its inverse is the positive one of two.

    Parameters
    ----------
    cache_size : int
        As for `Transform`.
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return abs(x)

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(_Elementwise):
    """y = loc + scale * x.

    Parameters
    ----------
    loc, scale : array_like
    event_dim : int
        The number of axes of one value.
    cache_size : int
    """

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    event_dim = alias("_event_dim", "The number of axes of one value.")

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    codomain = alias("domain")

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, (int, float)):
            return (self.scale > 0) - (self.scale < 0)
        return ops.sign(self.scale)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if isinstance(self.scale, (int, float)):
            each = ops.full_like(x, math.log(abs(self.scale)) if self.scale else -math.inf)
        else:
            each = ops.broadcast_to(ops.log(abs(self.scale)), x.shape)
        return sum_last(each, self._event_dim)

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return broadcast_shapes(tuple(shape), getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape

    def _state(self) -> Any:
        return self.loc, self.scale, self._event_dim


class CumulativeDistributionTransform(_Elementwise):
    """y = distribution.cdf(x).

    Parameters
    ----------
    distribution : Distribution
    cache_size : int
    """

    codomain = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    domain = alias("distribution.support")

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)

    def _state(self) -> Any:
        return (self.distribution,)

"""Positions of quantiles, and divisors of covariances and shapes of weights."""

import math

from .shapes import axes_tuple

# NumPy's quantile methods: alpha and beta of Hyndman and Fan, None for methods that round.
_QUANTILES = {
    "linear": (1, 1), "hazen": (0.5, 0.5), "weibull": (0, 0), "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8), "interpolated_inverted_cdf": (0, 1),
    "lower": None, "higher": None, "nearest": None, "midpoint": None,
    "inverted_cdf": None, "averaged_inverted_cdf": None, "closest_observation": None,
}  # fmt: skip


def cov_divisor(shape, rowvar, bias, ddof):
    """The divisor of the products of deviations; NaN if there are too few observations."""
    count = math.prod(shape) if len(shape) < 2 else shape[1] if rowvar else shape[0]
    divisor = count - cov_ddof(bias, ddof)
    return divisor if divisor > 0 else math.nan


def cov_ddof(bias, ddof):
    """The number subtracted from the count of observations."""
    return ddof if ddof is not None else 0 if bias else 1


def quantile_kind(method):
    """How a quantile is found: 'between' two elements, or by the rounding rule of that name."""
    if method not in _QUANTILES:
        raise ValueError(f"method must be one of {', '.join(_QUANTILES)}, got {method!r}")
    return "between" if _QUANTILES[method] else method


def quantile_offset(method):
    """The offset in the position of quantile q among n elements, counted from 1: offset + q * (n + slope)."""
    return (_QUANTILES[method] or (0, 0))[0]


def quantile_slope(method):
    """The slope in the position of a quantile; see quantile_offset."""
    return 1 - sum(_QUANTILES[method] or (0, 0))


def weights_shape(weights_shape, shape, axis):
    """The shape of weights, of a whole array or of some axes in rising order, that broadcasts with the array."""
    if tuple(weights_shape) == tuple(shape):
        return tuple(shape)
    axes = axes_tuple(axis, len(shape))
    if axis is None or tuple(weights_shape) != tuple(shape[a] for a in axes):
        raise ValueError(f"weights of shape {weights_shape} are neither of shape {shape} nor of that of axis {axis}")
    if list(axes) != sorted(axes):
        raise ValueError("weights of several axes need these in rising order")
    return tuple(n if place in axes else 1 for place, n in enumerate(shape))

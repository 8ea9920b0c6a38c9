"""Derivatives of elementwise functions whose formula would cancel or overflow for some arguments, accurate to the last digits."""

import numpy as np

from .choice import divide_or_zero

__all__ = ["softsign", "tanhshrink"]


def angle_slope(a, b):
    """``b / hypot(a, b)**2``, 0 if both are 0 or one is infinite."""
    distance = np.hypot(a, b)
    return np.where(np.isinf(b) & ~np.isnan(a), 0, divide_or_zero(divide_or_zero(b, distance), distance)).astype(distance.dtype)


def asin_slope(x):
    """``1 / sqrt(1 - x * x)``."""
    # For complex numbers no product: it could overflow, and the root of a product is not the product of the roots.  And no sum
    # with 1 + 0j, which would lose the sign of an imaginary zero, that is, the side of the branch cut.
    return 1 / (np.sqrt(-(x - 1)) * np.sqrt(x - -1) if np.iscomplexobj(x) else np.sqrt((1 - x) * (1 + x)))


def asinh_slope(x):
    """``1 / sqrt(1 + x * x)``."""
    return asin_slope(_turned(x)) if np.iscomplexobj(x) else 1 / np.hypot(x, 1)


def atan_slope(x):
    """``1 / (1 + x * x)``."""
    if np.iscomplexobj(x):
        return atanh_slope(_turned(x))
    far = np.abs(x) > 1
    inverse = 1 / np.where(far, x, 1)
    near = np.where(far, 0, x)
    # inverse**2 / (1 + inverse**2) far from 0, where the square of x would overflow.
    return np.where(far, inverse * inverse / (1 + inverse * inverse), 1 / (1 + near * near))


def atanh_slope(x):
    """``1 / (1 - x * x)``."""
    x = np.asarray(x)  # a Python number would raise on division by zero
    return 1 / (1 - x) / (1 + x)


def direction(a, b):
    """``a / hypot(a, b)``, 0 if both are 0; NaN only if both are infinite."""
    distance = np.hypot(a, b)
    y = np.where(np.isfinite(b) & np.isinf(a), np.sign(a), divide_or_zero(a, distance))
    lost = np.isinf(distance) & np.isfinite(a) & np.isfinite(b)
    if lost.any():
        y = np.where(lost, a / 4 / np.hypot(a / 4, b / 4), y)
    return y.astype(distance.dtype)


def softsign(x):
    """``x / (1 + abs(x))``, with limits 1 and -1 at infinity."""
    largest = np.finfo(np.result_type(np.asarray(x), np.float16)).max
    finite = np.clip(x, -largest, largest)
    return finite / (1 + np.abs(finite))


def tanhshrink(x):
    """``x - tanh(x)``, by its continued fraction near 0, where the difference would cancel."""
    x = np.asarray(x)
    near = np.abs(x) < 1
    small = np.where(near, x, 0)
    square = small * small
    rest = 0
    for odd in range(23, 1, -2):  # tanh(x) = x / (1 + rest), rest = x**2 / (3 + x**2 / (5 + ...))
        rest = square / (odd + rest)
    return np.where(near, small * rest / (1 + rest), x - np.tanh(x))


def _turned(x):
    """Complex numbers times i, with the signs of zeros kept."""
    x = np.asarray(x)
    y = np.empty_like(x)
    y.real, y.imag = -x.imag, x.real
    return y

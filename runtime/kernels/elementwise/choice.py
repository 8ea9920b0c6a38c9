"""Quotients that are 0 or NaN for a divisor of 0, powers that are 0 for a factor of 0, and piecewise functions."""

import numpy as np


def divide_or_zero(a, b):
    """a / b, but 0 if `b` is 0."""
    nonzero = np.not_equal(b, 0)
    if nonzero.all():
        return np.divide(a, b)
    zeros = np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b)), np.result_type(a, b, 1.0))
    return np.divide(a, b, out=zeros, where=nonzero)


def divide_or_nan(a, b):
    """a / b, but if `b` is 0, NaN in both parts unless `a` is 0."""
    y = divide_or_zero(a, b)
    unknown = np.equal(b, 0) & np.not_equal(a, 0)
    return np.where(unknown, y.dtype.type(complex(np.nan, np.nan) if y.dtype.kind == "c" else np.nan), y) if unknown.any() else y


def leaky_relu(x, negative_slope):
    """x if positive, else negative_slope * x."""
    return np.where(np.greater(x, 0), x, np.multiply(negative_slope, x))


def hardswish(x):
    """x times (x + 3) / 6 clamped to [0, 1]."""
    return np.maximum(x, -3) * (np.minimum(np.maximum(np.add(x, 3), 0), 6) / 6)


def hardswish_slope(x):
    """The derivative of hardswish; 0 at -3 and 1 at 3."""
    return np.where(np.greater_equal(x, 3), 1, np.where(np.less_equal(x, -3), 0, np.add(x, 1.5) / 3))


def huber(x, target, delta):
    """Half the square of an error up to `delta`, and the tangent at `delta` above."""
    error = np.subtract(x, target)
    near = np.minimum(np.maximum(error, -delta), delta)
    return near * (error - 0.5 * near)


def scaled_pow(c, a, b, n):
    """``c * a**(b - n)``, 0 if ``c`` or the power is 0, whatever the other factor.

    Parameters
    ----------
    c, a, b : ndarray or scalar
        Broadcast together.
    n : int

    Returns
    -------
    ndarray
    """
    if isinstance(a, np.ndarray) and type(b) in (int, float) and b - n == 1 and type(c) in (int, float) and 0 < abs(c) < np.inf:
        return np.multiply(a, c)
    zero = np.equal(c, 0)
    base = np.where(zero, 1, a) if zero.any() else a
    exponent = b - n
    dtype = np.result_type(c, a, b)
    if dtype.char in "ef":
        # If the exponent is rounded, the error is multiplied by the logarithm of the base.
        exact = np.subtract(np.asarray(b, dtype), n, dtype=np.float64)
        if (exact.astype(dtype) != exact).any():
            power = np.power(base, exact, dtype=np.float64)
            return (np.where((power == 0) & np.isinf(c), np.copysign(0, c), c) * power).astype(dtype)
    power = np.power(base, exponent)
    y = np.multiply(c, power)  # numbers, too: their product has no dtype
    if power.dtype.kind == "f":
        limits = np.finfo(power.dtype)
        size = np.abs(power)
        extreme = (size < limits.tiny) | (size > limits.max)
        if extreme.any():  # the power is out of range, but the product may not be
            root = np.power(np.abs(base), exponent / 2)
            scale = np.where((root == 0) & np.isinf(c), 0, c)
            y = np.where(extreme, np.copysign(scale, c * np.copysign(1, power)) * root * root, y)
    return y.astype(dtype)


def masked_fill_(x, mask, value):
    """Write `value` into `x` where `mask` is true; return `x`."""
    np.copyto(x, value, where=mask)
    return x

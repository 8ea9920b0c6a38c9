"""A quotient that is 0 or NaN where the divisor is 0, a power that is 0 where its factor is, and functions in pieces."""

import numpy as np


def divide_or_zero(a, b):
    """a / b, and 0 where `b` is 0.

    Parameters
    ----------
    a, b : array_like

    Returns
    -------
    ndarray
    """
    nonzero = np.not_equal(b, 0)
    if nonzero.all():
        return np.divide(a, b)
    zeros = np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b)), np.result_type(a, b, 1.0))
    return np.divide(a, b, out=zeros, where=nonzero)


def divide_or_nan(a, b):
    """a / b, and where `b` is 0 NaN, in both parts, unless `a` is 0.

    Parameters
    ----------
    a, b : array_like

    Returns
    -------
    ndarray
    """
    y = divide_or_zero(a, b)
    unknown = np.equal(b, 0) & np.not_equal(a, 0)
    return np.where(unknown, y.dtype.type(complex(np.nan, np.nan) if y.dtype.kind == "c" else np.nan), y) if unknown.any() else y


def leaky_relu(x, negative_slope):
    """x above 0, negative_slope * x elsewhere."""
    return np.where(np.greater(x, 0), x, np.multiply(negative_slope, x))


def nan_to_zero(x):
    """x, 0 where it is NaN."""
    return np.where(np.equal(x, x), x, 0)


def hardswish(x):
    """x times the share of x + 3 in 6, which is from 0 to 1."""
    return np.maximum(x, -3) * (np.minimum(np.maximum(np.add(x, 3), 0), 6) / 6)


def hardswish_slope(x):
    """The derivative of hardswish; 0 at -3 and 1 at 3."""
    return np.where(np.greater_equal(x, 3), 1, np.where(np.less_equal(x, -3), 0, np.add(x, 1.5) / 3))


def scaled_pow(c, a, b, n):
    """``c * a**(b - n)``, 0 where ``c`` is 0 or the power is, whatever the other one.

    Parameters
    ----------
    c, a, b : ndarray or scalar
        Broadcast together.
    n : int

    Returns
    -------
    ndarray
    """
    zero = np.equal(c, 0)
    base = np.where(zero, 1, a) if zero.any() else a
    exponent = b - n
    dtype = np.result_type(c, a, b)
    if dtype.char in "ef":
        # What rounding takes from the exponent comes back times the logarithm of the base.
        exact = np.subtract(np.asarray(b, dtype), n, dtype=np.float64)
        if (exact.astype(dtype) != exact).any():
            return (c * np.power(base, exact, dtype=np.float64)).astype(dtype)
    power = np.power(base, exponent)
    y = c * power
    if power.dtype.kind == "f":
        limits = np.finfo(power.dtype)
        size = np.abs(power)
        extreme = (size < limits.tiny) | (size > limits.max)
        if extreme.any():  # the power is lost, the product need not be
            root = np.power(np.abs(base), exponent / 2)
            scale = np.where((root == 0) & np.isinf(c), 0, c)
            y = np.where(extreme, np.copysign(scale, c * np.copysign(1, power)) * root * root, y).astype(power.dtype)
    return y

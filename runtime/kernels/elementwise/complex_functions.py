"""Complex numbers from their parts, and logarithms of sums of complex numbers without cancellation or overflow."""

import math

import numpy as np

__all__ = ["complex_log1p", "complex_of", "logaddexp2", "polar"]


def complex_log1p(x):
    """``log(1 + x)`` without cancellation, on either side of its branch cut."""
    one_and = np.subtract(x, -1)  # adding 1 + 0j would lose the sign of an imaginary zero
    near = np.abs(x) < 0.5
    re, im = np.where(near, x.real, 0), np.where(near, x.imag, 0)
    return np.where(near, complex_of(np.log1p(re * (2 + re) + im * im) / 2, np.angle(one_and)), np.log(one_and))


def complex_logaddexp(a, b):
    """``log(exp(a) + exp(b))`` without overflow, on the principal branch."""
    dtype = np.result_type(a, b)
    a, b = np.broadcast_arrays(np.asarray(a, dtype), np.asarray(b, dtype))
    high, low = np.where(a.real < b.real, b, a), np.where(a.real < b.real, a, b)
    distance = np.where(high.real == low.real, 0, low.real - high.real)  # also for equal infinities
    small = np.exp(distance)
    total = complex_of(np.cos(high.imag) + small * np.cos(low.imag), np.sin(high.imag) + small * np.sin(low.imag))
    rest = complex_log1p(np.exp(complex_of(distance, low.imag - high.imag)))
    return complex_of(high.real + rest.real, np.angle(total))


def complex_of(a, b):
    """Complex numbers from real and imaginary parts."""
    y = np.empty(np.broadcast_shapes(np.shape(a), np.shape(b)), np.result_type(np.result_type(a, b), np.complex64))
    y.real, y.imag = a, b
    return y


def logaddexp2(a, b):
    """``log2(2**a + 2**b)`` without overflow; for complex numbers on the principal branch."""
    if not (np.iscomplexobj(a) or np.iscomplexobj(b)):
        return np.logaddexp2(a, b)
    dtype, scale = np.result_type(a, b), math.log(2)  # None for a Python number
    return complex_logaddexp(np.asarray(a, dtype) * scale, np.asarray(b, dtype) * scale) / scale


def polar(a, b):
    """Complex numbers from moduli and arguments."""
    dtype = np.result_type(np.result_type(a, b), np.float16)  # float64 for two Python numbers
    a, b = np.asarray(a, dtype), np.asarray(b, dtype)
    return complex_of(a * np.cos(b), a * np.sin(b))

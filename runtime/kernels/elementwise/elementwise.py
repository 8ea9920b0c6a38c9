"""Elementwise functions that NumPy lacks: entropies, sinc and its derivatives, rounding without overflow."""

import math

import numpy as np

from .complex_functions import complex_log1p, complex_of

__all__ = ["entr", "frexp", "truncated_quotient"]


def entr(x):
    """``-x * log(x)``, 0 at 0 and -inf for negative numbers."""
    above = np.maximum(x, 0)
    dtype = np.result_type(np.result_type(x), np.float16)
    return np.where(np.less(x, 0), -np.inf, 0 - xlogy(above, above)).astype(dtype, copy=False)


def frexp(x):
    """Mantissa and exponent, ``x = mantissa * 2**exponent``.

    Parameters
    ----------
    x : ndarray or scalar
        Real.

    Returns
    -------
    mantissa : ndarray
        With a modulus in [0.5, 1), or 0.
    exponent : ndarray of int
    """
    mantissa, exponent = np.frexp(x)
    return np.asarray(mantissa), np.asarray(exponent, np.intp)


def logit(x):
    """``log(x / (1 - x))``."""
    if np.iscomplexobj(x):
        return np.log(x) - complex_log1p(np.negative(x))
    rest = np.subtract(1, x)
    y = np.asarray(np.log(x / rest))
    # Around 1/2 the quotient is near 1, and its rounding error dominates: log(x / (1 - x)) = log1p((2 x - 1) / (1 - x)).
    middle = np.abs(np.subtract(x, 0.5)) < 0.25
    if middle.any():
        y[middle] = np.log1p((2 * np.asarray(x)[middle] - 1) / rest[middle])
    return y


def round_to(x, decimals):
    """``np.round``, but `x` unchanged if an intermediate value overflows."""
    y = np.round(x, decimals)
    return y if decimals <= 0 or np.isfinite(y).all() else np.where(np.isinf(y), x, y)


def sinc(x, n):
    """Derivative `n` of ``sin(pi x) / (pi x)``."""
    x = np.asarray(x, np.result_type(np.result_type(x), np.float16))
    # Far from 0 the recurrence from x * sinc(x) = sin(pi x) / pi is stable.  Near 0 its terms cancel, and the series converges at
    # # once.  For higher derivatives the terms of the series cancel before the recurrence is stable; between the two, the
    # integral of # t**n cos(pi x t + n pi / 2) over [0, 1] has a smooth integrand.
    near = np.abs(x) < (n / 2 if n <= 2 else n + 2) if n else x == 0
    far_x = np.where(near | np.isinf(x), n + 2, x)
    waves = _sin_cos_pi(far_x)
    far = waves[0] / (math.pi * far_x)
    for k in range(1, n + 1):
        far = (math.pi ** (k - 1) * waves[k % 4] - k * far) / far_x
    far = np.where(np.isinf(x), 0, far)
    if n <= 2:
        far[near] = _sinc_series(x[near], n)
        return far.astype(np.result_type(x, np.float16), copy=False)
    from numpy.polynomial.legendre import leggauss  # NumPy's polynomials are many modules, which most programs never use

    nodes, weights = leggauss(24 + 4 * n)
    nodes, weights = (nodes + 1) / 2, weights / 2 * ((nodes + 1) / 2) ** n * math.pi**n
    phase = math.pi * np.multiply.outer(np.where(near, x, 0), nodes)
    wave = (np.sin if n % 2 else np.cos)(phase) @ weights * (-1 if n % 4 in (1, 2) else 1)
    return np.where(near, wave, far).astype(far.dtype)


def _sinc_series(x, n):
    """Derivative `n` of sinc by its series, for numbers up to 1."""
    square, y = np.square(x), 0
    for k in range(14, (n + 1) // 2 - 1, -1):
        y = y * square + (-1) ** k * math.pi ** (2 * k) * math.perm(2 * k, n) / math.factorial(2 * k + 1)
    return y * x if n % 2 else y


def truncated_quotient(a, b):
    """trunc(a / b); exact for integers, which a float may not represent."""
    if np.result_type(a, b).kind == "f":
        return np.trunc(np.divide(a, b))
    return np.floor_divide(np.subtract(a, np.fmod(a, b)), b)


def xlogy(a, b, log=np.log):
    """``a * log(b)``, 0 if ``a`` is 0 unless ``b`` is NaN."""
    zero = np.equal(a, 0) & ~np.isnan(b)
    b = np.asarray(b, np.result_type(a, b, 1.0))  # log of a Python number would widen float32
    return a * log(np.where(zero, 1, b) if zero.any() else b)


def _sin_cos_pi(x):
    """sin(pi x) and its derivatives up to the third, without the factors pi; exactly 0 for an integer."""
    if np.iscomplexobj(x):
        (sine, cosine, *_), up = _sin_cos_pi(x.real), math.pi * x.imag
        sine, cosine = complex_of(sine * np.cosh(up), cosine * np.sinh(up)), complex_of(cosine * np.cosh(up), -sine * np.sinh(up))
        return sine, cosine, -sine, -cosine
    half = np.round(x)
    rest, sign = math.pi * (x - half), 1 - 2 * np.abs(np.fmod(half, 2))
    sine, cosine = sign * np.sin(rest), sign * np.cos(rest)
    cosine = np.where(np.abs(x - half) == 0.5, 0, cosine)
    return sine, cosine, -sine, -cosine

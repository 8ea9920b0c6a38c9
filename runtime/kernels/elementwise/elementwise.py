"""Elementwise functions that NumPy has not, and the writes of the in-place-only operators."""

import math

import numpy as np


def complex_log1p(x):
    """``log(1 + x)`` without cancellation, on either side of its cut.

    Parameters
    ----------
    x : ndarray or scalar
        Complex.

    Returns
    -------
    ndarray
    """
    x = np.asarray(x)
    one_and = np.subtract(x, -1)  # a sum with 1 + 0j would lose the sign of an imaginary zero
    near = np.abs(x) < 0.5
    re, im = np.where(near, x.real, 0), np.where(near, x.imag, 0)
    return np.where(near, complex_of(np.log1p(re * (2 + re) + im * im) / 2, np.angle(one_and)), np.log(one_and))


def complex_logaddexp(a, b):
    """``log(exp(a) + exp(b))`` without overflow, on the principal branch.

    Parameters
    ----------
    a, b : ndarray or scalar
        Either one complex.

    Returns
    -------
    ndarray
    """
    dtype = np.result_type(a, b)
    a, b = np.broadcast_arrays(np.asarray(a, dtype), np.asarray(b, dtype))
    high, low = np.where(a.real < b.real, b, a), np.where(a.real < b.real, a, b)
    distance = np.where(high.real == low.real, 0, low.real - high.real)  # of equal infinities as well
    small = np.exp(distance)
    total = complex_of(np.cos(high.imag) + small * np.cos(low.imag), np.sin(high.imag) + small * np.sin(low.imag))
    rest = complex_log1p(np.exp(complex_of(distance, low.imag - high.imag)))
    return complex_of(high.real + rest.real, np.angle(total))


def complex_of(a, b):
    """Complex numbers of real and imaginary parts.

    Parameters
    ----------
    a, b : array_like
        Real.

    Returns
    -------
    ndarray
    """
    y = np.empty(np.broadcast_shapes(np.shape(a), np.shape(b)), np.result_type(np.result_type(a, b), np.complex64))
    y.real, y.imag = a, b
    return y


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


def dropout(x, p, training, generator):
    """Each element 0 with probability `p`, else divided by 1 - p.

    Parameters
    ----------
    x : ndarray
    p : float
        From 0 to 1.
    training : bool
        Where False, nothing is dropped.
    generator : numpy.random.Generator

    Returns
    -------
    y : ndarray
    mask : ndarray
        What `x` was multiplied by.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    x = np.asarray(x)
    dtype = np.result_type(x, 1.0)
    if not training or p == 0:
        mask = np.ones(x.shape, dtype)
    elif p == 1:
        mask = np.zeros(x.shape, dtype)
    else:
        mask = np.multiply(generator.random(x.shape) >= p, 1 / (1 - p), dtype=dtype)
    return x * mask, mask


def entr(x):
    """``-x * log(x)``, 0 at 0 and -inf below.

    Parameters
    ----------
    x : ndarray or scalar
        Real.

    Returns
    -------
    ndarray
    """
    above = np.maximum(x, 0)
    dtype = np.result_type(np.result_type(x), np.float16)
    return np.where(np.less(x, 0), -np.inf, 0 - xlogy(above, above)).astype(dtype, copy=False)


def fill_(x, value):
    """Write one value everywhere into ``x``.

    Parameters
    ----------
    x : ndarray
        Overwritten.
    value : scalar or 0-d ndarray

    Returns
    -------
    ndarray
        `x`.
    """
    if np.ndim(value):
        raise ValueError(f"fill_: value must be a number or a 0-d array, got shape {np.shape(value)}")
    x[...] = value
    return x


def fill_diagonal_(x, value):
    """Write one value on the main diagonal of ``x``.

    Parameters
    ----------
    x : ndarray
        Overwritten; of two axes, or of more of one length.
    value : scalar or 0-d ndarray

    Returns
    -------
    ndarray
        `x`.
    """
    if np.ndim(value):
        raise ValueError(f"fill_diagonal_: value must be a number or a 0-d array, got shape {np.shape(value)}")
    if x.ndim < 2 or x.ndim > 2 and min(x.shape) != max(x.shape):
        raise ValueError(f"fill_diagonal_: a diagonal needs two axes, or more of one length, the shape is {x.shape}")
    places = np.arange(min(x.shape))
    x[(places,) * x.ndim] = value
    return x


def logaddexp2(a, b):
    """``log2(2**a + 2**b)`` without overflow, of complex numbers on the principal branch.

    Parameters
    ----------
    a, b : ndarray or scalar
        Broadcast together.

    Returns
    -------
    ndarray
    """
    if not (np.iscomplexobj(a) or np.iscomplexobj(b)):
        return np.logaddexp2(a, b)
    dtype, scale = np.result_type(a, b), math.log(2)  # of a Python number none
    return complex_logaddexp(np.asarray(a, dtype) * scale, np.asarray(b, dtype) * scale) / scale


def polar(a, b):
    """Complex numbers of moduli and arguments.

    Parameters
    ----------
    a, b : array_like
        Real.

    Returns
    -------
    ndarray
    """
    dtype = np.result_type(np.result_type(a, b), np.float16)  # of two Python numbers float64
    a, b = np.asarray(a, dtype), np.asarray(b, dtype)
    return complex_of(a * np.cos(b), a * np.sin(b))


def round_to(x, decimals):
    """``np.round``, and `x` itself where that overflows on its way.

    Parameters
    ----------
    x : ndarray or scalar
        Real.
    decimals : int

    Returns
    -------
    ndarray
    """
    y = np.round(x, decimals)
    return y if decimals <= 0 or np.isfinite(y).all() else np.where(np.isinf(y), x, y)


def rrelu(x, lower, upper, training, generator):
    """``x`` where it is positive, elsewhere times a random slope, or times the mean of the two bounds.

    Parameters
    ----------
    x : ndarray
    lower, upper : float
    training : bool
        Whether the slopes are random.
    generator : numpy.random.Generator

    Returns
    -------
    y : ndarray
    slope : ndarray
        What `x` was multiplied by.
    """
    if not lower <= upper:
        raise ValueError(f"rrelu: lower must not be above upper, got {lower} and {upper}")
    x = np.asarray(x)
    dtype = np.result_type(x, 1.0)
    slope = generator.uniform(lower, upper, x.shape) if training else (lower + upper) / 2
    slope = np.where(x > 0, 1, slope).astype(dtype)
    return x * slope, slope


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


def sinc(x, n):
    """Derivative `n` of ``sin(pi x) / (pi x)``.

    Parameters
    ----------
    x : ndarray or scalar
    n : int

    Returns
    -------
    ndarray
    """
    x = np.asarray(x, np.result_type(np.result_type(x), np.float16))
    # Far from 0 the recurrence that x * sinc(x) = sin(pi x) / pi gives is stable; near it, where its terms cancel, the
    # integral of t**n cos(pi x t + n pi / 2) over [0, 1] has a smooth integrand.
    near = np.abs(x) < n + 2 if n else x == 0
    far_x = np.where(near | np.isinf(x), n + 2, x)
    waves = _sin_cos_pi(far_x)
    far = waves[0] / (math.pi * far_x)
    for k in range(1, n + 1):
        far = (math.pi ** (k - 1) * waves[k % 4] - k * far) / far_x
    far = np.where(np.isinf(x), 0, far)
    if n == 0:
        return np.where(near, 1, far)
    nodes, weights = np.polynomial.legendre.leggauss(24 + 4 * n)
    nodes, weights = (nodes + 1) / 2, weights / 2 * ((nodes + 1) / 2) ** n * math.pi**n
    phase = math.pi * np.multiply.outer(np.where(near, x, 0), nodes)
    wave = (np.sin if n % 2 else np.cos)(phase) @ weights * (-1 if n % 4 in (1, 2) else 1)
    return np.where(near, wave, far).astype(far.dtype)


def _sin_cos_pi(x):
    """sin(pi x) and its derivatives up to the third, without the factors pi; of a whole number a true 0."""
    if np.iscomplexobj(x):
        (sine, cosine, *_), up = _sin_cos_pi(x.real), math.pi * x.imag
        sine, cosine = complex_of(sine * np.cosh(up), cosine * np.sinh(up)), complex_of(cosine * np.cosh(up), -sine * np.sinh(up))
        return sine, cosine, -sine, -cosine
    turn = np.fmod(x, 2)
    half = np.round(turn)
    rest, sign = math.pi * (turn - half), 1 - 2 * np.abs(np.fmod(half, 2))
    sine, cosine = sign * np.sin(rest), sign * np.cos(rest)
    cosine = np.where(np.abs(turn - half) == 0.5, 0, cosine)
    return sine, cosine, -sine, -cosine


def xlogy(a, b):
    """``a * log(b)``, 0 where ``a`` is 0 unless ``b`` is NaN.

    Parameters
    ----------
    a, b : ndarray or scalar
        Broadcast together.

    Returns
    -------
    ndarray
    """
    zero = np.equal(a, 0) & ~np.isnan(b)
    b = np.asarray(b, np.result_type(a, b, 1.0))  # log of a Python number would widen float32
    return a * np.log(np.where(zero, 1, b) if zero.any() else b)


def zero_(x):
    """Write 0 everywhere into ``x``.

    Parameters
    ----------
    x : ndarray
        Overwritten.

    Returns
    -------
    ndarray
        `x`.
    """
    x[...] = 0
    return x

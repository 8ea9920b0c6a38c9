"""Special functions: SciPy's if it is installed, else `math` one element at a time, else a clear error."""

import functools
import math

import numpy as np

from ..elementwise import error_function
from ..fusion_engine.program import Program
from ..loops.scipy_fallback import one_by_one, scipy_function
from .quadrature import rule

__all__ = ["bessel", "digamma", "erfcx", "gelu", "ive", "kve", "modified_bessel", "rgamma", "special", "zeta"]


def bessel(name, v, x):
    """A Bessel function of scipy.special, accurate also for tiny or infinite arguments. Needs SciPy."""
    y, x = special(name, v, x), np.asarray(x)
    size = np.abs(x)
    tiny = (size < 1e-10) & (size > 0)
    if tiny.any():
        small = np.where(tiny, x, 1e-10).astype(np.result_type(x, np.float64))
        y = np.where(tiny, _bessel_near_0(name, v, small), y).astype(y.dtype)
    far = size > 1e10 if name == "iv" else np.isinf(x)
    if x.dtype.kind != "c" and far.any():
        limit = (np.inf if v % 2 != 1 else np.copysign(np.inf, x)) if name == "iv" else 0
        y = np.where(far, limit, y).astype(y.dtype)
    if x.dtype.kind != "c" and name in ("iv", "kv"):
        lost = np.isinf(y) if name == "iv" else y == 0
        y = _to_the_end(y, lost, x, lambda x: scipy_function(name + "e")(v, x), 1 if name == "iv" else -1)
    return y


_ROOT = -0.5040830082644554  # of digamma between -1 and 0, rounded
_AT_ROOT = 7.289763902976895e-17  # digamma there (mpmath)


@functools.cache
def _digamma_series():
    """Coefficients of digamma's Taylor series at its root, the last one first; up to 0.15 what follows is below a rounding error."""
    orders = np.arange(1, 33)
    zetas = scipy_function("zeta")(orders + 1.0, _ROOT + 1) + _ROOT ** -(orders + 1.0)
    return [*((-1.0) ** (orders + 1) * zetas)[::-1], _AT_ROOT]


def digamma(x):
    """Derivative of the logarithm of the gamma function. Needs SciPy."""
    x, function = np.asarray(x), scipy_function("digamma")
    left = np.less(x, -0.2)
    if not left.any():
        return function(x)
    near = np.asarray(x, np.float64)[left]
    with np.errstate(invalid="ignore"):
        at = near - np.rint(near)  # the distance to the pole, which is exact
        off = near - _ROOT
        # SciPy's function takes a hundred times as long within 0.3 of the root.
        reflects = (np.abs(np.abs(at) - 0.5) > 0.1) & (at != 0) & (near < -0.25) & (np.abs(off) > 0.3)
    rooted, shifted = np.abs(off) < 0.15, (np.abs(off) >= 0.15) & (np.abs(off) <= 0.3)
    safe = np.where(rooted | shifted | reflects, 1, near)
    found = function(safe)
    found[rooted] = np.polyval(_digamma_series(), off[rooted])
    found[shifted] = function(near[shifted] + 1) - 1 / near[shifted]
    found[reflects] = function(1 - near[reflects]) - np.pi / np.tan(np.pi * at[reflects])
    y = np.array(function(np.where(left, x.dtype.type(1), x)))
    y[left] = found
    return y[()]


def erfcx(x, n):
    """Derivative `n` of the scaled complementary error function. Needs SciPy."""
    if not 0 <= n <= 64:
        raise ValueError(f"the derivative {n} of erfcx is not offered; those up to the 64th are")
    if n == 0:
        return scipy_function("erfcx")(x)
    dtype = np.result_type(np.result_type(x), np.float16)
    x = np.asarray(x, np.result_type(dtype, np.float64))  # the series has terms outside the range of float32
    if dtype.kind == "f":
        return _erfcx_derivative(x, n, x > (5.5 + min(n, 6) if n <= 8 else 6.5)).astype(dtype)
    # erfcx(x) = 2 exp(x**2) - erfcx(-x): the series is for the right half plane.
    left = x.real < 0
    right = np.where(left, -x, x)
    y = _erfcx_derivative(right, n, np.abs(right) > 6.5)
    square = np.where(left, x, 0)
    value = 2 * np.exp(square * square)
    growth = _by_recurrence(square, n, value, 2 * square * value)
    return np.where(left, growth - (-1) ** n * y, y).astype(dtype)


def ive(v, x, n):
    """Derivative `n` of ``exp(-abs(x)) * iv(v, x)``; at 0, where it has a corner, the mean of both sides. Needs SciPy."""
    dtype = np.result_type(np.result_type(x), np.float16)
    x = np.asarray(x, np.float64)
    far, between = _where_it_cancels(v, x if v % 1 else np.abs(x), n)
    near, function = np.where(far | between, 1, x), functools.partial(bessel, "ive")
    y = 0  # by Leibniz's rule, which cancels far from 0
    for k in range(n + 1):
        slope = sum(math.comb(k, j) * function(v - k + 2 * j, near) for j in range(k + 1)) / 2**k
        y += math.comb(n, k) * (-np.sign(near) if (n - k) % 2 else 1) * slope
    inverse = 1 / np.where(far, np.abs(x), 1e3)
    series = np.asarray(_far_scaled_bessel(v, inverse, n, 1) * np.sqrt(inverse / (2 * math.pi)))
    if between.any():
        series[between] = _scaled_bessel_integral(v, np.abs(x)[between], n, 1)
    if v % 1 == 0 and (v + n) % 2:
        series = np.copysign(series, series * x)
    return np.where(far | between, series, y).astype(dtype)


def kve(v, x, n):
    """Derivative `n` of ``exp(x) * kv(v, x)``. Needs SciPy."""
    dtype = np.result_type(np.result_type(x), np.float16)
    x = np.asarray(x, np.float64)
    far, between = _where_it_cancels(v, x, n)
    near = np.where(far | between, 1, x)
    y = 0  # by Leibniz's rule, which cancels far from 0
    for k in range(n + 1):
        slope = sum(math.comb(k, j) * _kve(v - k + 2 * j, near) for j in range(k + 1)) / (-2) ** k
        y += math.comb(n, k) * slope
    inverse = 1 / np.where(far, x, 1e3)
    series = np.asarray(_far_scaled_bessel(v, inverse, n, -1) * np.sqrt(inverse * (math.pi / 2)))
    if between.any():
        series[between] = _scaled_bessel_integral(v, x[between], n, -1)
    return np.where(far | between, series, y).astype(dtype)


def _where_it_cancels(v, size, n):
    """Two masks: the arguments for the asymptotic series of derivative `n`, and those for its integral; the rest is for Leibniz's rule."""
    far = size > 20 + v * v
    return far, ~far & (size > max(6, v * v / 4)) & (n > 0)


def _scaled_bessel_integral(v, x, n, sign):
    """Derivative `n` of ive (`sign` 1) or kve (-1) by integrals without cancellation; NIST 10.32.4 and 10.32.9."""
    nodes, weights = rule(64)
    width = 10 / np.sqrt(x)  # behind it the integrand is below exp(-50) of its start
    t = np.multiply.outer(width, nodes)
    rise, x = 2 * np.square(np.sinh(t / 2)), x[:, None]
    if sign < 0:
        return width * (((-rise) ** n * np.exp(-x * rise) * np.cosh(v * t)) @ weights)
    tail = width * (((-2 - rise) ** n * np.exp(-x * (2 + rise) - v * t)) @ weights)
    width = np.where(width * width < 2.5, width, math.pi)
    t = np.multiply.outer(width, nodes)
    fall = 2 * np.square(np.sin(t / 2))
    return (width * (((-fall) ** n * np.exp(-x * fall) * np.cos(v * t)) @ weights) - math.sin(v * math.pi) * tail) / math.pi


_gelu_by_tanh = Program("x -> y", f"""
    above = maximum(x, -50)
    inner = minimum(above, 50)
    turn = multiply(multiply({math.sqrt(8 / math.pi)}, inner), add(1, multiply(0.044715, square(inner))))
    y = multiply(above, sigmoid(turn))""")


def gelu(x, approximate):
    """Gaussian error linear unit."""
    if approximate == "none":
        return error_function.gelu_exact(x)
    if approximate == "tanh":
        return _gelu_by_tanh(x)
    raise ValueError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")


def lgamma(x):
    """Logarithm of the modulus of the gamma function."""
    x = np.asarray(x)
    y = np.asarray(scipy_function("gammaln", _lgamma)(x))
    if x.dtype.kind != "f" or not x.size:
        return y
    # SciPy's function loses digits where the logarithm is near 0, treats tiny numbers as 0, and -inf not as a pole.
    y = np.where(np.abs(x) < 2 * np.finfo(x.dtype).tiny, -np.log(np.abs(x)), np.where(x == -np.inf, np.inf, y))
    for root, slope, terms in ((1, -np.euler_gamma, _ZETAS), (2, 1 - np.euler_gamma, [zeta - 1 for zeta in _ZETAS])):
        near = np.abs(x - root) < 0.01
        if near.any():
            z, series = x[near] - root, 0.0
            for k, zeta in reversed(list(enumerate(terms, 2))):
                series = series * z + (-1) ** k * zeta / k
            y[near] = z * (slope + z * series)
    return y.astype(x.dtype, copy=False)


def polygamma(n, x):
    """Derivative `n` of the digamma function. Needs SciPy."""
    if n == 0:
        return digamma(x)
    if n > 170:  # checked before n! is computed, which takes too long for large n
        raise OverflowError(f"the derivative {n} of digamma is beyond floating point")
    # (-1)**(n + 1) n! zeta(n + 1, x)
    x = np.asarray(x)
    scale = (-1.0) ** (n + 1) * math.factorial(n)
    return scale * zeta(x.dtype.type(n + 1) if x.dtype.kind == "f" else n + 1, x)


def zeta(s, q):
    """The sum of ``(q + k)**-s`` over k >= 0. Needs SciPy, which adds the terms before 0 one by one: minutes for a large -q."""
    far = (np.asarray(q) < -64) & np.isfinite(q) & (np.asarray(s) > 1) & (np.asarray(s) % 1 == 0)
    if not far.any():
        return special("zeta", s, q)
    # Over all integers k the sum depends on the fractional part alone, and is reflected: (1 - q + k)**-s is (-1)**s (q - 1 - k)**-s.
    part = np.where(far, q - np.floor(q), q)
    before = special("zeta", s, np.where(far, 1 - part, 1)) - special("zeta", s, np.where(far, 1 - q, 1))
    return special("zeta", s, part) + np.where(far, np.where(np.asarray(s) % 2 == 0, before, -before), 0)


def modified_bessel(name, x):
    """i0 or i1 of scipy.special, up to the end of the range of floats. Needs SciPy."""
    y, x = special(name, x), np.asarray(x)
    return _to_the_end(y, np.isinf(y), x, scipy_function(name + "e"), 1)


def rgamma(x):
    """One over the gamma function; from 170 on by its recurrence, because SciPy's function underflows too early. Needs SciPy."""
    y, x = special("rgamma", x), np.asarray(x)
    far = (np.abs(x.real - 175) < 5) & (x.imag == 0)
    if not far.any():
        return y
    near = np.where(far, x.real, 170).astype(np.float64) - 20
    exact = scipy_function("rgamma")(near)
    for k in range(20):
        exact = exact / (near + k)
    return np.where(far, exact, y).astype(y.dtype)


def special(name, *arguments):
    """A function of scipy.special. Needs SciPy."""
    return np.asarray(scipy_function(name)(*arguments), np.result_type(*arguments, 1.0))


def _to_the_end(y, lost, x, scaled, sign):
    """Correct SciPy's modified Bessel functions where they over- or underflow too early, from the scaled functions."""
    lost &= (np.abs(x) > 80) & (np.abs(x) < 1e4)
    if not lost.any():
        return y
    wide = np.where(lost, x, 1).astype(np.float64)
    half = np.exp(sign * np.abs(wide) / 2)  # the square may be out of range
    with np.errstate(over="ignore"):
        return np.where(lost, scaled(wide) * half * half, y).astype(y.dtype)


def _bessel_near_0(name, v, x):
    """A Bessel function at 0 < abs(x) < 1e-10: the terms of its series that are not below rounding."""
    if name == "spherical_jn":
        return x**v / math.prod(range(1, 2 * v + 2, 2))
    if name == "spherical_yn":
        return -math.prod(range(1, 2 * v, 2)) / x ** (v + 1)
    if name in ("ive", "kve"):
        return np.exp(x if name == "kve" else -np.abs(np.real(x))) * _bessel_near_0(name[:2], v, x)
    sign = 1
    if x.dtype.kind == "f" and v % 1 == 0 and name in ("iv", "jv"):
        x, sign = np.abs(x), np.where(x < 0, (-1) ** v, 1)
    half = np.log(x) - math.log(2)
    if v < 0 and (v % 1 == 0 or name == "kv"):
        v, sign = -v, -sign if name in ("jv", "yv") and v % 2 else sign
    if name in ("iv", "jv"):
        return sign * math.copysign(1, math.gamma(v + 1)) * np.exp(v * half - math.lgamma(v + 1))
    if 0 <= v < 0.75:
        return sign * _second_kind_near_0(name, v, -half)
    if v < 0:
        turn = v % 2
        first = 0 if turn in (0.5, 1.5) else math.cos(math.pi * v) * _bessel_near_0("yv", -v, x)
        return first - math.sin(math.pi * v) * _bessel_near_0("jv", -v, x)
    return sign * (1 if name == "kv" else -2 / math.pi) * np.exp(math.lgamma(v) - v * half - math.log(2))


def _second_kind_near_0(name, v, depth):
    """kv or yv of a small order, by both terms that its series at 0 begins with; `depth` is log(2 / x).

    They nearly cancel for small orders, hence sinh; NIST Digital Library of Mathematical Functions, 10.27.4 and 10.25.2.
    """
    even = math.exp((math.lgamma(1 + v) + math.lgamma(1 - v)) / 2)
    if v < 1e-3:  # the odd part of lgamma(1 + v), by its series
        odd = -v * (np.euler_gamma + v**2 * (1.2020569031595942 / 3 + v**2 * 1.03692775514337 / 5))
    else:
        odd = (math.lgamma(1 + v) - math.lgamma(1 - v)) / 2
    y = even * np.sinh(v * depth + odd) / v if v else depth - np.euler_gamma
    if name == "kv":
        return y
    rest = 2 * math.sin(math.pi * v / 2) ** 2 * math.gamma(1 - v) * np.exp(-v * depth) / v if v else 0
    return -(2 * y + rest) / math.pi


def _far_scaled_bessel(v, inverse, n, sign):
    """Derivative `n` of the asymptotic series of ive (`sign` 1) or kve (-1) in 1 / x, less the root before it."""
    series, term = 0, math.prod(-k - 0.5 for k in range(n))
    for k in range(30):
        series = series + term * inverse**k
        term *= sign * ((2 * k + 1) ** 2 - 4 * v * v) / (8 * (k + 1)) * (k + 0.5 + n) / (k + 0.5)
    return series * inverse**n


def _kve(v, x):
    """``exp(x) * kv(v, x)``; for tiny numbers by the series at 0."""
    tiny = (x < 1e-10) & (x > 0)
    return np.where(tiny, _bessel_near_0("kve", v, np.where(tiny, x, 1e-10)), scipy_function("kve")(v, x))


def _erfcx_derivative(x, n, far):
    """Derivative `n` of erfcx, by its series if `far`; by the integral of positive terms where the recurrence cancels."""
    near = np.where(far, 0, x)
    value = scipy_function("erfcx")(near)
    y = _by_recurrence(near, n, value, 2 * near * value - 2 / math.sqrt(math.pi))  # which cancels far from 0
    between = ~far & (x.real > 1) if x.dtype.kind == "f" else False
    if 1 < n <= 8 and np.any(between):
        nodes, weights = rule(64)
        weights = 12 / math.sqrt(math.pi) * weights * np.exp(-np.square(6 * nodes)) * (-12 * nodes) ** n
        y = np.asarray(y)
        y[between] = np.exp(np.multiply.outer(x[between], -12 * nodes)) @ weights
    return np.where(far, _far_erfcx(np.where(far, x, 8 + n), n), y)


def _by_recurrence(x, n, value, slope):
    """Derivative `n` of a solution of y' = 2 x y + c, from its value and its slope."""
    before, y = value, slope
    for k in range(1, n):
        before, y = y, 2 * x * y + 2 * k * before
    return y


def _far_erfcx(x, n):
    """Derivative `n` of erfcx by its asymptotic series, far from 0."""
    # erfcx(x) = sum of (-1)**k (2k - 1)!! / (2**k x**(2k + 1)) / sqrt(pi), each term differentiated `n` times.
    inverse = 1 / x
    terms, factor = [], 1.0
    for k in range(36):
        terms.append(factor * math.prod(range(2 * k + 1, 2 * k + 1 + n)))
        factor *= -(2 * k + 1) / 2
    series = 0.0
    for term in reversed(terms):
        series = series * inverse * inverse + term
    return (-1) ** n / math.sqrt(math.pi) * series * inverse ** (n + 1)


_ZETAS = (1.6449340668482264, 1.2020569031595942, 1.0823232337111382, 1.03692775514337, 1.0173430619844492, 1.0083492773819227)
_lgamma = one_by_one(lambda x: math.inf if x <= 0 and x % 1 == 0 else math.lgamma(x))  # Python raises at the poles

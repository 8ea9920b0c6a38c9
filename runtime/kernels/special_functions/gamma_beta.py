"""The beta function, differences of digamma, and terms of divergences, where SciPy's functions lose digits.

For large arguments Stirling's series is used, and differences of series are computed term by term, without cancellation.
"""

import math

import numpy as np

from ..loops.scipy_fallback import scipy_function
from .scipy_backed import lgamma, polygamma

__all__ = ["beta", "betaln", "digamma_gap", "kl_terms", "rel_entr"]

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
LARGE = 10


def beta(a, b):
    """Beta function. Needs SciPy."""
    a, b, dtype = in_double(a, b)
    p, q = np.minimum(a, b), np.maximum(a, b)
    with np.errstate(all="ignore"):
        y = np.where(p < LARGE, scipy_function("gamma")(p) * np.exp(_lgamma_fall(q, p)), np.exp(betaln(p, q)))
        return np.where((p > 0) & (q >= LARGE) & np.isfinite(q), y, scipy_function("beta")(a, b)).astype(dtype)


def betaln(a, b):
    """Logarithm of the beta function. Needs SciPy."""
    a, b, dtype = in_double(a, b)
    low, high = np.minimum(a, b), np.maximum(a, b)
    stirling = (low > 0) & (high >= LARGE) & np.isfinite(high)
    with np.errstate(all="ignore"):
        y = np.asarray(scipy_function("betaln")(a, b))
        if stirling.any():
            p, q = np.where(stirling, low, 1), np.where(stirling, high, LARGE)
            total = p + q
            rest = stirling_rest(q) - stirling_rest(total)
            few = lgamma(p) + _lgamma_fall(q, p)
            ratios = p * np.log1p(q / p) + q * np.log1p(p / q) + np.log(p) / 2 - np.log1p(p / q) / 2
            y = np.where(stirling, np.where(p < LARGE, few, math.log(2 * math.pi) / 2 - ratios + stirling_rest(p) + rest), y)
    return y.astype(dtype)


def digamma_gap(a, b, n):
    """Derivative `n` of digamma at `a` minus its value at ``a + b``. Needs SciPy."""
    offered(n)
    a, b, dtype = in_double(a, b)
    inside = (a > 0) & (b > -a)
    with np.errstate(all="ignore"):
        logarithm, rest = gap_parts(np.where(inside, a, 1), np.where(inside, b, 0), n)
        y = logarithm + rest
        if not inside.all():
            y = np.where(inside, y, polygamma(n, a) - polygamma(n, a + b))
    return y.astype(dtype)


def gap_parts(a, b, n):
    """The two parts of digamma_gap for a > 0 and a + b > 0: a difference of logarithms if `n` is 0, and the rest."""
    m = n + 1
    rest = np.zeros(a.shape)
    for _ in range(LARGE + n):
        low = a < LARGE + n
        if not low.any():
            break
        term = np.where(np.isinf(b), 1, b / (a + b)) / a if n == 0 else -np.expm1(-m * np.log1p(b / a)) / a**m
        rest, a = rest + np.where(low, term, 0), np.where(low, a + 1, a)
    rest = -((-1) ** n) * math.factorial(n) * rest
    powers = [(1, -0.5)] if n == 0 else [(n, (-1) ** m * math.factorial(n - 1)), (m, (-1) ** m * math.factorial(n) / 2)]
    for j, c in enumerate(BERNOULLI, 1):
        powers.append((2 * j + n, (-1) ** m * c * math.factorial(2 * j + n - 1) / math.factorial(2 * j)))
    ratio = np.log1p(b / a)
    for power, factor in reversed(powers):
        rest = rest - factor * np.expm1(-power * ratio) * a ** -float(power)
    return (-ratio if n == 0 else 0.0), rest


def in_double(*arrays):
    """Arrays broadcast together in double precision, and their original dtype."""
    dtype = np.result_type(*arrays, 1.0)
    return *(np.array(x, np.float64) for x in np.broadcast_arrays(*arrays)), dtype


def kl_terms(a, b):
    """``a * log(a / b) - a + b``; b if a is 0, inf if either is negative."""
    a, b, dtype = in_double(a, b)
    with np.errstate(all="ignore"):
        near = np.abs(b - a) < a / 2
        y = np.where(near, -a * log1p_less((b - a) / a), a * log_ratio(a, b) - a + b)
        y = np.where((a > 0) & (b > 0), y, np.where((a == 0) & (b >= 0), b, a + b + np.inf))
        y = np.where(np.isinf(a) ^ np.isinf(b), a + b + np.inf, y)
    return y.astype(dtype)


def offered(*orders):
    """Check the orders of a derivative: not negative, and not so high that the computation would take too long."""
    if min(orders) < 0 or sum(orders) > 20:
        raise ValueError(f"the derivative {orders} is not offered; those up to the 20th are")


def rel_entr(a, b):
    """``a * log(a / b)``; 0 if a is 0, inf if either is negative."""
    a, b, dtype = in_double(a, b)
    with np.errstate(all="ignore"):
        y = np.where((a > 0) & (b > 0), a * log_ratio(a, b), np.where((a == 0) & (b >= 0), 0, a + b + np.inf))
    return y.astype(dtype)


def expm1_less(x):
    """exp(x) - 1 - x."""
    near, series = np.where(np.abs(x) < 0.7, x, 0), 0.0
    for k in range(19, 1, -1):
        series = (series * near + 1) / k
    return np.where(np.abs(x) < 0.7, series * near * near, np.expm1(x) - x)


def log1p_less(x, sum_=None):
    """log(1 + x) - x; `sum_` is 1 + x if a more accurate value is known."""
    near = np.abs(x) < 0.3
    r = np.where(near, x / (2 + x), 0)
    square, series = r * r, 0.0
    for k in range(27, 1, -2):  # log(1 + x) = 2 * atanh(r), and x = 2 * r / (1 - r)
        series = series * square + 1 / k
    far = np.log1p(x) if sum_ is None else np.where(x > 1, np.log1p(x), np.log(sum_))
    return np.where(near, 2 * r * square * series - 2 * square / (1 - r), far - x)


def log_ratio(a, b):
    """log(a / b), also if the quotient is close to 1 or out of range."""
    near = np.abs(a - b) < np.abs(b) / 2
    return np.where(near, np.log1p((a - b) / b), np.log(a) - np.log(b))


def stirling_rest(a):
    """The logarithm of gamma(a) minus that of sqrt(2 pi / a) * (a / e)**a, for large `a`."""
    return sum(c / (2 * j * (2 * j - 1)) * a ** -(2.0 * j - 1) for j, c in enumerate(BERNOULLI, 1))


def _lgamma_fall(q, p):
    """The logarithm of gamma(q) / gamma(p + q), for large `q`."""
    ratio, total = p / q, p + q
    return np.log1p(ratio) / 2 - q * log1p_less(ratio) - p * np.log(total) + stirling_rest(q) - stirling_rest(total)

"""The beta function, the incomplete gamma and beta functions and Student's distribution, with all their derivatives.

The density of log(t), or of log(t / (1 - t)), has a concave logarithm.  So Newton's method finds where it has fallen by 1e-20,
and Gauss-Legendre quadrature integrates up to there.  The integral over the whole range is 0; of its two parts, on either side of
the argument, the one with less cancellation is computed.  Derivatives in the argument follow from the density's, by recurrence.
"""

import functools
import math

import numpy as np

from ..elementwise.elementwise import xlogy
from ..loops.scipy_fallback import scipy_function
from .gamma_beta import (
    BERNOULLI,
    LARGE,
    beta,
    betaln,
    digamma_gap,
    expm1_less,
    gap_parts,
    in_double,
    log1p_less,
    log_ratio,
    offered,
    stirling_rest,
)
from .quadrature import FALL, integral, newton
from .scipy_backed import lgamma, polygamma

__all__ = ["beta_derivative", "betainc_derivative", "gammainc_derivative", "stdtr_derivative"]

MANY = 1e6  # degrees of freedom; from this number on higher derivatives in them lose all digits


def beta_derivative(a, b, m, n):
    """Derivative `m` in `a` and `n` in `b` of the beta function, NaN if two quadrature rules disagree. Needs SciPy."""
    offered(m, n)
    a, b, dtype = in_double(a, b)
    with np.errstate(all="ignore"):
        y = beta(a, b)
        if m or n:
            y = y * _moment((digamma_gap(a, b, 0), digamma_gap(b, a, 0)), (m, n), lambda order: -_beta_log((a, b), order))
            low, high = np.minimum(a, b), np.maximum(a, b)
            cancels = (low > 0) & (high < 1e200) & (low < (0.1 if m and n else 1e-100 if m + n else 0))
            if cancels.any():
                y = np.where(cancels, _beta_moment(*(np.where(cancels, v, 1)[..., None] for v in (a, b)), m, n)[..., 0], y)
    return y.astype(dtype)


def betainc_derivative(a, b, x, k, m, n):
    """Derivative `k` in `a`, `m` in `b` and `n` in `x` of the regularised incomplete beta function. Needs SciPy.

    NaN if two quadrature rules disagree.
    """
    offered(k, m, n)
    a, b, x, dtype = in_double(a, b, x)  # SciPy's function has an error of 1e-5 in single precision
    if k == m == n == 0:
        return np.asarray(scipy_function("betainc")(a, b, x), dtype)
    a, b, x = a[..., None], b[..., None], x[..., None]  # the last axis is for the nodes
    with np.errstate(all="ignore"):
        first, second = _beta_rates(a, b, x)
        if n == 0:
            edge = (x <= 0) | (x >= 1)
            inner = np.where(edge, 0.5, x)
            lower = first < 0 if m == 0 else second > 0 if k == 0 else _beta_offset(a, b, x, 1 - x) < 0

            of_log = functools.cache(functools.partial(_beta_log, (a, b)))

            def factor(below, above):
                return _moment((first + below, second + above), (k, m), of_log)

            y = _beta_tail(a, b, inner, 1 - inner, lower, factor) * _beta_weight(a, b, inner, 0)
            return np.where(edge, np.where(x != x, x, 0), y)[..., 0].astype(dtype)

        y = 1 - x

        def scaled(k, m, j):  # derivative j in x of the density, divided by it, times (x * y)**j
            if min(k, m, j) < 0:
                return 0.0
            if j == 0:
                return _moment((first, second), (k, m), functools.partial(_beta_log, (a, b)))
            j -= 1
            of_a = y * scaled(k - 1, m, j) - j * x * y * scaled(k - 1, m, j - 1)
            of_b = x * scaled(k, m - 1, j) + j * x * y * scaled(k, m - 1, j - 1)
            rest = j * (j + 1 - a - b) * x * y * scaled(k, m, j - 1)
            return ((a - 1) * y - (b - 1) * x - j * (y - x)) * scaled(k, m, j) + rest + k * of_a - m * of_b

        z = _beta_weight(a, b, x, n) * scaled(k, m, n - 1)
        return np.where((x < 0) | (x > 1), np.nan, z)[..., 0].astype(dtype)


def gammainc_derivative(a, x, m, n):
    """Derivative `m` in `a` and `n` in `x` of the regularised lower incomplete gamma function. Needs SciPy.

    NaN if two quadrature rules disagree.
    """
    offered(m, n)
    a, x, dtype = in_double(a, x)
    if m == n == 0:
        return np.asarray(scipy_function("gammainc")(a, x), dtype)
    a, x = a[..., None], x[..., None]  # the last axis is for the nodes
    with np.errstate(all="ignore"):
        first, moment = _gamma_rate(a, x), _gamma_moments(a, x)
        if n == 0:
            edge = (x <= 0) | (x == np.inf)
            inner, lower = np.where(edge, 1, x), first < 0
            side = np.where(lower, -1, 1)

            def factor(d):
                return moment(m, side * d)

            y = _gamma_tail(a, inner, side, factor) * _gamma_weight(a, inner, 0)
            return np.where(edge, np.where(x != x, x, 0), y)[..., 0].astype(dtype)

        def scaled(m, j):  # derivative j in x of the density, divided by it, times x**j
            if min(m, j) < 0:
                return 0.0
            if j == 0:
                return moment(m, 0)
            j -= 1
            return (a - 1 - x - j) * scaled(m, j) - j * x * scaled(m, j - 1) + m * scaled(m - 1, j)

        y = _gamma_weight(a, x, n) * scaled(m, n - 1)
        return np.where(x < 0, np.nan, np.where(x == np.inf, 0, y))[..., 0].astype(dtype)


def stdtr_derivative(df, t, m, n):
    """Derivative `m` in `df` and `n` in `t` of Student's distribution function. Needs SciPy.

    NaN if two quadrature rules disagree, and for higher derivatives in `df` from a million degrees of freedom on.
    """
    offered(m, n)
    df, t, dtype = in_double(df, t)
    df, t = df[..., None], t[..., None]  # the last axis is for the nodes
    with np.errstate(all="ignore"):
        root = t / np.sqrt(df)
        odds = root * root
        log_odds = np.where(np.abs(root) > 1e100, 2 * np.log(np.abs(root)), np.log1p(odds))
        if m == n == 0:
            return np.where(df > 0, _student(df, t, odds, log_odds), np.nan)[..., 0].astype(dtype)
        density = np.exp(-(df + 1) / 2 * log_odds - np.log(df) / 2 - betaln(0.5, df / 2))
        constant = functools.cache(functools.partial(_student_constant, df))

        def moment(m, odds):
            known = [_student_log(df, odds, j, constant(j)) for j in range(1, m + 1)]
            return _moment((known[0],) if m else (0.0,), (m,), lambda orders: known[orders[0] - 1])

        if n == 0:
            edge = (t == 0) | np.isinf(t) | ~(odds < 1e300)
            inner = np.where(edge, 1.0, odds)
            lower = _student_log(df, inner, 1, constant(1)) > 0

            def factor(below, above):
                return moment(m, np.exp(np.log(inner) + below - above))

            y = _beta_tail(0.5 + 0 * df, df / 2, inner / (1 + inner), 1 / (1 + inner), lower, factor) * density * t / 2
            y = np.where(edge, np.where((t == 0) | np.isinf(t), 0, np.nan), y)
        else:

            def at(m, j):  # derivative j in t of the density
                if min(m, j) < 0:
                    return 0.0
                if j == 0:
                    return np.where(density == 0, 0, density * moment(m, odds))
                j -= 1
                rate = (df + 1) * (t * at(m, j) + j * at(m, j - 1)) + m * (t * at(m - 1, j) + j * at(m - 1, j - 1))
                rate = rate + m * at(m - 1, j + 1) + 2 * j * t * at(m, j) + j * (j - 1) * at(m, j - 1)
                return np.where(density == 0, 0, -rate / df / (1 + odds))

            y = at(m, n - 1)
        return np.where((df >= MANY) & (m > 1 or m == 1 < n) | ~(df > 0), np.nan, y)[..., 0].astype(dtype)


def _moment(first, orders, of_log):
    """A derivative of a density over the density: `first` and `of_log` give the first and higher derivatives of its logarithm."""

    def log_of(order):
        return first[order.index(1)] if sum(order) == 1 else of_log(order)

    @functools.cache
    def over(order):
        if not any(order):
            return 1.0
        which = next(i for i, count in enumerate(order) if count)
        less = tuple(count - (i == which) for i, count in enumerate(order))
        total = 0.0
        for taken in np.ndindex(*(count + 1 for count in less)):
            ways = math.prod(map(math.comb, less, taken))
            more = tuple(count + (i == which) for i, count in enumerate(taken))
            total = total + ways * log_of(more) * over(tuple(a - b for a, b in zip(less, taken)))
        return total

    return over(tuple(orders))


def _beta_log(arrays, order):
    (a, b), (i, j) = arrays, order
    if i and j:
        return polygamma(i + j - 1, a + b)
    return -digamma_gap(a, b, i - 1) if i else -digamma_gap(b, a, j - 1)


def _gamma_log(a, order):
    return -polygamma(order[0] - 1, a)


def _student_log(df, odds, k, constant):
    """Derivative `k` in `df` of the log-density, where `odds` is t * t / df and `constant` is the part constant in t."""
    if k == 1:
        share = odds / (1 + odds)
        bend = np.where(odds < 0.3, log1p_less(odds) + odds * share, np.log1p(odds) - share)
        return (constant - bend + share / df) / 2

    def of_log(j):
        return (-1) ** (j - 1) * math.factorial(j - 1) * df ** -float(j) * np.expm1(-j * np.log1p(odds))

    return constant - ((df + 1) * of_log(k) + k * of_log(k - 1)) / 2


def _student_constant(df, k):
    if k == 1:
        log_of_ratio, rest = gap_parts(df / 2, 0.5 + 0 * df, 0)
        return np.where(df / 2 >= LARGE, log1p_less(1 / df), -log_of_ratio - 1 / df) - rest
    return -digamma_gap(df / 2, 0.5, k - 1) / 2**k - (-1) ** (k - 1) * math.factorial(k - 1) * df ** -float(k) / 2


def _student(df, t, odds, log_odds):
    """Student's distribution function, from t * t / df and log(1 + t * t / df)."""
    incomplete, complement, share = scipy_function("betainc"), scipy_function("betaincc"), odds / (1 + odds)
    middle = np.copysign(incomplete(0.5, df / 2, share), t) / 2
    far = np.exp(-df / 2 * log_odds - np.log(df / 2) - betaln(df / 2, 0.5))
    beyond = np.where(odds < 1, complement(0.5, df / 2, share), incomplete(df / 2, 0.5, 1 / (1 + odds)))
    tail = np.where(odds > 1e290, far, beyond) / 2
    return np.where((np.abs(middle) < 0.25) & (odds < 1), 0.5 + middle, np.where(t > 0, 1 - tail, tail))


def _beta_rates(a, b, x):
    """Derivatives in `a` and in `b` of log(x**a * (1-x)**b / beta(a, b))."""
    offset, found = _beta_offset(a, b, x, 1 - x), []
    for p, q, logarithm, moved in ((a, b, np.log(x), offset), (b, a, np.log1p(-x), -offset)):
        log_of_ratio, rest = gap_parts(p, q, 0)
        near = (p >= LARGE) & (np.abs(moved) < p / 2)
        found.append(np.where(near, np.log1p(moved / p), logarithm - log_of_ratio) - rest)
    return found


def _beta_moment(a, b, m, n):
    """Integral of ``t**(a-1) * (1-t)**(b-1) * log(t)**m * log(1-t)**n`` from 0 to 1; the integrand has one sign."""
    x, y = (a + 0.5) / (a + b + 1), (b + 0.5) / (a + b + 1)
    log_x, log_y = np.where(x < 0.5, np.log(x), np.log1p(-y)), np.where(y < 0.5, np.log(y), np.log1p(-x))

    def factor(below, above):
        logit = log_x - log_y + below - above
        return (-np.logaddexp(0, -logit)) ** m * (-np.logaddexp(0, logit)) ** n

    low, high = (_beta_tail(a, b, x, y, np.full(a.shape, lower), factor) for lower in (True, False))
    return (low - high) * np.exp(a * log_x + b * log_y)


def _beta_offset(a, b, x, y):
    """``b * x - a * y``, which cancels around the mean, in the longest available precision."""
    a, b, x, y = (np.asarray(v, np.longdouble) for v in (a, b, x, y))
    return (b * x - a * y).astype(np.float64)


def _beta_tail(a, b, x, y, lower, factor):
    """The integral of a density of log(t / (1 - t)) times a factor up to `x`, or minus that from `x` on, over the density at `x`.

    `y` is 1 - x.  The factor is a function of the differences of log(t) and log(1 - t) from their values at `x`.
    """
    p, q, inside, outside = (np.where(lower, u, v) for u, v in ((a, b), (b, a), (x, y), (y, x)))
    total, slope = p + q, np.where(lower, -1, 1) * _beta_offset(a, b, x, y)
    def gone(d):
        """The decrease of log(1 - t), or of log(t) in the other direction; and the change of log(t) beyond the distance."""
        within = np.log1p(outside * np.expm1(np.minimum(d, 700)))
        more = np.where((inside < 0.5) | (d < 1), np.log1p(inside * np.expm1(-d)), np.log(outside + inside * np.exp(-d)))
        return more, np.where((d < 1) | (inside > 0.5) & (d < 700), within, d + more)

    def fall(d):  # the decrease of the logarithm of the density at a distance
        small, (more, less) = np.minimum(d, 1), gone(d)
        low, high = np.expm1(-small), np.expm1(small)
        bend = np.where(inside > 0.5, log1p_less(outside * high) + outside * expm1_less(small),
                        log1p_less(inside * low) + inside * expm1_less(-small))  # fmt: skip
        return np.where(d <= 1, slope * d + total * bend, np.where(inside > 0.5, total * less - q * d, p * d + total * more))

    def rate(d):
        share = inside * np.exp(-d)
        return p - total * share / (outside + share)

    def values(d):
        more, less = gone(d)
        return factor(np.where(lower, -less, -more), np.where(lower, -more, -less))

    quick = np.sqrt(4 * np.e * FALL / (total * inside * outside))
    bound = (FALL - total * np.log(outside)) / p
    reach = newton(fall, rate, np.where((quick <= 1) & (slope > -FALL), np.minimum(quick, bound), bound))
    middle = np.log(inside) - np.log(outside)
    parts = [np.clip(middle - at, 0, reach) for at in (37, 10, 3, 0, -3, -10, -37)]
    return np.where(lower, 1, -1) * integral(fall, values, parts, reach)


def _beta_weight(a, b, x, less):
    """``x**(a-less) * (1-x)**(b-less) / beta(a, b)``."""
    offset, total = _beta_offset(a, b, x, 1 - x), a + b
    exponent = a * log1p_less(offset / a, x / (a / total)) + b * log1p_less(-offset / b, (1 - x) / (b / total))
    exponent = exponent + stirling_rest(total) - stirling_rest(a) - stirling_rest(b)
    exponent = np.where((x == 0) | (x == 1), -np.inf, exponent - (less and less * (np.log(x) + np.log1p(-x))))
    for_large = np.exp(exponent) * np.sqrt(a / total * b / (2 * math.pi))
    rest = np.where(b == less, 0, (b - less) * np.log1p(-x))
    return np.where(np.minimum(a, b) >= LARGE, for_large, np.exp(xlogy(a - less, x) + rest - betaln(a, b)))


def _gamma_moments(a, x):
    """Derivative m in `a` of ``t**a / gamma(a)``, divided by it, at log(t) = log(x) + d, as a function of m and d.

    1 / gamma(a) is a / gamma(a + 1): for small `a` the powers of 1 / a in derivatives of log(gamma(a)) would cancel.
    """
    small = a < 0.5
    raised, factor = np.where(small, a + 1, a), np.where(small, 1 / a, 0)
    rate, of_log = _gamma_rate(raised, x), functools.cache(functools.partial(_gamma_log, raised))

    def moment(m, d):
        of = [_moment((rate + d,), (k,), of_log) for k in range(max(m - 1, 0), m + 1)]
        return of[-1] + m * factor * of[0] if m else 1.0

    return moment


def _gamma_rate(a, x):
    """Derivative in `a` of log(x**a / gamma(a)): log(x) - digamma(a)."""
    large = a >= LARGE
    safe = np.where(large, a, LARGE)
    less = 1 / (2 * safe) + sum(c / (2 * j * safe ** (2.0 * j)) for j, c in enumerate(BERNOULLI, 1))
    return np.where(large, log_ratio(x, safe) + less, np.log(x) - scipy_function("digamma")(a))


def _gamma_tail(a, x, side, factor):
    """As _beta_tail, for a density of log(t), up to `x` if `side` is -1; the factor is a function of the distance."""

    def fall(d):
        return side * (x - a) * d + x * expm1_less(side * d)

    def rate(d):
        return side * (x * np.exp(side * d) - a)

    quick = np.sqrt(6 * FALL / x)
    bound = np.where(side < 0, (FALL + x) / a, np.log1p((FALL + 10 * a + 2 * a * np.abs(np.log(x))) / x))
    bound = np.where(x > a, np.minimum(bound, FALL / (x - a)), bound)
    reach = newton(fall, rate, np.where((quick <= 1) & (x > a - 2), np.minimum(quick, bound), bound))
    parts = [np.clip(side * (at - np.log(x)), 0, reach) for at in (-37, -10, -3, 0, 2)]
    return -side * integral(fall, factor, parts, reach)


def _gamma_weight(a, x, less):
    """``x**(a-less) * exp(-x) / gamma(a)``."""
    large = a >= LARGE
    safe = np.where(large, a, LARGE)
    exponent = safe * log1p_less((x - safe) / safe, x / safe) - stirling_rest(safe)
    for_large = np.where(x == 0, 0, np.exp(exponent - (less and less * np.log(x))) * np.sqrt(safe / (2 * math.pi)))
    return np.where(large, for_large, np.exp(xlogy(a - less, x) - x - lgamma(a)))

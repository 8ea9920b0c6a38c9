"""Families on the whole line, and families shifted by their location: norm, t, gumbel_r and related families.

Defines their formulas as in SciPy's documentation: for `loc` 0 and `scale` 1.
"""

import math

from ...generated.ops import (
    abs,
    asinh,
    atan2,
    cos,
    exp,
    expm1,
    hypot,
    log,
    log1p,
    logaddexp,
    sinh,
    sqrt,
    square,
    tan,
    where,
    xlogy,
)  # fmt: skip
from ...special import (
    betainc,
    betaln,
    digamma,
    erf,
    erfc,
    erfcinv,
    erfinv,
    exprel,
    gammainc,
    gammaincc,
    gammaincinv,
    gammaln,
    i0,
    i0e,
    i1e,
    k1e,
    log_ndtr,
    logit,
    ndtr,
    ndtri,
    polygamma,
    stdtr,
    zeta,
)  # fmt: skip
from ...special import (
    gamma as gamma_function,
)
from ...support.dispatch import ops
from ..difference_quotients import log1p_ratio
from .continuous import Continuous
from .tails import existing, log_betainc, log_gammainc, log_gammaincc, modulus, softplus

EULER, ZETA3, LOG_2PI = 0.57721566490153286061, 1.2020569031595942854, math.log(2 * math.pi)
pi, log2, inf, nan = math.pi, math.log(2), math.inf, math.nan


def log_gauss(x):
    """The logarithm of the normal density."""
    return -x * x / 2 - LOG_2PI / 2


norm = Continuous(
    "norm", doc="Normal distribution.", symmetric=True,
    logpdf=log_gauss, cdf=ndtr, logcdf=log_ndtr, ppf=ndtri,
    stats=lambda: (0.0, 1.0, 0.0, 0.0), entropy=lambda: (LOG_2PI + 1) / 2,
)  # fmt: skip
cauchy = Continuous(
    "cauchy", doc="Cauchy distribution.", symmetric=True,
    logpdf=lambda x: -math.log(pi) - 2 * log(hypot(1.0, x)), cdf=lambda x: atan2(1.0, -x) / pi,
    ppf=lambda q: where(abs(q - 0.5) < 0.25, tan(pi * (q - 0.5)), -1 / tan(pi * q)),
    stats=lambda: (nan, nan, nan, nan), entropy=lambda: math.log(4 * pi),
)  # fmt: skip
logistic = Continuous(
    "logistic", doc="Logistic distribution.", symmetric=True,
    logpdf=lambda x: -modulus(x) - 2 * log1p(exp(-modulus(x))), cdf=ops.sigmoid, logcdf=lambda x: -softplus(-x), ppf=logit,
    stats=lambda: (0.0, pi**2 / 3, 0.0, 1.2), entropy=lambda: 2.0,
)  # fmt: skip


def _laplace_estimates(data, loc, scale):
    loc = ops.median(data) if loc is None else loc
    return loc, ops.mean(abs(data - loc)) if scale is None else scale


laplace = Continuous(
    "laplace", doc="Laplace distribution.", symmetric=True,
    logpdf=lambda x: -log2 - abs(x), cdf=lambda x: where(x < 0, exp(-modulus(x)) / 2, 1 - exp(-modulus(x)) / 2),
    logcdf=lambda x: where(x < 0, x - log2, log1p(-exp(-modulus(x)) / 2)),
    ppf=lambda q: where(q > 0.5, -log(2 * (1 - q)), log(2 * q)),
    stats=lambda: (0.0, 2.0, 0.0, 3.0), entropy=lambda: log2 + 1, estimates=_laplace_estimates,
)  # fmt: skip
gumbel_r = Continuous(
    "gumbel_r", doc="Right-skewed Gumbel distribution, of greatest values.",
    logpdf=lambda x: -x - exp(-x), logcdf=lambda x: -exp(-x), ppf=lambda q: -log(-log(q)), isf=lambda q: -log(-log1p(-q)),
    stats=lambda: (EULER, pi**2 / 6, 12 * math.sqrt(6) * ZETA3 / pi**3, 2.4), entropy=lambda: EULER + 1,
)  # fmt: skip
gumbel_l = Continuous(
    "gumbel_l", doc="Left-skewed Gumbel distribution, of least values.",
    logpdf=lambda x: x - exp(x), logsf=lambda x: -exp(x), ppf=lambda q: log(-log1p(-q)), isf=lambda q: log(-log(q)),
    stats=lambda: (-EULER, pi**2 / 6, -12 * math.sqrt(6) * ZETA3 / pi**3, 2.4), entropy=lambda: EULER + 1,
)  # fmt: skip
hypsecant = Continuous(
    "hypsecant", doc="Hyperbolic secant distribution.", symmetric=True,
    logpdf=lambda x: log2 - math.log(pi) - logaddexp(x, -x),
    cdf=lambda x: 2 / pi * atan2(where(x < 0, exp(where(x < 0, x, 0.0)), 1.0), where(x < 0, 1.0, exp(-where(x < 0, 0.0, x)))),
    ppf=lambda q: log(tan(pi / 2 * q)),
    stats=lambda: (0.0, pi**2 / 4, 0.0, 2.0), entropy=lambda: LOG_2PI,
)  # fmt: skip
moyal = Continuous(
    "moyal", doc="Moyal distribution.",
    logpdf=lambda x: -(x + exp(-x) + LOG_2PI) / 2, cdf=lambda x: erfc(exp(-x / 2) / math.sqrt(2)),
    sf=lambda x: erf(exp(-x / 2) / math.sqrt(2)),
    ppf=lambda q: -2 * log(math.sqrt(2) * erfcinv(q)), isf=lambda q: -2 * log(math.sqrt(2) * erfinv(q)),
    stats=lambda: (log2 + EULER, pi**2 / 2, 28 * math.sqrt(2) * ZETA3 / pi**3, 4.0),
    entropy=lambda: (LOG_2PI + log2 + EULER + 1) / 2,
)  # fmt: skip


def _t_odds(x, df):
    """log(1 + x**2 / df), also if x is so large that its square is infinite."""
    far = abs(x) > 1e100
    return where(far, 2 * log(where(far, abs(x), 1.0)) - log(df), log1p(square(where(far, 0.0, x)) / df))


def _t_tail(x, df):
    """log(cdf) of Student's t; around 0, where the incomplete beta function ends, by the cdf itself."""
    tail, right = x < -1, x >= 0
    away = where(tail, x, -2.0)
    far = away < -1e100
    left = log_betainc(df / 2, 0.5 + 0 * df, df / (df + square(where(far, 0.0, away))))
    left = where(far, -df / 2 * _t_odds(away, df) - log(df / 2) - betaln(df / 2, 0.5), left) - log2
    near = where(right, log1p(-stdtr(df, -where(right, x, 0.0))), log(stdtr(df, where(tail | right, -0.5, x))))
    return where(tail, left, near)


t = Continuous(
    "t", "df", doc="Student's t distribution.", symmetric=True,
    logpdf=lambda x, df: -betaln(0.5, df / 2) - log(df) / 2 - (df + 1) / 2 * _t_odds(x, df),
    cdf=lambda x, df: stdtr(df, x), logcdf=_t_tail,
    stats=lambda df: (existing(df > 1, 0 * df), where(df > 2, df / where(df > 2, df - 2, 1.0), where(df > 1, inf, nan)),
                      existing(df > 3, 0 * df, nan), where(df > 4, 6 / where(df > 4, df - 4, 1.0), where(df > 2, inf, nan))),
    entropy=lambda df: (df + 1) / 2 * (digamma((df + 1) / 2) - digamma(df / 2)) + log(df) / 2 + betaln(df / 2, 0.5),
)  # fmt: skip


def _skewnorm_stats(a):
    mean = a / hypot(1.0, a) * math.sqrt(2 / pi)
    variance = 1 - mean * mean
    return mean, variance, (4 - pi) / 2 * mean**3 / variance**1.5, 2 * (pi - 3) * mean**4 / variance**2


skewnorm = Continuous(
    "skewnorm", "a", doc="Skew normal distribution.", domain=lambda a: a == a,
    logpdf=lambda x, a: log2 + log_gauss(x) + log_ndtr(a * x), stats=_skewnorm_stats,
    slopes=lambda x, a: (-exp(-x * x * (1 + a * a) / 2) / (pi * (1 + a * a)),),
)  # fmt: skip
exponnorm = Continuous(
    "exponnorm", "K", doc="Sum of a normal and an exponential number, whose mean is K.",
    logpdf=lambda x, K: -log(K) + (0.5 / K - x) / K + log_ndtr(x - 1 / K),
    cdf=lambda x, K: ndtr(x) - exp((0.5 / K - x) / K + log_ndtr(x - 1 / K)),
    sf=lambda x, K: ndtr(-x) + exp((0.5 / K - x) / K + log_ndtr(x - 1 / K)),
    stats=lambda K: (K, 1 + K * K, 2 * K**3 / (1 + K * K) ** 1.5, 6 * K**4 / (1 + K * K) ** 2),
)  # fmt: skip


def _gennorm_cdf(x, b):
    """The cdf; near 0 its tangent, because the power has no derivative there."""
    near = abs(x) < 1e-100
    power = where(near, 1.0, abs(x)) ** b
    far = where(x < 0, gammaincc(1 / b, power), 1 + gammainc(1 / b, power)) / 2
    return where(near, 0.5 + x * exp(log(b / 2) - gammaln(1 / b)), far)


def _gennorm_logcdf(x, b):
    left = x < -1e-100
    power = where(left, abs(x), 1.0) ** b
    return where(left, log_gammaincc(1 / b, power) - log2, log1p(-_gennorm_cdf(where(left, 0.0, -x), b)))


gennorm = Continuous(
    "gennorm", "beta", doc="Generalised normal distribution.", symmetric=True,
    logpdf=lambda x, b: log(b / 2) - gammaln(1 / b) - modulus(x) ** b,
    cdf=_gennorm_cdf, logcdf=_gennorm_logcdf,
    stats=lambda b: (0 * b, exp(gammaln(3 / b) - gammaln(1 / b)), 0 * b,
                     exp(gammaln(5 / b) + gammaln(1 / b) - 2 * gammaln(3 / b)) - 3),
    entropy=lambda b: 1 / b - log(b / 2) + gammaln(1 / b),
)  # fmt: skip


def _genlogistic_stats(c):
    variance = pi**2 / 6 + zeta(2.0, c)
    return (EULER + digamma(c), variance, (2 * ZETA3 - 2 * zeta(3.0, c)) / variance**1.5,
            (pi**4 / 15 + 6 * zeta(4.0, c)) / variance**2)  # fmt: skip


genlogistic = Continuous(
    "genlogistic", "c", doc="Generalised logistic distribution.",
    logpdf=lambda x, c: log(c) - x - (c + 1) * softplus(-x), logcdf=lambda x, c: -c * softplus(-x),
    ppf=lambda q, c: -log(expm1(-log(q) / c)), stats=_genlogistic_stats,
    entropy=lambda c: -log(c) + digamma(c + 1) + EULER + 1,
)  # fmt: skip
loggamma = Continuous(
    "loggamma", "c", doc="Logarithm of a gamma number.",
    logpdf=lambda x, c: c * x - exp(x) - gammaln(c), cdf=lambda x, c: gammainc(c, exp(x)), sf=lambda x, c: gammaincc(c, exp(x)),
    logcdf=lambda x, c: log_gammainc(c, exp(x)), logsf=lambda x, c: log_gammaincc(c, exp(x)),
    stats=lambda c: (digamma(c), polygamma(1, c), polygamma(2, c) / polygamma(1, c) ** 1.5,
                     polygamma(3, c) / polygamma(1, c) ** 2),
    entropy=lambda c: gammaln(c) - c * digamma(c) + c,
)  # fmt: skip


def _johnsonsu_stats(a, b):
    w = exp(b**-2)
    return -sqrt(w) * sinh(a / b), (w - 1) * (w * ops.cosh(2 * a / b) + 1) / 2, None, None


johnsonsu = Continuous(
    "johnsonsu", "a b", doc="Johnson's SU distribution.", domain=lambda a, b: (b > 0) & (a == a),
    logpdf=lambda x, a, b: log(b) - log(hypot(1.0, x)) + log_gauss(a + b * asinh(x)),
    cdf=lambda x, a, b: ndtr(a + b * asinh(x)), sf=lambda x, a, b: ndtr(-a - b * asinh(x)),
    logcdf=lambda x, a, b: log_ndtr(a + b * asinh(x)), logsf=lambda x, a, b: log_ndtr(-a - b * asinh(x)),
    ppf=lambda q, a, b: sinh((ndtri(q) - a) / b), isf=lambda q, a, b: sinh((-ndtri(q) - a) / b), stats=_johnsonsu_stats,
)  # fmt: skip


def _left(k):
    """The probability of negative values of laplace_asymmetric."""
    return k * k / (1 + k * k)


laplace_asymmetric = Continuous(
    "laplace_asymmetric", "kappa", doc="Asymmetric Laplace distribution.",
    logpdf=lambda x, k: -log(k + 1 / k) - where(x < 0, -x / k, x * k),
    logcdf=lambda x, k: where(x < 0, log(_left(k)) + where(x < 0, x, 0.0) / k,
                              log1p(-exp(-where(x < 0, 0.0, x) * k) / (1 + k * k))),
    logsf=lambda x, k: where(x < 0, log1p(-_left(k) * exp(where(x < 0, x, 0.0) / k)), -where(x < 0, 0.0, x) * k - log1p(k * k)),
    ppf=lambda q, k: where(q < _left(k), k * log(q / _left(k)), -(log1p(-q) + log1p(k * k)) / k),
    stats=lambda k: (1 / k - k, k**-2 + k**2, 2 * (1 - k**6) / (1 + k**4) ** 1.5, 6 * (1 + k**8) / (1 + k**4) ** 2),
    entropy=lambda k: 1 + log(k + 1 / k),
)  # fmt: skip
norminvgauss = Continuous(
    "norminvgauss", "a b", doc="Normal inverse Gaussian distribution.", domain=lambda a, b: (a > 0) & (abs(b) < a),
    logpdf=lambda x, a, b: (log(a / pi) + log(k1e(a * hypot(1.0, x))) - log(hypot(1.0, x)) + b * x - a * hypot(1.0, x)
                            + sqrt((a - b) * (a + b))),
    stats=lambda a, b: (b / sqrt((a - b) * (a + b)), a * a / ((a - b) * (a + b)) ** 1.5,
                        3 * b / (a * ((a - b) * (a + b)) ** 0.25),
                        3 * (1 + 4 * (b / a) ** 2) / sqrt((a - b) * (a + b))),
)  # fmt: skip
dgamma = Continuous(
    "dgamma", "a", doc="Double gamma distribution.", symmetric=True,
    logpdf=lambda x, a: xlogy(a - 1, abs(x)) - abs(x) - log2 - gammaln(a),
    cdf=lambda x, a: where(x < 0, gammaincc(a, modulus(x)), 1 + gammainc(a, modulus(x))) / 2,
    logcdf=lambda x, a: where(x < 0, log_gammaincc(a, modulus(x)) - log2, log1p(-gammaincc(a, modulus(x)) / 2)),
    ppf=lambda q, a: where(q < 0.5, -1.0, 1.0) * gammaincinv(a, modulus(2 * q - 1)),
    stats=lambda a: (0 * a, a * (a + 1), 0 * a, (a + 2) * (a + 3) / (a * (a + 1)) - 3),
    entropy=lambda a: a + log2 + gammaln(a) + (1 - a) * digamma(a),
)  # fmt: skip
dweibull = Continuous(
    "dweibull", "c", doc="Double Weibull distribution.", symmetric=True,
    logpdf=lambda x, c: log(c / 2) + xlogy(c - 1, abs(x)) - abs(x) ** c,
    logcdf=lambda x, c: where(x < 0, -(modulus(x) ** c) - log2, log1p(-exp(-(modulus(x) ** c)) / 2)),
    ppf=lambda q, c: where(q < 0.5, -1.0, 1.0) * (-log(where(q < 0.5, 2 * q, 2 * (1 - q)))) ** (1 / c),
    stats=lambda c: (0 * c, gamma_function(1 + 2 / c), 0 * c, gamma_function(1 + 4 / c) / gamma_function(1 + 2 / c) ** 2 - 3),
    entropy=lambda c: 1 + EULER * (1 - 1 / c) - log(c / 2),
)  # fmt: skip
skewcauchy = Continuous(
    "skewcauchy", "a", doc="Skewed Cauchy distribution.", domain=lambda a: abs(a) < 1,
    logpdf=lambda x, a: -math.log(pi) - 2 * log(hypot(1.0, x / (1 + where(x < 0, -a, a)))),
    cdf=lambda x, a: where(x < 0, (1 - a) / pi * atan2(1 - a, -x), 1 - (1 + a) / pi * atan2(1 + a, x)),
    sf=lambda x, a: where(x < 0, 1 - (1 - a) / pi * atan2(1 - a, -x), (1 + a) / pi * atan2(1 + a, x)),
    stats=lambda a: (nan, nan, nan, nan),
)  # fmt: skip
powernorm = Continuous(
    "powernorm", "c", doc="Least of c normal numbers, where c is whole.",
    logpdf=lambda x, c: log(c) + log_gauss(x) + (c - 1) * log_ndtr(-x), logsf=lambda x, c: c * log_ndtr(-x),
    ppf=lambda q, c: -ndtri(exp(log1p(-q) / c)), isf=lambda q, c: -ndtri(exp(log(q) / c)),
)  # fmt: skip


def log_i0e(z):
    """log(i0e(z)) of z that are not negative; i0e is even, and has a corner at 0."""
    near = z < 1
    return where(near, log(i0(where(near, z, 0.0))) - z, log(i0e(where(near, 1.0, z))))


_circle = {
    "logpdf": lambda x, k: k * (cos(x) - 1) - LOG_2PI - log_i0e(k),
    "entropy": lambda k: k * (1 - i1e(k) / i0e(k)) + LOG_2PI + log_i0e(k),
    "stats": lambda k: (0 * k, None, 0 * k, None),
    "domain": lambda k: k >= 0,
}
vonmises = Continuous("vonmises", "kappa", doc="Von Mises distribution on the circle, with the period 2 pi.", **_circle)
vonmises_line = Continuous("vonmises_line", "kappa", doc="Von Mises distribution from -pi to pi.", support=(-pi, pi), **_circle)


def _crystalball_tail(x, b, m):
    """Scaled distance from the start of the left tail, 1 at the start; and the unnormalised probability to the left of x."""
    reach = where(x < -b, (-x - b) * b / m, 0.0) + 1
    return reach, exp(-b * b / 2 + (1 - m) * log(reach)) * m / (b * (m - 1))


def _crystalball_scale(b, m):
    return _crystalball_tail(-b, b, m)[1] + math.sqrt(2 * pi) * ndtr(b)


def _crystalball_logpdf(x, b, m):
    reach, _ = _crystalball_tail(x, b, m)
    return where(x < -b, -m * log(reach) - b * b / 2, -x * x / 2) - log(_crystalball_scale(b, m))


def _crystalball_cdf(x, b, m):
    _, beyond = _crystalball_tail(x, b, m)
    return (beyond + math.sqrt(2 * pi) * (ndtr(where(x < -b, -b, x)) - ndtr(-b))) / _crystalball_scale(b, m)


def _crystalball_sf(x, b, m):
    return where(x < -b, 1 - _crystalball_cdf(x, b, m), math.sqrt(2 * pi) * ndtr(-x) / _crystalball_scale(b, m))


crystalball = Continuous(
    "crystalball", "beta m", doc="Normal distribution with a power law as its left tail.", domain=lambda b, m: (b > 0) & (m > 1),
    logpdf=_crystalball_logpdf, cdf=_crystalball_cdf, sf=_crystalball_sf,
)  # fmt: skip


def _jf_share(y, a, b):
    """The beta variable that determines a skew t variable, and 1 minus it."""
    root = sqrt(a + b + square(y))
    far = modulus(y) + root
    small = (a + b) / (2 * root * far)  # (1 - abs(y) / root) / 2 without cancellation
    return where(y < 0, small, 1 - small), where(y < 0, 1 - small, small)


def _jf_logpdf(y, a, b):
    low, high = _jf_share(y, a, b)
    return (a + 0.5) * log(2 * low) + (b + 0.5) * log(2 * high) - (a + b - 1) * log2 - betaln(a, b) - log(a + b) / 2


jf_skew_t = Continuous(
    "jf_skew_t", "a b", doc="Skew t distribution of Jones and Faddy.", logpdf=_jf_logpdf,
    cdf=lambda y, a, b: betainc(a, b, _jf_share(y, a, b)[0]), sf=lambda y, a, b: betainc(b, a, _jf_share(y, a, b)[1]),
)  # fmt: skip


def _kappa4_fall(x, h, k):
    power = exp(-x * log1p_ratio(-k * x))
    return power * log1p_ratio(-h * power)


def _kappa4_support(h, k):
    size = log(where(h > 0, h, 1.0))
    left = where(h > 0, size * exprel(-k * size), where(k < 0, 1 / where(k < 0, k, -1.0), -inf))
    return left, where(k > 0, 1 / where(k > 0, k, 1.0), inf)


def _kappa4_quantile(size, k):
    return -size * exprel(k * size)


kappa4 = Continuous(
    "kappa4", "h k", doc="Hosking's distribution of four parameters; genextreme at h = 0.", support=_kappa4_support,
    domain=lambda h, k: ops.isfinite(h) & ops.isfinite(k),
    logpdf=lambda x, h, k: (k - 1) * x * log1p_ratio(-k * x) - (1 - h) * _kappa4_fall(x, h, k),
    logcdf=lambda x, h, k: -_kappa4_fall(x, h, k),
    ppf=lambda q, h, k: _kappa4_quantile(log(-log(q) * exprel(h * log(q))), k),
)  # fmt: skip

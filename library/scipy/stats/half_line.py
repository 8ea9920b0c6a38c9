"""Families on the positive numbers, of powers and exponentials: expon, weibull_min, lognorm, pareto and related families.

Defines their formulas as in SciPy's documentation: for `loc` 0 and `scale` 1.
"""

import math

from ...generated.ops import abs, atan, atan2, exp, expm1, log, log1p, minimum, sqrt, square, tan, where, xlogy
from ...special import (
    betaln,
    erf,
    erfc,
    erfcinv,
    erfinv,
    exp1,
    expit,
    exprel,
    i0e,
    i1e,
    log_ndtr,
    logit,
    ndtr,
    ndtri,
)  # fmt: skip
from ...special import (
    gamma as gamma_function,
)
from ...support.dispatch import ops
from ..difference_quotients import log1p_ratio
from .continuous import Continuous
from .tails import existing, from_raw, modulus, softplus
from .whole_line import EULER, LOG_2PI, ZETA3, inf, log2, log_gauss, log_i0e, nan, pi

POSITIVE = (0.0, inf)


def powers(of, exists=lambda k: True):
    """Moments from the means of the first four powers, if they exist."""
    return from_raw(*(where(exists(k), of(k), inf) for k in (1, 2, 3, 4)))


def _expon_estimates(data, loc, scale):
    loc = ops.min(data) if loc is None else loc
    return loc, ops.mean(data) - loc if scale is None else scale


expon = Continuous(
    "expon", doc="Exponential distribution.", support=POSITIVE,
    logpdf=lambda x: -x, logsf=lambda x: -x, ppf=lambda q: -log1p(-q), isf=lambda q: -log(q),
    stats=lambda: (1.0, 1.0, 2.0, 6.0), entropy=lambda: 1.0, estimates=_expon_estimates,
)  # fmt: skip
exponpow = Continuous(
    "exponpow", "b", doc="Exponential power distribution.", support=POSITIVE,
    logpdf=lambda x, b: 1 + log(b) + xlogy(b - 1, x) + x**b - exp(x**b), logsf=lambda x, b: -expm1(x**b),
    ppf=lambda q, b: log1p(-log1p(-q)) ** (1 / b), isf=lambda q, b: log1p(-log(q)) ** (1 / b),
)  # fmt: skip
exponweib = Continuous(
    "exponweib", "a c", doc="Exponentiated Weibull distribution.", support=POSITIVE,
    logpdf=lambda x, a, c: log(a) + log(c) + (a - 1) * ops.log1mexp(x**c) - x**c + xlogy(c - 1, x),
    logcdf=lambda x, a, c: a * ops.log1mexp(x**c), ppf=lambda q, a, c: (-ops.log1mexp(-log(q) / a)) ** (1 / c),
)  # fmt: skip
burr = Continuous(
    "burr", "c d", doc="Burr distribution, type III.", support=POSITIVE,
    logpdf=lambda x, c, d: log(c) + log(d) - (c + 1) * log(x) - (d + 1) * softplus(-c * log(x)),
    logcdf=lambda x, c, d: -d * softplus(-c * log(x)), ppf=lambda q, c, d: expm1(-log(q) / d) ** (-1 / c),
    stats=lambda c, d: powers(lambda k: d * exp(betaln(where(c > k, 1 - k / c, 1.0), d + k / c)), lambda k: c > k),
)  # fmt: skip
burr12 = Continuous(
    "burr12", "c d", doc="Burr distribution, type XII.", support=POSITIVE,
    logpdf=lambda x, c, d: log(c) + log(d) + xlogy(c - 1, x) - (d + 1) * softplus(c * log(x)),
    logsf=lambda x, c, d: -d * softplus(c * log(x)), ppf=lambda q, c, d: expm1(-log1p(-q) / d) ** (1 / c),
    isf=lambda q, c, d: expm1(-log(q) / d) ** (1 / c),
    stats=lambda c, d: powers(lambda k: d * exp(betaln(1 + k / c, where(c * d > k, d - k / c, 1.0))), lambda k: c * d > k),
)  # fmt: skip
fisk = Continuous(
    "fisk", "c", doc="Log-logistic distribution.", support=POSITIVE,
    logpdf=lambda x, c: log(c) + xlogy(c - 1, x) - 2 * softplus(c * log(x)),
    logcdf=lambda x, c: -softplus(-c * log(x)), logsf=lambda x, c: -softplus(c * log(x)),
    ppf=lambda q, c: exp(logit(q) / c), isf=lambda q, c: exp(-logit(q) / c),
    stats=lambda c: powers(lambda k: 1 / ops.sinc(where(c > k, k / c, 0.5)), lambda k: c > k), entropy=lambda c: 2 - log(c),
)  # fmt: skip


def _roots(x):
    return sqrt(x) - 1 / sqrt(x)


fatiguelife = Continuous(
    "fatiguelife", "c", doc="Fatigue-life distribution of Birnbaum and Saunders.", support=POSITIVE,
    logpdf=lambda x, c: log1p(x) - 1.5 * log(x) - log(2 * c) + log_gauss(_roots(x) / c),
    cdf=lambda x, c: ndtr(_roots(x) / c), sf=lambda x, c: ndtr(-_roots(x) / c),
    logcdf=lambda x, c: log_ndtr(_roots(x) / c), logsf=lambda x, c: log_ndtr(-_roots(x) / c),
    ppf=lambda q, c: exp(2 * ops.asinh(c * ndtri(q) / 2)), isf=lambda q, c: exp(-2 * ops.asinh(c * ndtri(q) / 2)),
    stats=lambda c: (1 + c * c / 2, c * c * (1 + 1.25 * c * c), 4 * c * (11 * c * c + 6) / (5 * c * c + 4) ** 1.5,
                     6 * c * c * (93 * c * c + 40) / (5 * c * c + 4) ** 2),
)  # fmt: skip
foldcauchy = Continuous(
    "foldcauchy", "c", doc="Modulus of a Cauchy number with the location c.", support=POSITIVE, domain=lambda c: c >= 0,
    pdf=lambda x, c: (1 / (1 + square(x - c)) + 1 / (1 + square(x + c))) / pi,
    cdf=lambda x, c: (atan(x - c) + atan(x + c)) / pi, sf=lambda x, c: (atan2(1.0, x - c) + atan2(1.0, x + c)) / pi,
)  # fmt: skip


def _foldnorm_stats(c):
    mean = math.sqrt(2 / pi) * exp(-c * c / 2) + c * erf(c / math.sqrt(2))
    return mean, c * c + 1 - mean * mean, None, None


foldnorm = Continuous(
    "foldnorm", "c", doc="Modulus of a normal number with the mean c.", support=POSITIVE, domain=lambda c: c >= 0,
    logpdf=lambda x, c: log_gauss(x - c) + log1p(exp(-2 * x * c)),
    cdf=lambda x, c: (erf((x - c) / math.sqrt(2)) + erf((x + c) / math.sqrt(2))) / 2, sf=lambda x, c: ndtr(c - x) + ndtr(-x - c),
    logsf=lambda x, c: ops.logaddexp(log_ndtr(c - x), log_ndtr(-x - c)), stats=_foldnorm_stats,
)  # fmt: skip
genexpon = Continuous(
    "genexpon", "a b c", doc="Generalised exponential distribution.", support=POSITIVE,
    logpdf=lambda x, a, b, c: log(a - b * expm1(-c * x)) - (a + b) * x - b * expm1(-c * x) / c,
    logsf=lambda x, a, b, c: -(a + b) * x - b * expm1(-c * x) / c,
)  # fmt: skip


def _genpareto_stats(c):
    def at_most(limit):
        return where(c < limit, c, 0.0)

    second, third, fourth = at_most(1 / 2), at_most(1 / 3), at_most(1 / 4)
    kurtosis = 3 * (1 - 2 * fourth) * (2 * fourth**2 + fourth + 3) / ((1 - 3 * fourth) * (1 - 4 * fourth)) - 3
    return (existing(c < 1, 1 / (1 - at_most(1))), existing(c < 1 / 2, 1 / ((1 - second) ** 2 * (1 - 2 * second))),
            existing(c < 1 / 3, 2 * (1 + third) * sqrt(1 - 2 * third) / (1 - 3 * third), nan),
            existing(c < 1 / 4, kurtosis, nan))  # fmt: skip


genpareto = Continuous(
    "genpareto", "c", doc="Generalised Pareto distribution; exponential at c = 0.", domain=ops.isfinite,
    support=lambda c: (0.0, where(c < 0, -1 / where(c < 0, c, -1.0), inf)),
    logpdf=lambda x, c: -(c + 1) * x * log1p_ratio(c * x), logsf=lambda x, c: -x * log1p_ratio(c * x),
    ppf=lambda q, c: -log1p(-q) * exprel(-c * log1p(-q)), isf=lambda q, c: -log(q) * exprel(-c * log(q)),
    stats=_genpareto_stats, entropy=lambda c: 1 + c,
)  # fmt: skip
genextreme = Continuous(
    "genextreme", "c", doc="Generalised extreme value distribution; gumbel_r at c = 0, and bounded above where c is positive.",
    domain=ops.isfinite,
    support=lambda c: (where(c < 0, 1 / where(c < 0, c, -1.0), -inf), where(c > 0, 1 / where(c > 0, c, 1.0), inf)),
    logpdf=lambda x, c: (c - 1) * x * log1p_ratio(-c * x) - exp(-x * log1p_ratio(-c * x)),
    logcdf=lambda x, c: -exp(-x * log1p_ratio(-c * x)),
    ppf=lambda q, c: -log(-log(q)) * exprel(c * log(-log(q))),
    isf=lambda q, c: -log(-log1p(-q)) * exprel(c * log(-log1p(-q))),
    entropy=lambda c: EULER * (1 - c) + 1,
)  # fmt: skip


def _folded(x, c):
    """(1 - c x)**(1 / c)."""
    return exp(-x * log1p_ratio(-c * x))


genhalflogistic = Continuous(
    "genhalflogistic", "c", doc="Generalised half-logistic distribution.", support=lambda c: (0.0, 1 / c),
    logpdf=lambda x, c: log2 + log(_folded(x, c)) - log1p(-c * x) - 2 * log1p(_folded(x, c)),
    cdf=lambda x, c: ops.tanh(x * log1p_ratio(-c * x) / 2), sf=lambda x, c: 2 * _folded(x, c) / (1 + _folded(x, c)),
    ppf=lambda q, c: -expm1(c * (log1p(-q) - log1p(q))) / c, isf=lambda q, c: -expm1(c * (log(q) - log(2 - q))) / c,
    entropy=lambda c: 2 - (2 * c + 1) * log2,
)  # fmt: skip
gompertz = Continuous(
    "gompertz", "c", doc="Gompertz distribution.", support=POSITIVE,
    logpdf=lambda x, c: log(c) + x - c * expm1(x), logsf=lambda x, c: -c * expm1(x),
    ppf=lambda q, c: log1p(-log1p(-q) / c), isf=lambda q, c: log1p(-log(q) / c), entropy=lambda c: 1 - log(c) - exp(c) * exp1(c),
)  # fmt: skip
halfcauchy = Continuous(
    "halfcauchy", doc="Half-Cauchy distribution.", support=POSITIVE,
    logpdf=lambda x: math.log(2 / pi) - 2 * log(ops.hypot(1.0, x)), cdf=lambda x: 2 / pi * atan(x),
    sf=lambda x: 2 / pi * atan2(1.0, x),
    ppf=lambda q: tan(pi / 2 * q), isf=lambda q: 1 / tan(pi / 2 * q), stats=lambda: (inf, inf, nan, nan), entropy=lambda: LOG_2PI,
)  # fmt: skip
halflogistic = Continuous(
    "halflogistic", doc="Half-logistic distribution.", support=POSITIVE,
    logpdf=lambda x: log2 - x - 2 * softplus(-x), cdf=lambda x: ops.tanh(x / 2), sf=lambda x: 2 * expit(-x),
    ppf=lambda q: 2 * ops.atanh(q), isf=lambda q: log(2 - q) - log(q), entropy=lambda: 2 - log2,
    stats=lambda: from_raw(2 * log2, pi**2 / 3, 9 * ZETA3, 7 * pi**4 / 15),
)  # fmt: skip
halfnorm = Continuous(
    "halfnorm", doc="Half-normal distribution.", support=POSITIVE,
    logpdf=lambda x: log2 + log_gauss(x), cdf=lambda x: erf(x / math.sqrt(2)), sf=lambda x: erfc(x / math.sqrt(2)),
    logsf=lambda x: log2 + log_ndtr(-x), ppf=lambda q: math.sqrt(2) * erfinv(q), isf=lambda q: math.sqrt(2) * erfcinv(q),
    stats=lambda: (math.sqrt(2 / pi), 1 - 2 / pi, math.sqrt(2) * (4 - pi) / (pi - 2) ** 1.5, 8 * (pi - 3) / (pi - 2) ** 2),
    entropy=lambda: math.log(pi / 2) / 2 + 0.5,
)  # fmt: skip


def _invgauss(sign):
    """log(cdf), or log(sf) if the sign is -1: two exponentials are added or subtracted in logarithms."""

    def logarithm(x, mu):
        first = log_ndtr(sign * (x / mu - 1) / sqrt(x))
        return first + log1p(sign * exp(2 / mu + log_ndtr(-(x / mu + 1) / sqrt(x)) - first))

    return logarithm


def _invgauss_logpdf(x, mu):
    return -(LOG_2PI + 3 * log(x) + square((x - mu) / mu) / x) / 2


invgauss = Continuous(
    "invgauss", "mu", doc="Inverse Gaussian distribution.", support=POSITIVE,
    logpdf=_invgauss_logpdf, logcdf=_invgauss(1), logsf=_invgauss(-1), stats=lambda mu: (mu, mu**3, 3 * sqrt(mu), 15 * mu),
)  # fmt: skip
wald = Continuous(
    "wald", doc="Wald distribution, invgauss with mu = 1.", support=POSITIVE,
    logpdf=lambda x: _invgauss_logpdf(x, 1.0), logcdf=lambda x: _invgauss(1)(x, 1.0), logsf=lambda x: _invgauss(-1)(x, 1.0),
    stats=lambda: (1.0, 1.0, 3.0, 15.0), entropy=lambda: ((1 + LOG_2PI) - 3 * exp(2.0) * exp1(2.0)) / 2,
)  # fmt: skip
recipinvgauss = Continuous(
    "recipinvgauss", "mu", doc="One over an inverse Gaussian number.", support=POSITIVE,
    logpdf=lambda x, mu: _invgauss_logpdf(1 / x, mu) - 2 * log(x), logcdf=lambda x, mu: _invgauss(-1)(1 / x, mu),
    logsf=lambda x, mu: _invgauss(1)(1 / x, mu),
)  # fmt: skip
invweibull = Continuous(
    "invweibull", "c", doc="Inverse Weibull distribution, Frechet's.", support=POSITIVE,
    logpdf=lambda x, c: log(c) - (c + 1) * log(x) - x**-c, logcdf=lambda x, c: -(x**-c),
    ppf=lambda q, c: (-log(q)) ** (-1 / c), isf=lambda q, c: (-log1p(-q)) ** (-1 / c),
    stats=lambda c: powers(lambda k: gamma_function(where(c > k, 1 - k / c, 1.0)), lambda k: c > k),
    entropy=lambda c: 1 + EULER * (1 + 1 / c) - log(c),
)  # fmt: skip
levy = Continuous(
    "levy", doc="Levy distribution.", support=POSITIVE,
    logpdf=lambda x: -(LOG_2PI + 3 * log(x) + 1 / x) / 2, cdf=lambda x: erfc(sqrt(0.5 / x)), sf=lambda x: erf(sqrt(0.5 / x)),
    ppf=lambda q: square(ndtri(q / 2)) ** -1, isf=lambda q: square(erfinv(q)) ** -1 / 2,
    stats=lambda: (inf, inf, nan, nan), entropy=lambda: (1 + 3 * EULER + math.log(16 * pi)) / 2,
)  # fmt: skip
levy_l = Continuous(
    "levy_l", doc="Left-skewed Levy distribution.", support=(-inf, 0.0),
    logpdf=lambda x: -(LOG_2PI + 3 * log(abs(x)) + 1 / abs(x)) / 2,
    cdf=lambda x: erf(sqrt(-0.5 / x)), sf=lambda x: erfc(sqrt(-0.5 / x)),
    ppf=lambda q: -(square(erfinv(q)) ** -1) / 2, isf=lambda q: -(square(ndtri(q / 2)) ** -1),
    stats=lambda: (inf, inf, nan, nan), entropy=lambda: (1 + 3 * EULER + math.log(16 * pi)) / 2,
)  # fmt: skip


def _lognorm_stats(s):
    p, less = exp(s * s), expm1(s * s)
    return sqrt(p), p * less, sqrt(less) * (2 + p), p**4 + 2 * p**3 + 3 * p**2 - 6


lognorm = Continuous(
    "lognorm", "s", doc="Log-normal distribution; s is the standard deviation of the logarithm.", support=POSITIVE,
    logpdf=lambda x, s: log_gauss(log(x) / s) - log(s) - log(x), cdf=lambda x, s: ndtr(log(x) / s),
    sf=lambda x, s: ndtr(-log(x) / s),
    logcdf=lambda x, s: log_ndtr(log(x) / s), logsf=lambda x, s: log_ndtr(-log(x) / s), ppf=lambda q, s: exp(s * ndtri(q)),
    isf=lambda q, s: exp(-s * ndtri(q)), stats=_lognorm_stats, entropy=lambda s: (1 + LOG_2PI) / 2 + log(s),
)  # fmt: skip
_E = math.e
gibrat = Continuous(
    "gibrat", doc="Gibrat's distribution, lognorm with s = 1.", support=POSITIVE,
    logpdf=lambda x: log_gauss(log(x)) - log(x), cdf=lambda x: ndtr(log(x)), sf=lambda x: ndtr(-log(x)),
    logcdf=lambda x: log_ndtr(log(x)), logsf=lambda x: log_ndtr(-log(x)), ppf=lambda q: exp(ndtri(q)),
    isf=lambda q: exp(-ndtri(q)),
    stats=lambda: (math.sqrt(_E), _E * (_E - 1), math.sqrt(_E - 1) * (2 + _E), _E**4 + 2 * _E**3 + 3 * _E**2 - 6),
    entropy=lambda: (1 + LOG_2PI) / 2,
)  # fmt: skip
powerlognorm = Continuous(
    "powerlognorm", "c s", doc="Power log-normal distribution.", support=POSITIVE,
    logpdf=lambda x, c, s: log(c) - log(s) - log(x) + log_gauss(log(x) / s) + (c - 1) * log_ndtr(-log(x) / s),
    logsf=lambda x, c, s: c * log_ndtr(-log(x) / s), ppf=lambda q, c, s: exp(-s * ndtri(exp(log1p(-q) / c))),
    isf=lambda q, c, s: exp(-s * ndtri(exp(log(q) / c))),
)  # fmt: skip
loglaplace = Continuous(
    "loglaplace", "c", doc="Log-Laplace distribution.", support=POSITIVE,
    logpdf=lambda x, c: log(c / 2) - log(x) - c * abs(log(x)),
    cdf=lambda x, c: where(x < 1, exp(-c * modulus(log(x))) / 2, 1 - exp(-c * modulus(log(x))) / 2),
    logcdf=lambda x, c: where(x < 1, c * log(x) - log2, log1p(-exp(-c * modulus(log(x))) / 2)),
    logsf=lambda x, c: where(x < 1, log1p(-exp(-c * modulus(log(x))) / 2), -c * log(x) - log2),
    ppf=lambda q, c: exp(where(q < 0.5, log(2 * q), -log(2 * (1 - q))) / c),
    isf=lambda q, c: exp(where(q < 0.5, -log(2 * q), log(2 * (1 - q))) / c), entropy=lambda c: log(2 / c) + 1,
    stats=lambda c: powers(lambda k: 1 / (1 - square(where(c > k, k / c, 0.5))), lambda k: c > k),
)  # fmt: skip


def _lomax_stats(c):
    mean, variance, skewness, kurtosis = _pareto_stats(c)
    return mean - 1, variance, skewness, kurtosis


def _pareto_stats(b):
    first, second, third, fourth = (where(b > k, b, k + 1.0) for k in (1, 2, 3, 4))
    kurtosis = 6 * (fourth**3 + fourth**2 - 6 * fourth - 2) / (fourth * (fourth - 3) * (fourth - 4))
    return (existing(b > 1, first / (first - 1)), existing(b > 2, second / ((second - 2) * square(second - 1))),
            existing(b > 3, 2 * (third + 1) * sqrt(third - 2) / ((third - 3) * sqrt(third)), nan),
            existing(b > 4, kurtosis, nan))  # fmt: skip


lomax = Continuous(
    "lomax", "c", doc="Lomax distribution, a Pareto distribution from 0 on.", support=POSITIVE,
    logpdf=lambda x, c: log(c) - (c + 1) * log1p(x), logsf=lambda x, c: -c * log1p(x), ppf=lambda q, c: expm1(-log1p(-q) / c),
    isf=lambda q, c: expm1(-log(q) / c), stats=_lomax_stats, entropy=lambda c: 1 + 1 / c - log(c),
)  # fmt: skip
pareto = Continuous(
    "pareto", "b", doc="Pareto distribution.", support=(1.0, inf),
    logpdf=lambda x, b: log(b) - (b + 1) * log(x), logsf=lambda x, b: -b * log(x), ppf=lambda q, b: exp(-log1p(-q) / b),
    isf=lambda q, b: exp(-log(q) / b), stats=_pareto_stats, entropy=lambda b: 1 + 1 / b - log(b),
)  # fmt: skip
mielke = Continuous(
    "mielke", "k s", doc="Mielke's beta-kappa distribution.", support=POSITIVE,
    logpdf=lambda x, k, s: log(k) + xlogy(k - 1, x) - (1 + k / s) * softplus(s * log(x)),
    logcdf=lambda x, k, s: -k / s * softplus(-s * log(x)), ppf=lambda q, k, s: expm1(-log(q) * s / k) ** (-1 / s),
    stats=lambda k, s: powers(lambda n: k / s * exp(betaln((k + n) / s, where(s > n, 1 - n / s, 1.0))), lambda n: s > n),
)  # fmt: skip
kappa3 = Continuous(
    "kappa3", "a", doc="Kappa distribution of three parameters.", support=POSITIVE,
    logpdf=lambda x, a: log(a) - (1 / a + 1) * log(a + x**a), logcdf=lambda x, a: -softplus(log(a) - a * log(x)) / a,
    ppf=lambda q, a: (a / expm1(-a * log(q))) ** (1 / a),
)  # fmt: skip


def _breitwigner_root(rho):
    return sqrt(1 + 1 / square(rho))


def _breitwigner_stats(rho):
    """By the density's constant, 2 / pi * k / rho**2."""
    root = _breitwigner_root(rho)
    mean = sqrt(2 / (1 + root)) * root * rho / pi * (pi / 2 + atan(rho))
    return mean, rho * rho * root - square(mean), nan, nan


def _breitwigner_cdf(x, rho):
    turn = ops.sqrt(ops.complex(-1 + 0 * rho, 1 / rho)) * atan(x / ops.sqrt(ops.complex(-square(rho), -rho)))
    return minimum(2 / pi * sqrt(2 / (1 + _breitwigner_root(rho))) * ops.imag(turn), 1.0)


rel_breitwigner = Continuous(
    "rel_breitwigner", "rho", doc="Relativistic Breit-Wigner distribution.", support=POSITIVE,
    logpdf=lambda x, rho: log(2 / pi * sqrt(2 / (1 + _breitwigner_root(rho))) * _breitwigner_root(rho))
        - log1p(square((x - rho) * (x + rho) / rho)),
    cdf=_breitwigner_cdf, stats=_breitwigner_stats,
)  # fmt: skip
rayleigh = Continuous(
    "rayleigh", doc="Rayleigh distribution.", support=POSITIVE,
    logpdf=lambda x: log(x) - x * x / 2, logsf=lambda x: -x * x / 2, ppf=lambda q: sqrt(-2 * log1p(-q)),
    isf=lambda q: sqrt(-2 * log(q)),
    stats=lambda: (math.sqrt(pi / 2), (4 - pi) / 2, 2 * (pi - 3) * math.sqrt(pi) / (4 - pi) ** 1.5,
                   6 * pi / (4 - pi) - 16 / (4 - pi) ** 2),
    entropy=lambda: EULER / 2 + 1 - log2 / 2,
)  # fmt: skip


def _rice_stats(b):
    half = b * b / 4
    mean = math.sqrt(pi / 2) * ((1 + 2 * half) * i0e(half) + 2 * half * i1e(half))
    return mean, 2 + b * b - mean * mean, None, None


rice = Continuous(
    "rice", "b", doc="Rice distribution.", support=POSITIVE, domain=lambda b: b >= 0,
    logpdf=lambda x, b: log(x) - square(x - b) / 2 + log_i0e(x * b),
    slopes=lambda x, b: (-x * exp(-square(x - b) / 2) * i1e(x * b),),
    stats=_rice_stats,
)  # fmt: skip
weibull_min = Continuous(
    "weibull_min", "c", doc="Weibull distribution of least values.", support=POSITIVE,
    logpdf=lambda x, c: log(c) + xlogy(c - 1, x) - x**c, logsf=lambda x, c: -(x**c), ppf=lambda q, c: (-log1p(-q)) ** (1 / c),
    isf=lambda q, c: (-log(q)) ** (1 / c), stats=lambda c: powers(lambda k: gamma_function(1 + k / c)),
    entropy=lambda c: EULER * (1 - 1 / c) - log(c) + 1,
)  # fmt: skip
weibull_max = Continuous(
    "weibull_max", "c", doc="Weibull distribution of greatest values, on the negative numbers.", support=(-inf, 0.0),
    logpdf=lambda x, c: log(c) + xlogy(c - 1, -x) - (-x) ** c, logcdf=lambda x, c: -((-x) ** c),
    ppf=lambda q, c: -((-log(q)) ** (1 / c)),
    isf=lambda q, c: -((-log1p(-q)) ** (1 / c)), stats=lambda c: powers(lambda k: (-1) ** k * gamma_function(1 + k / c)),
    entropy=lambda c: EULER * (1 - 1 / c) - log(c) + 1,
)  # fmt: skip
alpha = Continuous(
    "alpha", "a", doc="Alpha distribution.", support=POSITIVE,
    logpdf=lambda x, a: -2 * log(x) + log_gauss(a - 1 / x) - log_ndtr(a), logcdf=lambda x, a: log_ndtr(a - 1 / x) - log_ndtr(a),
    ppf=lambda q, a: 1 / (a - ndtri(q * ndtr(a))), stats=lambda a: (inf, inf, nan, nan),
)  # fmt: skip


def _log_power(x, b):
    """The logarithm of (1 - x**-b) / b, for x above 1 and b of either sign."""
    size = log(x)
    return ops.log1mexp(abs(b) * size) + where(b < 0, -b * size, 0.0) - log(abs(b))


truncpareto = Continuous(
    "truncpareto", "b c", doc="Pareto distribution that ends at c.", support=lambda b, c: (1.0, c),
    domain=lambda b, c: (b != 0) & (c > 1),
    logpdf=lambda x, b, c: -(b + 1) * log(x) - _log_power(c, b), logcdf=lambda x, b, c: _log_power(x, b) - _log_power(c, b),
    logsf=lambda x, b, c: -b * log(x) + _log_power(c / x, b) - _log_power(c, b),
    ppf=lambda q, b, c: exp(-log1p(q * expm1(-b * log(c))) / b),
)  # fmt: skip
truncweibull_min = Continuous(
    "truncweibull_min", "c a b", doc="Weibull distribution of least values from a to b.", support=lambda c, a, b: (a, b),
    domain=lambda c, a, b: (c > 0) & (a >= 0) & (b > a),
    logpdf=lambda x, c, a, b: log(c) + xlogy(c - 1, x) - (x**c - a**c) - ops.log1mexp(b**c - a**c),
    logcdf=lambda x, c, a, b: ops.log1mexp(x**c - a**c) - ops.log1mexp(b**c - a**c),
    logsf=lambda x, c, a, b: -(x**c - a**c) + ops.log1mexp(b**c - x**c) - ops.log1mexp(b**c - a**c),
    ppf=lambda q, c, a, b: (a**c - log1p(q * expm1(a**c - b**c))) ** (1 / c),
)  # fmt: skip

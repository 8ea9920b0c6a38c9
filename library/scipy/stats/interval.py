"""Families on an interval: uniform, triang, truncnorm and related families.

Defines their formulas as in SciPy's documentation: for `loc` 0 and `scale` 1.
"""

import math

import numpy as np

from ...generated.ops import asin as arcsin
from ...generated.ops import atan2 as arctan2
from ...generated.ops import cos, exp, expm1, isinf, log, log1p, sin, sqrt, square, where, xlogy
from ...special import expit, log_ndtr, logit, ndtr, ndtri
from ...support.dispatch import ops
from ..values import refused
from .continuous import Continuous
from .half_line import powers
from .poisson_sums import extreme, last
from .tails import log_ndtr_between
from .whole_line import LOG_2PI, log2, log_gauss, pi

UNIT = (0.0, 1.0)


def _uniform_estimates(data, loc, scale):
    low, high = ops.min(data), ops.max(data)
    if loc is None:
        loc = low if scale is None else (low + high - scale) / 2
    return loc, high - loc if scale is None else scale


uniform = Continuous(
    "uniform", doc="Uniform distribution.", support=UNIT,
    logpdf=lambda x: 0 * x, cdf=lambda x: x, sf=lambda x: 1 - x, ppf=lambda q: q, isf=lambda q: 1 - q,
    stats=lambda: (0.5, 1 / 12, 0.0, -1.2), entropy=lambda: 0.0, estimates=_uniform_estimates,
)  # fmt: skip
arcsine = Continuous(
    "arcsine", doc="Arcsine distribution.", support=UNIT,
    logpdf=lambda x: -math.log(pi) - (log(x) + log1p(-x)) / 2, cdf=lambda x: 2 / pi * arctan2(sqrt(x), sqrt(1 - x)),
    sf=lambda x: 2 / pi * arctan2(sqrt(1 - x), sqrt(x)),
    ppf=lambda q: square(sin(pi / 2 * q)), isf=lambda q: square(cos(pi / 2 * q)),
    stats=lambda: (0.5, 1 / 8, 0.0, -1.5), entropy=lambda: math.log(pi / 4),
)  # fmt: skip
anglit = Continuous(
    "anglit", doc="Anglit distribution.", support=(-pi / 4, pi / 4), symmetric=True,
    logpdf=lambda x: log(cos(2 * x)), cdf=lambda x: square(sin(x + pi / 4)), ppf=lambda q: arcsin(sqrt(q)) - pi / 4,
    stats=lambda: (0.0, pi**2 / 16 - 0.5, 0.0, -2 * (pi**4 - 96) / (pi**2 - 8) ** 2), entropy=lambda: 1 - log2,
)  # fmt: skip
cosine = Continuous(
    "cosine", doc="Raised cosine distribution.", support=(-pi, pi),
    logpdf=lambda x: log1p(cos(x)) - LOG_2PI,
    stats=lambda: (0.0, pi**2 / 3 - 2, 0.0, -6 * (pi**4 - 90) / (5 * (pi**2 - 6) ** 2)), entropy=lambda: math.log(4 * pi) - 1,
)  # fmt: skip
semicircular = Continuous(
    "semicircular", doc="Semicircular distribution, Wigner's.", support=(-1.0, 1.0),
    logpdf=lambda x: math.log(2 / pi) + log1p(-x * x) / 2, stats=lambda: (0.0, 0.25, 0.0, -1.0),
    entropy=lambda: math.log(pi) - 0.5,
)  # fmt: skip


def _bradford_stats(c):
    k = log1p(c)
    return (c - k) / (c * k), ((c + 2) * k - 2 * c) / (2 * c * k * k), None, None


bradford = Continuous(
    "bradford", "c", doc="Bradford distribution.", support=UNIT,
    logpdf=lambda x, c: log(c) - log1p(c * x) - log(log1p(c)), cdf=lambda x, c: log1p(c * x) / log1p(c),
    sf=lambda x, c: log1p(c * (1 - x) / (1 + c * x)) / log1p(c), ppf=lambda q, c: expm1(q * log1p(c)) / c,
    stats=_bradford_stats, entropy=lambda c: log1p(c) / 2 - log(c / log1p(c)),
)  # fmt: skip


def _safe(mask, x):
    """A divisor where it is used."""
    return where(mask, x, 1.0)


triang = Continuous(
    "triang", "c", doc="Triangular distribution with its top at c.", support=UNIT, domain=lambda c: (c >= 0) & (c <= 1),
    logpdf=lambda x, c: log2 + where(x < c, log(x) - log(_safe(x < c, c)), log1p(-x) - log(_safe(x >= c, 1 - c))),
    cdf=lambda x, c: where(x < c, x * x / _safe(x < c, c), 1 - square(1 - x) / _safe(x >= c, 1 - c)),
    sf=lambda x, c: where(x < c, 1 - x * x / _safe(x < c, c), square(1 - x) / _safe(x >= c, 1 - c)),
    ppf=lambda q, c: where(q < c, sqrt(c * q), 1 - sqrt((1 - c) * (1 - q))),
    stats=lambda c: ((1 + c) / 3, (1 - c + c * c) / 18,
                     math.sqrt(2) * (2 * c - 1) * (c + 1) * (c - 2) / (5 * (1 - c + c * c) ** 1.5),
                     0 * c - 0.6),
    entropy=lambda c: 0.5 - log2 + 0 * c,
)  # fmt: skip


def _trapezoid_top(c, d):
    return 2 / (d - c + 1)


trapezoid = Continuous(
    "trapezoid", "c d", doc="Trapezoidal distribution, flat from c to d.", support=UNIT,
    domain=lambda c, d: (c >= 0) & (d >= c) & (d <= 1),
    pdf=lambda x, c, d: _trapezoid_top(c, d) * where(
        x < c, x / _safe(x < c, c), where(x > d, (1 - x) / _safe(x > d, 1 - d), 1.0)),
    cdf=lambda x, c, d: where(x > d, 1 - _trapezoid_top(c, d) / 2 * square(1 - x) / _safe(x > d, 1 - d),
                              _trapezoid_top(c, d) * where(x < c, x * x / (2 * _safe(x < c, c)), x - c / 2)),
    sf=lambda x, c, d: where(x > d, _trapezoid_top(c, d) / 2 * square(1 - x) / _safe(x > d, 1 - d),
                             1 - _trapezoid_top(c, d) * where(x < c, x * x / (2 * _safe(x < c, c)), x - c / 2)),
)  # fmt: skip


def _truncexpon_mean(b):
    return 1 - b / expm1(b)


truncexpon = Continuous(
    "truncexpon", "b", doc="Exponential distribution that ends at b.", support=lambda b: (0.0, b),
    logpdf=lambda x, b: -x - log(-expm1(-b)), cdf=lambda x, b: expm1(-x) / expm1(-b),
    sf=lambda x, b: exp(-x) * expm1(x - b) / expm1(-b),
    ppf=lambda q, b: -log1p(q * expm1(-b)), stats=lambda b: (_truncexpon_mean(b), None, None, None),
    entropy=lambda b: _truncexpon_mean(b) + log(-expm1(-b)),
)  # fmt: skip


def _edge(x):
    """x times the normal density at x, which is 0 at infinity."""
    far = isinf(x)
    return where(far, 0.0, where(far, 0.0, x) * exp(log_gauss(x)))


def _truncnorm_stats(a, b):
    share = exp(log_ndtr_between(a, b))
    mean = (exp(log_gauss(a)) - exp(log_gauss(b))) / share
    return mean, 1 + (_edge(a) - _edge(b)) / share - mean * mean, None, None


truncnorm = Continuous(
    "truncnorm", "a b", doc="Normal distribution from a to b, in standard deviations from its mean.", support=lambda a, b: (a, b),
    domain=lambda a, b: a < b, logpdf=lambda x, a, b: log_gauss(x) - log_ndtr_between(a, b),
    logcdf=lambda x, a, b: log_ndtr_between(a, x) - log_ndtr_between(a, b),
    logsf=lambda x, a, b: log_ndtr_between(x, b) - log_ndtr_between(a, b), stats=_truncnorm_stats,
    entropy=lambda a, b: log_ndtr_between(a, b) + (LOG_2PI + 1) / 2 + (_edge(a) - _edge(b)) / (2 * exp(log_ndtr_between(a, b))),
)  # fmt: skip


def _log_range(a, b):
    return log(b) - log(a)


def _loguniform(name):
    return Continuous(
        name, "a b", doc="Log-uniform distribution from a to b.", support=lambda a, b: (a, b),
        domain=lambda a, b: (a > 0) & (b > a),
        logpdf=lambda x, a, b: -log(x) - log(_log_range(a, b)), cdf=lambda x, a, b: _log_range(a, x) / _log_range(a, b),
        sf=lambda x, a, b: _log_range(x, b) / _log_range(a, b), ppf=lambda q, a, b: exp(log(a) + q * _log_range(a, b)),
        isf=lambda q, a, b: exp(log(b) - q * _log_range(a, b)),
        stats=lambda a, b: powers(lambda k: (b**k - a**k) / (k * _log_range(a, b))),
        entropy=lambda a, b: (log(a) + log(b)) / 2 + log(_log_range(a, b)),
    )  # fmt: skip


loguniform, reciprocal = _loguniform("loguniform"), _loguniform("reciprocal")
powerlaw = Continuous(
    "powerlaw", "a", doc="Power-function distribution.", support=UNIT,
    logpdf=lambda x, a: log(a) + xlogy(a - 1, x), logcdf=lambda x, a: a * log(x), ppf=lambda q, a: q ** (1 / a),
    stats=lambda a: powers(lambda k: a / (a + k)), entropy=lambda a: 1 - 1 / a - log(a),
)  # fmt: skip
johnsonsb = Continuous(
    "johnsonsb", "a b", doc="Johnson's SB distribution.", support=UNIT, domain=lambda a, b: (b > 0) & (a == a),
    logpdf=lambda x, a, b: log(b) - log(x) - log1p(-x) + log_gauss(a + b * logit(x)),
    cdf=lambda x, a, b: ndtr(a + b * logit(x)), sf=lambda x, a, b: ndtr(-a - b * logit(x)),
    logcdf=lambda x, a, b: log_ndtr(a + b * logit(x)), logsf=lambda x, a, b: log_ndtr(-a - b * logit(x)),
    ppf=lambda q, a, b: expit((ndtri(q) - a) / b), isf=lambda q, a, b: expit((-ndtri(q) - a) / b),
)  # fmt: skip
wrapcauchy = Continuous(
    "wrapcauchy", "c", doc="Wrapped Cauchy distribution.", support=(0.0, 2 * pi), domain=lambda c: (c > 0) & (c < 1),
    logpdf=lambda x, c: log1p(-c * c) - LOG_2PI - log(square(1 - c) + 4 * c * square(sin(x / 2))),
    cdf=lambda x, c: arctan2((1 + c) * sin(x / 2), (1 - c) * cos(x / 2)) / pi,
    sf=lambda x, c: arctan2((1 + c) * sin(x / 2), -(1 - c) * cos(x / 2)) / pi,
    ppf=lambda q, c: 2 * arctan2((1 - c) * sin(pi * q), (1 + c) * cos(pi * q)), entropy=lambda c: LOG_2PI + log1p(-c * c),
)  # fmt: skip


def _count(n):
    return refused(n, (n,), "scipy.stats.irwinhall has no derivative in n, which is a whole number; pass n.detach()")


def _splines(x, n):
    """B-splines of order n on integer knots, starting at 0, 1, ..., n, along a last axis: de Boor's sums, all positive."""
    most = extreme(n, np.max, 32.0)  # in a batch of `vmap` NaN beyond
    j, found = np.arange(2 * most + 1), math.nan
    (x,) = last(x)
    y = where(ops.floor(x) == j, 1.0, 0.0) + 0 * x
    for order in range(1, int(most) + 1):
        if order > 1:
            j = j[:-1]
            y = ((x - j) * y[..., :-1] + (order + j - x) * y[..., 1:]) / (order - 1)
        found = where(ops.expand_dims(n, -1) == order, y[..., : int(most) + 1], found)
    return found


def _near(x, n):
    return where(2 * x > n, n - x, x)


def _irwinhall_below(x, n):
    return ops.sum(_splines(x, n + 1), -1)


irwinhall = Continuous(
    "irwinhall", "n", doc="Sum of n uniform numbers; n is whole and has no derivative.", support=lambda n: (0.0, _count(n)),
    domain=lambda n: (n > 0) & (ops.floor(n) == n), pdf=lambda x, n: _splines(_near(x, _count(n)), _count(n))[..., 0],
    cdf=lambda x, n: _irwinhall_below(x, _count(n)), sf=lambda x, n: _irwinhall_below(_count(n) - x, _count(n)),
    stats=lambda n: (_count(n) / 2, _count(n) / 12, 0 * _count(n), -6 / (5 * _count(n))),
)  # fmt: skip

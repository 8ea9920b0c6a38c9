"""Families whose probabilities are incomplete gamma and beta functions on the positive numbers: gamma, chi2, f and others.

Defines their formulas as in SciPy's documentation: for `loc` 0 and `scale` 1.
"""

import math

from ...generated.ops import abs, exp, log, log1p, sqrt, square, where, xlogy
from ...special import betainc, betaln, digamma, gammainc, gammaincc, gammaincinv, gammaln, ndtr, xlog1py
from .continuous import Continuous
from .half_line import POSITIVE, powers
from .tails import existing, log_betainc, log_gammainc, log_gammaincc
from .whole_line import EULER, LOG_2PI, log2, nan, pi


def _gamma_entropy(a):
    """The entropy of a gamma variable; by Stirling's series for large `a`, where the exact terms cancel."""
    large = a > 250
    big, small = where(large, a, 1000.0), where(large, 1.0, a)
    series = (1 + LOG_2PI + log(big)) / 2 - 1 / (3 * big) - big**-2 / 12 - big**-3 / 90 + big**-4 / 120
    return where(large, series, digamma(small) * (1 - small) + small + gammaln(small))


def _of_gamma(inner, parameter=lambda *shapes: shapes[0]):
    """The four probabilities of a gamma variable that is an increasing function of x."""

    def formula(function):
        return lambda x, *shapes: function(parameter(*shapes), inner(x, *shapes))

    return {"cdf": formula(gammainc), "sf": formula(gammaincc), "logcdf": formula(log_gammainc), "logsf": formula(log_gammaincc)}


def _of_beta(parameters, share):
    """The four probabilities of a beta variable, from its parameters and a function of x to the variable and 1 minus it."""

    def formula(function, swapped):
        def probability(x, *shapes):
            (a, b), (low, high) = parameters(*shapes), share(x, *shapes)
            return function(b, a, high) if swapped else function(a, b, low)

        return probability

    return {"cdf": formula(betainc, False), "sf": formula(betainc, True),
            "logcdf": formula(log_betainc, False), "logsf": formula(log_betainc, True)}  # fmt: skip


def _gamma(name, doc):
    return Continuous(
        name, "a", doc=doc, support=POSITIVE,
        logpdf=lambda x, a: xlogy(a - 1, x) - x - gammaln(a), ppf=lambda q, a: gammaincinv(a, q),
        stats=lambda a: (a, a, 2 / sqrt(a), 6 / a), entropy=_gamma_entropy, **_of_gamma(lambda x, a: x),
    )  # fmt: skip


gamma = _gamma("gamma", "Gamma distribution.")
erlang = _gamma("erlang", "Erlang distribution, gamma with a whole number a.")
chi2 = Continuous(
    "chi2", "df", doc="Chi-squared distribution.", support=POSITIVE,
    logpdf=lambda x, df: xlogy(df / 2 - 1, x) - x / 2 - gammaln(df / 2) - log2 * df / 2,
    ppf=lambda q, df: 2 * gammaincinv(df / 2, q),
    stats=lambda df: (df, 2 * df, sqrt(8 / df), 12 / df), entropy=lambda df: _gamma_entropy(df / 2) + log2,
    **_of_gamma(lambda x, df: x / 2, lambda df: df / 2),
)  # fmt: skip


def _chi_stats(df):
    mean = math.sqrt(2) * exp(gammaln((df + 1) / 2) - gammaln(df / 2))
    return mean, df - mean * mean, None, None


chi = Continuous(
    "chi", "df", doc="Chi distribution.", support=POSITIVE,
    logpdf=lambda x, df: log2 - log2 * df / 2 - gammaln(df / 2) + xlogy(df - 1, x) - x * x / 2,
    ppf=lambda q, df: sqrt(2 * gammaincinv(df / 2, q)), stats=_chi_stats,
    entropy=lambda df: gammaln(df / 2) + (df - log2 - (df - 1) * digamma(df / 2)) / 2,
    **_of_gamma(lambda x, df: x * x / 2, lambda df: df / 2),
)  # fmt: skip
maxwell = Continuous(
    "maxwell", doc="Maxwell distribution.", support=POSITIVE,
    logpdf=lambda x: math.log(2 / pi) / 2 + 2 * log(x) - x * x / 2, ppf=lambda q: sqrt(2 * gammaincinv(1.5, q)),
    stats=lambda: (2 * math.sqrt(2 / pi), 3 - 8 / pi, math.sqrt(2) * (32 - 10 * pi) / (3 * pi - 8) ** 1.5,
                   (-12 * pi**2 + 160 * pi - 384) / (3 * pi - 8) ** 2),
    entropy=lambda: EULER + LOG_2PI / 2 - 0.5, **_of_gamma(lambda x: x * x / 2, lambda: 1.5),
)  # fmt: skip


def _nakagami_stats(nu):
    mean = exp(gammaln(nu + 0.5) - gammaln(nu)) / sqrt(nu)
    return mean, 1 - mean * mean, None, None


nakagami = Continuous(
    "nakagami", "nu", doc="Nakagami distribution.", support=POSITIVE,
    logpdf=lambda x, nu: log2 + xlogy(nu, nu) - gammaln(nu) + xlogy(2 * nu - 1, x) - nu * x * x,
    ppf=lambda q, nu: sqrt(gammaincinv(nu, q) / nu), stats=_nakagami_stats,
    entropy=lambda nu: gammaln(nu) + nu - (nu - 0.5) * digamma(nu) - log(nu) / 2 - log2, **_of_gamma(lambda x, nu: nu * x * x),
)  # fmt: skip
halfgennorm = Continuous(
    "halfgennorm", "beta", doc="Positive half of a generalised normal distribution.", support=POSITIVE,
    logpdf=lambda x, b: log(b) - gammaln(1 / b) - x**b, ppf=lambda q, b: gammaincinv(1 / b, q) ** (1 / b),
    stats=lambda b: powers(lambda k: exp(gammaln((k + 1) / b) - gammaln(1 / b))),
    entropy=lambda b: 1 / b - log(b) + gammaln(1 / b),
    **_of_gamma(lambda x, b: x**b, lambda b: 1 / b),
)  # fmt: skip


def _either(up, down):
    """A probability of gengamma, which falls with x if c is negative."""
    return lambda x, a, c: where(c > 0, up(a, x**c), down(a, x**c))


gengamma = Continuous(
    "gengamma", "a c", doc="Generalised gamma distribution.", support=POSITIVE, domain=lambda a, c: (a > 0) & (c != 0),
    logpdf=lambda x, a, c: log(abs(c)) - gammaln(a) + xlogy(c * a - 1, x) - x**c,
    cdf=_either(gammainc, gammaincc), sf=_either(gammaincc, gammainc),
    logcdf=_either(log_gammainc, log_gammaincc), logsf=_either(log_gammaincc, log_gammainc),
    stats=lambda a, c: powers(lambda k: exp(gammaln(where(a + k / c > 0, a + k / c, 1.0)) - gammaln(a)), lambda k: a + k / c > 0),
    entropy=lambda a, c: gammaln(a) - log(abs(c)) + a + (1 / c - a) * digamma(a),
)  # fmt: skip


def _invgamma_stats(a):
    first, second, third, fourth = (where(a > k, a, k + 1.0) for k in (1, 2, 3, 4))
    return (existing(a > 1, 1 / (first - 1)), existing(a > 2, 1 / (square(second - 1) * (second - 2))),
            existing(a > 3, 4 * sqrt(third - 2) / (third - 3), nan),
            existing(a > 4, 6 * (5 * fourth - 11) / ((fourth - 3) * (fourth - 4)), nan))  # fmt: skip


invgamma = Continuous(
    "invgamma", "a", doc="Inverse gamma distribution.", support=POSITIVE,
    logpdf=lambda x, a: -(a + 1) * log(x) - gammaln(a) - 1 / x, cdf=lambda x, a: gammaincc(a, 1 / x),
    sf=lambda x, a: gammainc(a, 1 / x),
    logcdf=lambda x, a: log_gammaincc(a, 1 / x), logsf=lambda x, a: log_gammainc(a, 1 / x),
    isf=lambda q, a: 1 / gammaincinv(a, q),
    stats=_invgamma_stats, entropy=lambda a: a - (a + 1) * digamma(a) + gammaln(a),
)  # fmt: skip


def _f_stats(m, n):
    first, second, third, fourth = (where(n > k, n, k + 1.0) for k in (2, 4, 6, 8))
    skewness = (2 * m + third - 2) / (third - 6) * sqrt(8 * (third - 4) / (m * (m + third - 2)))
    kurtosis = 12 * (m * (5 * fourth - 22) * (m + fourth - 2) + (fourth - 4) * square(fourth - 2))
    return (existing(n > 2, first / (first - 2)),
            existing(n > 4, 2 * square(second) * (m + second - 2) / (m * square(second - 2) * (second - 4))),
            existing(n > 6, skewness, nan),
            existing(n > 8, kurtosis / (m * (fourth - 6) * (fourth - 8) * (m + fourth - 2)), nan))  # fmt: skip


f = Continuous(
    "f", "dfn dfd", doc="F distribution.", support=POSITIVE, stats=_f_stats,
    logpdf=lambda x, m, n: m / 2 * log(m / n) + xlogy(m / 2 - 1, x) - (m + n) / 2 * log1p(m * x / n) - betaln(m / 2, n / 2),
    entropy=lambda m, n: ((1 - m / 2) * digamma(m / 2) - (1 + n / 2) * digamma(n / 2) + (m + n) / 2 * digamma((m + n) / 2)
                          + betaln(m / 2, n / 2) + log(n / m)),
    **_of_beta(lambda m, n: (m / 2, n / 2), lambda x, m, n: (m * x / (n + m * x), n / (n + m * x))),
)  # fmt: skip
betaprime = Continuous(
    "betaprime", "a b", doc="Beta prime distribution.", support=POSITIVE,
    logpdf=lambda x, a, b: xlogy(a - 1, x) - xlog1py(a + b, x) - betaln(a, b),
    stats=lambda a, b: powers(lambda k: exp(betaln(a + k, where(b > k, b - k, 1.0)) - betaln(a, b)), lambda k: b > k),
    **_of_beta(lambda a, b: (a, b), lambda x, a, b: (x / (1 + x), 1 / (1 + x))),
)  # fmt: skip


def _beta_stats(a, b):
    total = a + b
    skewness = 2 * (b - a) * sqrt(total + 1) / ((total + 2) * sqrt(a * b))
    kurtosis = 6 * (square(a - b) * (total + 1) - a * b * (total + 2)) / (a * b * (total + 2) * (total + 3))
    return a / total, a * b / (square(total) * (total + 1)), skewness, kurtosis


beta = Continuous(
    "beta", "a b", doc="Beta distribution.", support=(0.0, 1.0),
    logpdf=lambda x, a, b: xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b), stats=_beta_stats,
    entropy=lambda a, b: betaln(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b),
    **_of_beta(lambda a, b: (a, b), lambda x, a, b: (x, 1 - x)),
)  # fmt: skip
rdist = Continuous(
    "rdist", "c", doc="R distribution: a beta one with equal parameters, stretched to (-1, 1).", support=(-1.0, 1.0),
    logpdf=lambda x, c: (c / 2 - 1) * log1p(-x * x) - betaln(0.5, c / 2),
    stats=lambda c: (0 * c, 1 / (c + 1), 0 * c, -6 / (c + 3)),
    **_of_beta(lambda c: (c / 2, c / 2), lambda x, c: ((1 + x) / 2, (1 - x) / 2)),
)  # fmt: skip


def _argus_scale(chi):
    return gammainc(1.5, chi * chi / 2)


argus = Continuous(
    "argus", "chi", doc="Argus distribution.", support=(0.0, 1.0),
    logpdf=lambda x, c: (3 * log(c) - LOG_2PI / 2 - log(_argus_scale(c) / 2) + log(x) + log1p(-x * x) / 2
                         - c * c * (1 - x * x) / 2),
    sf=lambda x, c: gammainc(1.5, c * c * (1 - x) * (1 + x) / 2) / _argus_scale(c),
)  # fmt: skip


def _pearson(skew):
    """Whether the skew is so near to 0 that the variable is normal, and else the parameter of its gamma variable."""
    normal = abs(skew) < 1.6e-5
    return normal, 4 / square(where(normal, 1.0, skew))


def _pearson3_logpdf(y, skew):
    normal, a = _pearson(skew)
    near = -square(y) / 2 - LOG_2PI / 2 + skew * y * (square(y) - 3) / 6  # of first order in the skewness
    slope = 2 / where(normal, 1.0, skew)
    place = where(normal, 1.0, slope * (y + slope))
    return where(normal, near, log(abs(slope)) + xlogy(a - 1, place) - place - gammaln(a))


def _pearson3_probability(function, other, near, sign):
    def formula(y, skew):
        normal, a = _pearson(skew)
        slope = 2 / where(normal, 1.0, skew)
        place = where(normal, 1.0, slope * (y + slope))
        curved = near(y) - sign * skew / 6 * (square(y) - 1) * exp(-square(y) / 2 - LOG_2PI / 2)
        return where(normal, curved, where(slope > 0, function(a, place), other(a, place)))

    return formula


def _pearson3_support(skew):
    end = -2 / where(skew == 0, 1.0, skew)
    return where(skew > 0, end, -math.inf), where(skew < 0, end, math.inf)


pearson3 = Continuous(
    "pearson3", "skew", doc="Pearson's distribution of the third type, of mean 0 and variance 1.", support=_pearson3_support,
    domain=lambda skew: skew == skew, logpdf=_pearson3_logpdf, cdf=_pearson3_probability(gammainc, gammaincc, ndtr, 1),
    sf=_pearson3_probability(gammaincc, gammainc, lambda y: ndtr(-y), -1),
    stats=lambda skew: (0 * skew, 1 + 0 * skew, skew, 1.5 * square(skew)),
)  # fmt: skip

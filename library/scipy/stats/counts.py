"""Families of integers: bernoulli, binom, poisson and related families.

Defines their formulas as in SciPy's documentation: for `loc` 0.
"""

import math

import numpy as np

from ...generated.ops import abs, cosh, entr, exp, expm1, log, log1p, maximum, minimum, sinh, sqrt, square, tanh, where, xlogy
from ...special import betainc, betaln, gammainc, gammaincc, gammaln, xlog1py, zeta
from ...support.dispatch import ops
from .discrete import Discrete
from .half_line import powers
from .poisson_sums import extreme, last, log_poisson, log_sum, poisson_mean
from .tails import existing, log_betainc, log_gammainc, log_gammaincc

COUNTS = (0.0, math.inf)


def _probability(p):
    return (p >= 0) & (p <= 1)


bernoulli = Discrete(
    "bernoulli", "p", doc="Bernoulli distribution.", support=(0.0, 1.0), domain=_probability,
    logpmf=lambda k, p: xlogy(k, p) + xlog1py(1 - k, -p), cdf=lambda k, p: 1 - p, sf=lambda k, p: p,
    stats=lambda p: (p, p * (1 - p), (1 - 2 * p) / sqrt(p * (1 - p)), 1 / (p * (1 - p)) - 6),
    entropy=lambda p: entr(p) + entr(1 - p),
)  # fmt: skip
binom = Discrete(
    "binom", "n p", doc="Binomial distribution.", whole="n", support=lambda n, p: (0.0, n),
    domain=lambda n, p: (n >= 0) & _probability(p),
    logpmf=lambda k, n, p: -betaln(1 + n - k, 1 + k) - log1p(n) + xlogy(k, p) + xlog1py(n - k, -p),
    cdf=lambda k, n, p: betainc(where(k < n, n - k, 1.0), k + 1, 1 - p),
    sf=lambda k, n, p: betainc(k + 1, where(k < n, n - k, 1.0), p),
    logcdf=lambda k, n, p: log_betainc(where(k < n, n - k, 1.0), k + 1, 1 - p),
    logsf=lambda k, n, p: log_betainc(k + 1, where(k < n, n - k, 1.0), p),
    stats=lambda n, p: (n * p, n * p * (1 - p), (1 - 2 * p) / sqrt(n * p * (1 - p)), (1 - 6 * p * (1 - p)) / (n * p * (1 - p))),
)  # fmt: skip
poisson = Discrete(
    "poisson", "mu", doc="Poisson distribution.", support=COUNTS, domain=lambda mu: mu >= 0,
    logpmf=lambda k, mu: xlogy(k, mu) - gammaln(k + 1) - mu, cdf=lambda k, mu: gammaincc(k + 1, mu),
    sf=lambda k, mu: gammainc(k + 1, mu),
    logcdf=lambda k, mu: log_gammaincc(k + 1, mu), logsf=lambda k, mu: log_gammainc(k + 1, mu),
    stats=lambda mu: (mu, mu, 1 / sqrt(mu), 1 / mu),
)  # fmt: skip
geom = Discrete(
    "geom", "p", doc="Geometric distribution: trials up to and with the first success.", support=(1.0, math.inf),
    domain=lambda p: (p > 0) & (p <= 1),
    logpmf=lambda k, p: xlog1py(k - 1, -p) + log(p), logsf=lambda k, p: k * log1p(-p),
    stats=lambda p: (1 / p, (1 - p) / square(p), (2 - p) / sqrt(1 - p), 6 + square(p) / (1 - p)),
    entropy=lambda p: -log(p) - xlog1py(1 - p, -p) / p,
)  # fmt: skip
nbinom = Discrete(
    "nbinom", "n p", doc="Negative binomial distribution; n need not be whole.", support=COUNTS,
    domain=lambda n, p: (n > 0) & (p > 0) & (p <= 1),
    logpmf=lambda k, n, p: -betaln(n, k + 1) - log(n + k) + n * log(p) + xlog1py(k, -p),
    cdf=lambda k, n, p: betainc(n, k + 1, p), sf=lambda k, n, p: betainc(k + 1, n, 1 - p),
    logcdf=lambda k, n, p: log_betainc(n, k + 1, p), logsf=lambda k, n, p: log_betainc(k + 1, n, 1 - p),
    stats=lambda n, p: (n * (1 - p) / p, n * (1 - p) / square(p), (2 - p) / sqrt(n * (1 - p)),
                        (p * p - 6 * p + 6) / (n * (1 - p))),
)  # fmt: skip


def _betabinom_stats(n, a, b):
    return n * a / (a + b), n * (a + b + n) * a * b / (square(a + b) * (a + b + 1)), None, None


betabinom = Discrete(
    "betabinom", "n a b", doc="Beta-binomial distribution.", whole="n", support=lambda n, a, b: (0.0, n),
    domain=lambda n, a, b: (n >= 0) & (a > 0) & (b > 0), stats=_betabinom_stats,
    logpmf=lambda k, n, a, b: -log1p(n) - betaln(n - k + 1, k + 1) + betaln(k + a, n - k + b) - betaln(a, b),
)  # fmt: skip
betanbinom = Discrete(
    "betanbinom", "n a b", doc="Beta-negative-binomial distribution.", whole="n", support=COUNTS,
    logpmf=lambda k, n, a, b: -log(n + k) - betaln(n, k + 1) + betaln(a + n, b + k) - betaln(a, b),
)  # fmt: skip


def _hypergeom_logpmf(k, M, n, N):
    """Log-probability that k of N drawn objects are among the n good ones of M."""
    bad = M - n
    return (betaln(n + 1, 1.0) + betaln(bad + 1, 1.0) + betaln(M - N + 1, N + 1) - betaln(k + 1, n - k + 1)
            - betaln(N - k + 1, bad - N + k + 1) - betaln(M + 1, 1.0))  # fmt: skip


hypergeom = Discrete(
    "hypergeom", "M n N", doc="Hypergeometric distribution.", whole="M n N", logpmf=_hypergeom_logpmf,
    support=lambda M, n, N: (maximum(N - (M - n), 0.0), minimum(n, N)),
    domain=lambda M, n, N: (M > 0) & (n >= 0) & (N >= 0) & (n <= M) & (N <= M),
    stats=lambda M, n, N: (N * n / M, N * n * (M - n) * (M - N) / (M * M * (M - 1)), None, None),
)  # fmt: skip


def _nhypergeom_logpmf(k, M, n, r):
    return (-betaln(k + 1, r) + betaln(k + r, 1.0) - betaln(n - k + 1, M - r - n + 1) + betaln(M - r - k + 1, 1.0)
            + betaln(n + 1, M - n + 1) - betaln(M + 1, 1.0))  # fmt: skip


nhypergeom = Discrete(
    "nhypergeom", "M n r", doc="Negative hypergeometric distribution.", whole="M n r", support=lambda M, n, r: (0.0, n),
    domain=lambda M, n, r: (n >= 0) & (n <= M) & (r >= 1) & (r <= M - n), logpmf=_nhypergeom_logpmf,
)  # fmt: skip


def _logser_stats(p):
    scale = -p / log1p(-p) / (1 - p)
    return scale, scale / (1 - p) - square(scale), None, None


logser = Discrete(
    "logser", "p", doc="Logarithmic series distribution.", support=(1.0, math.inf), domain=lambda p: (p > 0) & (p < 1),
    logpmf=lambda k, p: k * log(p) - log(k) - log(-log1p(-p)), stats=_logser_stats,
)  # fmt: skip
planck = Discrete(
    "planck", "lambda_", doc="Planck's discrete exponential distribution.", support=COUNTS,
    logpmf=lambda k, s: log(-expm1(-s)) - s * k, logsf=lambda k, s: -s * (k + 1),
    stats=lambda s: (1 / expm1(s), exp(-s) / square(expm1(-s)), 2 * cosh(s / 2), 4 + 2 * cosh(s)),
    entropy=lambda s: s / expm1(s) - log(-expm1(-s)),
)  # fmt: skip
boltzmann = Discrete(
    "boltzmann", "lambda_ N", doc="Truncated Planck distribution.", whole="N", support=lambda s, N: (0.0, N - 1),
    logpmf=lambda k, s, N: log(expm1(-s) / expm1(-s * N)) - s * k, cdf=lambda k, s, N: expm1(-s * (k + 1)) / expm1(-s * N),
    sf=lambda k, s, N: exp(-s * (k + 1)) * expm1(-s * (N - k - 1)) / expm1(-s * N),
)  # fmt: skip
dlaplace = Discrete(
    "dlaplace", "a", doc="Discrete Laplace distribution.", support=(-math.inf, math.inf),
    logpmf=lambda k, a: log(tanh(a / 2)) - a * abs(k),
    cdf=lambda k, a: where(k >= 0, 1 - exp(-a * (abs(k) + 1)) / (1 + exp(-a)), exp(-a * abs(k)) / (1 + exp(-a))),
    sf=lambda k, a: where(k >= 0, exp(-a * (abs(k) + 1)) / (1 + exp(-a)), 1 - exp(-a * abs(k)) / (1 + exp(-a))),
    stats=lambda a: (0 * a, 1 / (2 * square(sinh(a / 2))), 0 * a, 2 + cosh(a)), entropy=lambda a: a / sinh(a) - log(tanh(a / 2)),
)  # fmt: skip
randint = Discrete(
    "randint", "low high", doc="Uniform distribution of whole numbers from low up to but without high.", whole="low high",
    support=lambda low, high: (low, high - 1), domain=lambda low, high: high > low,
    logpmf=lambda k, low, high: -log(high - low) + 0 * k, cdf=lambda k, low, high: (k - low + 1) / (high - low),
    sf=lambda k, low, high: (high - 1 - k) / (high - low),
    stats=lambda low, high: ((low + high - 1) / 2, (square(high - low) - 1) / 12, 0 * low,
                             -1.2 * (square(high - low) + 1) / (square(high - low) - 1)),
    entropy=lambda low, high: log(high - low),
)  # fmt: skip
zipf = Discrete(
    "zipf", "a", doc="Zipf distribution.", support=(1.0, math.inf), domain=lambda a: a > 1,
    logpmf=lambda k, a: -a * log(k) - log(zeta(a, 1.0)), cdf=lambda k, a: 1 - zeta(a, k + 1) / zeta(a, 1.0),
    sf=lambda k, a: zeta(a, k + 1) / zeta(a, 1.0),
    stats=lambda a: powers(lambda k: zeta(where(a > k + 1, a - k, 2.0), 1.0) / zeta(a, 1.0), lambda k: a > k + 1),
)  # fmt: skip


_MOST = 1e7  # terms of a sum of powers; NaN beyond, and beyond 1e4 in a batch of `vmap`, whose numbers are unknown


def _powers_between(a, low, high):
    """The sum of j**-a over the integers above `low` up to `high`."""
    most = min(extreme(high, np.max, 1e4), _MOST)
    j, held, ends = np.arange(1.0, most + 1), high <= most, 0 * (low + high)  # which refuse a derivative, as no comparison does
    a, low, high = last(a, low, high)
    return ends + where(held, ops.sum(where((j > low) & (j <= high), exp(-a * np.log(j)), 0.0), -1), math.nan)


zipfian = Discrete(
    "zipfian", "a n", doc="Zipf distribution of the numbers up to n; NaN if ten million terms do not suffice.", whole="n",
    support=lambda a, n: (1.0, n), domain=lambda a, n: (a >= 0) & (n > 0),
    logpmf=lambda k, a, n: -a * log(k) - log(_powers_between(a, 0.0, n)),
    cdf=lambda k, a, n: _powers_between(a, 0.0, k) / _powers_between(a, 0.0, n),
    sf=lambda k, a, n: _powers_between(a, k, n) / _powers_between(a, 0.0, n),
    stats=lambda a, n: powers(lambda k: _powers_between(a - k, 0.0, n) / _powers_between(a, 0.0, n)),
)  # fmt: skip


def _yulesimon_stats(a):
    first, second = where(a > 1, a, 2.0), where(a > 2, a, 3.0)
    return existing(a > 1, first / (first - 1)), existing(a > 2, square(second) / ((second - 2) * square(second - 1))), None, None


yulesimon = Discrete(
    "yulesimon", "alpha", doc="Yule-Simon distribution.", support=(1.0, math.inf), stats=_yulesimon_stats,
    logpmf=lambda k, a: log(a) + betaln(k, a + 1), logsf=lambda k, a: log(k) + betaln(k, a + 1),
)  # fmt: skip


def _skellam_logpmf(k, mu1, mu2):
    """Over the lesser of the two counts."""
    mode, ahead = (sqrt(square(k) + 4 * mu1 * mu2) - abs(k)) / 2, k >= 0
    order, mu1, mu2, ahead = last(abs(k), mu1, mu2, ahead)
    return log_sum(lambda j: log_poisson(where(ahead, j + order, j), mu1) + log_poisson(where(ahead, j, j + order), mu2), mode)


def _skellam_probability(function, otherwise):
    """The mean over the second count of a probability of the first; `otherwise` if the first would be negative."""

    def of_first(j, k, mu1):
        most = k + j + 1
        return where(most > 0, function(maximum(most, 1.0), mu1), otherwise)

    return lambda k, mu1, mu2: poisson_mean(of_first, mu2, k, mu1)


skellam = Discrete(
    "skellam", "mu1 mu2", doc="Skellam distribution, the difference of two Poisson numbers.", support=(-math.inf, math.inf),
    logpmf=_skellam_logpmf, cdf=_skellam_probability(gammaincc, 0.0), sf=_skellam_probability(gammainc, 1.0),
    stats=lambda mu1, mu2: (mu1 - mu2, mu1 + mu2, (mu1 - mu2) / (mu1 + mu2) ** 1.5, 1 / (mu1 + mu2)),
)  # fmt: skip

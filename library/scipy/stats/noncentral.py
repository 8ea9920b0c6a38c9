"""Noncentral families: ncx2, ncf and nct, with derivatives in all their parameters.

Computes them as sums over a Poisson number; for t, as the integral over the spread by the trapezoidal rule.  All its terms are
positive, so nothing cancels.
"""

import math
from typing import Any

import numpy as np

from ...func import stop_gradient
from ...generated.ops import exp, expand_dims, log, log1p, logsumexp, sqrt, square, sum, where, xlogy
from ...special import betainc, betaln, digamma, gammainc, gammaincc, gammaln, ndtr
from .continuous import Continuous
from .half_line import POSITIVE
from .poisson_sums import extreme, last, log_poisson, log_sum, poisson_mean
from .whole_line import LOG_2PI, log2, nan

_SMALL = 0.1  # the least number of degrees in a batch of `vmap`, whose numbers are unknown; NaN below


# chi-squared


def _ncx2_logpdf(x: Any, df: Any, nc: Any) -> Any:
    mode = (sqrt(square(df) / 4 + nc * x) - df / 2) / 2
    x, df, nc = last(x, df, nc)
    a = df / 2
    return log_sum(lambda j: log_poisson(j, nc / 2) + xlogy(a + j - 1, x) - x / 2 - (a + j) * log2 - gammaln(a + j), mode)


ncx2 = Continuous(
    "ncx2", "df nc", doc="Noncentral chi-squared distribution.", support=POSITIVE, domain=lambda df, nc: (df > 0) & (nc >= 0),
    logpdf=_ncx2_logpdf, cdf=lambda x, df, nc: poisson_mean(lambda j, x, df: gammainc(df / 2 + j, x / 2), nc / 2, x, df),
    sf=lambda x, df, nc: poisson_mean(lambda j, x, df: gammaincc(df / 2 + j, x / 2), nc / 2, x, df),
    stats=lambda df, nc: (df + nc, 2 * (df + 2 * nc), math.sqrt(8) * (df + 3 * nc) / (df + 2 * nc) ** 1.5,
                          12 * (df + 4 * nc) / square(df + 2 * nc)),
)  # fmt: skip


# F


def _ncf_logpdf(x: Any, dfn: Any, dfd: Any, nc: Any) -> Any:
    a, b, part = dfn / 2, dfd / 2, nc / 2 * (dfn * x / (dfd + dfn * x))
    mode = (part - a + sqrt(square(part - a) + 4 * part * (a + b))) / 2
    x, a, b, nc = last(x, a, b, nc)
    ratio = a * x / b
    whole = log1p(ratio)
    found = log_sum(lambda j: log_poisson(j, nc / 2) + xlogy(a + j - 1, ratio) - (a + b + j) * whole - betaln(a + j, b), mode)
    return found + log(dfn / dfd)


def _share(x: Any, dfn: Any, dfd: Any) -> tuple[Any, Any]:
    whole = dfd + dfn * x
    return dfn * x / whole, dfd / whole


def _ncf_stats(dfn: Any, dfd: Any, nc: Any) -> tuple:
    mean = dfd * (dfn + nc) / (dfn * (dfd - 2))
    spread = 2 * square(dfd / dfn) * (square(dfn + nc) + (dfn + 2 * nc) * (dfd - 2)) / (square(dfd - 2) * (dfd - 4))
    return where(dfd > 2, mean, math.inf), where(dfd > 4, spread, math.inf), None, None


ncf = Continuous(
    "ncf", "dfn dfd nc", doc="Noncentral F distribution.", support=POSITIVE,
    domain=lambda dfn, dfd, nc: (dfn > 0) & (dfd > 0) & (nc >= 0), logpdf=_ncf_logpdf, stats=_ncf_stats,
    cdf=lambda x, *shapes: poisson_mean(
        lambda j, x, dfn, dfd: betainc(dfn / 2 + j, dfd / 2, _share(x, dfn, dfd)[0]), shapes[2] / 2, x, *shapes[:2]),
    sf=lambda x, *shapes: poisson_mean(
        lambda j, x, dfn, dfd: betainc(dfd / 2, dfn / 2 + j, _share(x, dfn, dfd)[1]), shapes[2] / 2, x, *shapes[:2]),
)  # fmt: skip


# t: (Z + nc) / u, with a normal Z and a spread u whose square is a chi-squared variable divided by df


def _spreads(square_by: Any, linear: Any, power: Any) -> tuple[Any, Any, Any]:
    """Points s = log(u) along a last axis, their distance, and whether they suffice, for the integral of
    exp(power * s + linear * u - square_by * u**2 / 2)."""
    square_by, linear, power = map(stop_gradient, (square_by, linear, power))
    least = extreme(where(power > 0, power, 1.0), np.min, _SMALL)
    mode = (linear + sqrt(square(linear) + 4 * square_by * power)) / (2 * square_by)
    width = 1 / sqrt(linear * mode + 2 * power)
    left = int(60 / math.sqrt(min(least, 1.0)) / 0.15) + 1
    steps = 0.15 * np.arange(-left, 90.0)
    return expand_dims(log(mode), -1) + expand_dims(width, -1) * steps, 0.15 * width, power >= least


def _log_spread(df: Any) -> Any:
    """The logarithm of the factor of u**(df - 1) exp(-df u**2 / 2) in the density of u."""
    return log2 + df / 2 * log(df / 2) - gammaln(df / 2)


def _over_spreads(x: Any, df: Any, nc: Any, power: Any) -> Any:
    """log of the integral of the density of Z at x u - nc, times u**(power - df) and the density of u."""
    s, step, held = _spreads(square(x) + df, nc * x, power)
    x, wide_df, nc, power = last(x, df, nc, power)
    u = exp(s)
    found = logsumexp(power * s - square(x * u - nc) / 2 - wide_df * square(u) / 2, -1)
    return where(held, found + log(step) + _log_spread(df) - LOG_2PI / 2, nan)


def _nct_slopes(x: Any, df: Any, nc: Any) -> tuple[Any, Any]:
    """The derivatives of the probability by df and nc; the derivative by df uses the smaller tail, without cancellation."""
    s, step, held = _spreads(df + 0 * (x + nc), 0 * x * nc, df + 0 * (x + nc))
    wide_x, wide_df, wide_nc = last(x, df, nc)
    u = exp(s)
    density = exp(wide_df * s - wide_df * square(u) / 2 + last(_log_spread(df))[0])
    slope = s - square(u) / 2 + (log(wide_df / 2) + 1 - digamma(wide_df / 2)) / 2
    right = wide_x > wide_nc
    tail = ndtr(where(right, wide_nc - wide_x * u, wide_x * u - wide_nc))
    by_df = sum(where(right, -tail, tail) * density * slope, -1) * step
    return where(held, by_df, nan), -exp(_over_spreads(x, df, nc, df + 0 * (x + nc)))


def _nct_stats(df: Any, nc: Any) -> tuple:
    def raw(order: int, of_normal: Any) -> Any:
        """The mean of the power `order`, if it is finite."""
        rest = where(df > order, df - order, 1.0)
        return of_normal * exp(order / 2 * log(df / 2) + gammaln(rest / 2) - gammaln(df / 2))

    two = nc * nc
    mean, square_of, cube, fourth = (
        raw(1, nc), raw(2, 1 + two), raw(3, nc * (two + 3)), raw(4, two * two + 6 * two + 3)
    )  # fmt: skip
    variance = square_of - square(mean)
    skewness = (cube - 3 * mean * square_of + 2 * mean**3) / variance**1.5
    kurtosis = (fourth - 4 * mean * cube + 6 * square(mean) * square_of - 3 * mean**4) / square(variance) - 3
    return (where(df > 1, mean, math.inf), where(df > 2, variance, math.inf), where(df > 3, skewness, nan),
            where(df > 4, kurtosis, nan))  # fmt: skip


nct = Continuous(
    "nct", "df nc", doc="Noncentral t distribution.", domain=lambda df, nc: (df > 0) & (nc == nc), slopes=_nct_slopes,
    logpdf=lambda x, df, nc: _over_spreads(x, df, nc, df + 1 + 0 * (x + nc)), stats=_nct_stats,
)  # fmt: skip

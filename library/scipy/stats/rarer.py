"""Rarer families: tukeylambda, kstwobign, dpareto_lognorm, and those with Bessel and hypergeometric functions as norms.

Defines their formulas as in SciPy's documentation: for `loc` 0 and `scale` 1.  Probabilities without a formula are SciPy's.
"""

import math

import gradspec.scipy.special  # noqa: F401 (waits for it)

from ...func import jvp, stop_gradient
from ...generated.ops import abs, exp, hypot, log, log1p, logaddexp, maximum, ones_like, sqrt, square, where
from ...special import betaln, log_ndtr
from ..special.compositions import boxcox, kolmogorov, kolmogorov_lower, tklmbda
from ..special.smooth_functions import hyp2f1
from ..values import smooth
from .continuous import Continuous
from .half_line import POSITIVE
from .whole_line import LOG_2PI, log2, log_gauss


def _tukey_logpdf(x, lam):
    p, rest = tklmbda(x, lam), tklmbda(-x, lam)
    return -logaddexp((lam - 1) * log(p), (lam - 1) * log(rest))


def _tukey_ends(lam):
    end = where(lam > 0, 1 / where(lam > 0, lam, 1.0), math.inf)
    return -end, end


tukeylambda = Continuous(
    "tukeylambda", "lam", doc="Tukey's lambda distribution.", symmetric=True, support=_tukey_ends, domain=lambda lam: lam == lam,
    logpdf=_tukey_logpdf, cdf=tklmbda, ppf=lambda q, lam: boxcox(q, lam) - boxcox(1 - q, lam),
)  # fmt: skip
kstwobign = Continuous(
    "kstwobign", doc="The limit of Kolmogorov's two-sided statistic, times the root of the sample's size.", support=POSITIVE,
    pdf=lambda x: jvp(kolmogorov_lower, (x,), (ones_like(x),))[1], cdf=kolmogorov_lower, sf=kolmogorov,
)  # fmt: skip


_kve = smooth("kve", None, lambda y, v, x: y - (_kve(v - 1, x) + _kve(v + 1, x)) / 2)  # DLMF 10.29.1


def _log_mills(y):
    return log_ndtr(-y) + (square(y) + LOG_2PI) / 2


def _dpareto_logpdf(x, u, s, a, b):
    z = (log(x) - u) / s
    return log(a * b / (a + b)) - log(x) + log_gauss(z) + logaddexp(_log_mills(a * s - z), _log_mills(b * s + z))


def _dpareto_sf(sign):
    """log(sf), or log(cdf) if the sign is -1: a normal tail plus an exponential, less another."""

    def logarithm(x, u, s, a, b):
        z = sign * (log(x) - u) / s
        a, b = (a, b) if sign > 0 else (b, a)
        tail, normal = log_ndtr(-z), log_gauss(z) - log(a + b)
        near, far = log(b) + normal + _log_mills(a * s - z), log(a) + normal + _log_mills(b * s + z)
        most = stop_gradient(maximum(tail, near))
        return most + log(exp(tail - most) + exp(near - most) - exp(far - most))

    return logarithm


dpareto_lognorm = Continuous(
    "dpareto_lognorm", "u s a b", doc="Double Pareto lognormal distribution.", support=POSITIVE,
    domain=lambda u, s, a, b: (u == u) & (s > 0) & (a > 0) & (b > 0), logpdf=_dpareto_logpdf, logsf=_dpareto_sf(1), logcdf=_dpareto_sf(-1),
)  # fmt: skip
gausshyper = Continuous(
    "gausshyper", "a b c z", doc="Gauss hypergeometric distribution.", support=(0.0, 1.0),
    domain=lambda a, b, c, z: (a > 0) & (b > 0) & (c == c) & (z > -1),
    logpdf=lambda x, a, b, c, z: ((a - 1) * log(x) + (b - 1) * log1p(-x) - c * log1p(z * x) - betaln(a, b)
                                  - log(hyp2f1(c, a, a + b, -z))),
)  # fmt: skip
geninvgauss = Continuous(
    "geninvgauss", "p b", doc="Generalised inverse Gaussian distribution; no derivative in p.", support=POSITIVE,
    domain=lambda p, b: (p == p) & (b > 0),
    logpdf=lambda x, p, b: (p - 1) * log(x) - b * square(x - 1) / (2 * x) - log2 - log(_kve(p, b)),
)  # fmt: skip


def _hyperbolic_logpdf(x, p, a, b):
    width, reach = sqrt((a - b) * (a + b)), hypot(1.0, x)
    scale = p * log(width) - LOG_2PI / 2 - (p - 0.5) * log(a) - log(_kve(p, width)) + width
    return scale + log(_kve(p - 0.5, a * reach)) - a * reach + (p - 0.5) * log(reach) + b * x


genhyperbolic = Continuous(
    "genhyperbolic", "p a b", doc="Generalised hyperbolic distribution; no derivative in p.",
    domain=lambda p, a, b: (p == p) & (a > 0) & (abs(b) < a), logpdf=_hyperbolic_logpdf,
)  # fmt: skip

"""Distributions and summaries as SciPy writes them, with derivatives: gradspec.scipy.stats.

Owns the names.
"""

import gradspec  # noqa: F401 (waits for it)

from .gamma_kind import (
    argus, beta, betaprime, chi, chi2, erlang, f, gamma, gengamma, halfgennorm, invgamma, maxwell, nakagami, rdist,
)  # fmt: skip
from .half_line import (
    alpha, burr, burr12, expon, exponpow, exponweib, fatiguelife, fisk, foldcauchy, foldnorm, genexpon, genextreme,
    genhalflogistic, genpareto, gibrat, gompertz, halfcauchy, halflogistic, halfnorm, invgauss, invweibull, kappa3, levy,
    levy_l, loglaplace, lognorm, lomax, mielke, pareto, powerlognorm, rayleigh, recipinvgauss, rice, truncpareto,
    truncweibull_min, wald, weibull_max, weibull_min,
)  # fmt: skip
from .interval import (
    anglit, arcsine, bradford, cosine, johnsonsb, loguniform, powerlaw, reciprocal, semicircular, trapezoid, triang,
    truncexpon, truncnorm, uniform, wrapcauchy,
)  # fmt: skip
from .whole_line import (
    cauchy, crystalball, dgamma, dweibull, exponnorm, genlogistic, gennorm, gumbel_l, gumbel_r, hypsecant, johnsonsu, laplace,
    laplace_asymmetric, loggamma, logistic, moyal, norm, norminvgauss, powernorm, skewcauchy, skewnorm, t, vonmises,
    vonmises_line,
)  # fmt: skip

__all__ = [
    "alpha", "anglit", "arcsine", "argus", "beta", "betaprime", "bradford", "burr", "burr12", "cauchy", "chi", "chi2",
    "cosine", "crystalball", "dgamma", "dweibull", "erlang", "expon", "exponnorm", "exponpow", "exponweib", "f",
    "fatiguelife", "fisk", "foldcauchy", "foldnorm", "gamma", "genexpon", "genextreme", "gengamma", "genhalflogistic",
    "genlogistic", "gennorm", "genpareto", "gibrat", "gompertz", "gumbel_l", "gumbel_r", "halfcauchy", "halfgennorm",
    "halflogistic", "halfnorm", "hypsecant", "invgamma", "invgauss", "invweibull", "johnsonsb", "johnsonsu", "kappa3",
    "laplace", "laplace_asymmetric", "levy", "levy_l", "loggamma", "logistic", "loglaplace", "lognorm", "loguniform", "lomax",
    "maxwell", "mielke", "moyal", "nakagami", "norm", "norminvgauss", "pareto", "powerlaw", "powerlognorm", "powernorm",
    "rayleigh", "rdist", "recipinvgauss", "reciprocal", "rice", "semicircular", "skewcauchy", "skewnorm", "t", "trapezoid",
    "triang", "truncexpon", "truncnorm", "truncpareto", "truncweibull_min", "uniform", "vonmises", "vonmises_line", "wald",
    "weibull_max", "weibull_min", "wrapcauchy",
]  # fmt: skip

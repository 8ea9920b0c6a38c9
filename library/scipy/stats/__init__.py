"""Distributions and summaries with SciPy's interface, with derivatives: gradspec.scipy.stats."""

import sys

import gradspec  # noqa: F401 (waits for it)

from .counts import (
    bernoulli, betabinom, betanbinom, binom, boltzmann, dlaplace, geom, hypergeom, logser,
    nbinom, nhypergeom, planck, poisson, randint, yulesimon, skellam, zipf, zipfian,
)  # fmt: skip
from .gamma_kind import (
    argus, beta, betaprime, chi, chi2, erlang, f, gamma, gengamma, halfgennorm, invgamma, maxwell, nakagami, pearson3, rdist,
)  # fmt: skip
from .half_line import (
    alpha, burr, burr12, expon, exponpow, exponweib, fatiguelife, fisk, foldcauchy, foldnorm, genexpon, genextreme,
    genhalflogistic, genpareto, gibrat, gompertz, halfcauchy, halflogistic, halfnorm, invgauss, invweibull, kappa3, levy,
    levy_l, loglaplace, lognorm, lomax, mielke, pareto, powerlognorm, rayleigh, recipinvgauss, rel_breitwigner, rice, truncpareto,
    truncweibull_min, wald, weibull_max, weibull_min,
)  # fmt: skip
from .interval import (
    anglit, arcsine, bradford, cosine, irwinhall, johnsonsb, loguniform, powerlaw, reciprocal, semicircular, trapezoid, triang,
    truncexpon, truncnorm, uniform, wrapcauchy,
)  # fmt: skip
from .whole_line import (
    cauchy, crystalball, dgamma, dweibull, exponnorm, genlogistic, gennorm, gumbel_l, gumbel_r, hypsecant, jf_skew_t,
    johnsonsu, kappa4, laplace, laplace_asymmetric, loggamma, logistic, moyal, norm, norminvgauss, powernorm, skewcauchy,
    skewnorm, t, vonmises, vonmises_line,
)  # fmt: skip
from .kde import gaussian_kde
from .matrices import invwishart, matrix_normal, wishart
from .multivariate import dirichlet, dirichlet_multinomial, multinomial, multivariate_normal, multivariate_t, vonmises_fisher
from .noncentral import ncf, nct, ncx2
from .rarer import dpareto_lognorm, gausshyper, genhyperbolic, geninvgauss, kstwobign, tukeylambda
from .refusals import absent
from . import samples
from .samples import *  # noqa: F403
from .summaries import (
    boxcox_llf, describe, entropy, gmean, gzscore, hmean, kurtosis, linregress, moment, pearsonr, pmean, sem, skew, trim_mean,
    ttest_1samp, ttest_ind, ttest_rel, variation, wasserstein_distance, zmap, zscore,
)  # fmt: skip
from ..without import add_without_derivative

__all__ = [
    "alpha", "anglit", "arcsine", "argus", "bernoulli", "beta", "betabinom", "betanbinom", "betaprime", "binom", "boltzmann",
    "boxcox_llf", "bradford", "burr", "burr12", "cauchy", "chi", "chi2", "cosine", "crystalball", "describe", "dgamma",
    "dirichlet", "dirichlet_multinomial", "dlaplace", "dpareto_lognorm", "dweibull", "entropy", "erlang", "expon", "exponnorm", "exponpow",
    "exponweib", "f", "fatiguelife", "fisk", "foldcauchy", "foldnorm", "gamma", "gausshyper", "gaussian_kde", "genexpon", "genextreme",
    "gengamma", "genhalflogistic", "genhyperbolic", "geninvgauss", "genlogistic", "gennorm", "genpareto", "geom", "gibrat",
    "gmean", "gompertz", "gumbel_l",
    "gumbel_r", "gzscore", "halfcauchy", "halfgennorm", "halflogistic", "halfnorm", "hmean", "hypergeom", "hypsecant",
    "invgamma", "invgauss", "invweibull", "invwishart", "irwinhall", "jf_skew_t", "johnsonsb", "johnsonsu", "kappa3",
    "kappa4", "kstwobign", "kurtosis", "laplace", "laplace_asymmetric", "levy", "levy_l", "linregress", "loggamma",
    "logistic", "loglaplace", "lognorm", "logser", "loguniform", "lomax", "matrix_normal", "maxwell", "mielke",
    "moment", "moyal", "multinomial", "multivariate_normal", "multivariate_t", "nakagami", "nbinom", "ncf", "nct", "ncx2",
    "nhypergeom", "norm", "norminvgauss", "pareto", "pearson3", "pearsonr", "planck", "pmean", "poisson", "powerlaw",
    "powerlognorm", "powernorm", "randint", "rayleigh", "rdist", "recipinvgauss", "reciprocal", "rel_breitwigner",
    "rice", "sem", "semicircular", "skellam", "skew", "skewcauchy", "skewnorm", "t", "trapezoid", "triang",
    "trim_mean", "truncexpon", "truncnorm", "truncpareto", "truncweibull_min", "tukeylambda", "ttest_1samp", "ttest_ind", "ttest_rel",
    "uniform", "variation", "vonmises", "vonmises_fisher", "vonmises_line", "wald", "wasserstein_distance", "weibull_max",
    "weibull_min", "wishart", "wrapcauchy", "yulesimon", "zipf", "zipfian", "zmap", "zscore",
]  # fmt: skip
globals().update(absent)
__all__ = [*__all__, *samples.__all__, *absent]
add_without_derivative(globals())
# HIPS autograd's programs import a family as a module: `import gradspec.scipy.stats.norm as norm`.
sys.modules.update({f"{__name__}.{name}": globals()[name] for name in __all__ if {"logpdf", "logpmf"} & {*dir(globals()[name])}})

"""Probability distributions under PyTorch's names: densities, random numbers with derivatives, divergences, and bijections."""

import gradspec  # noqa: F401 (waits for it)
import gradspec.autograd  # noqa: F401 (as well)

from . import constraints, kl_mixed, relaxed, transforms
from .composite import Independent, MixtureSameFamily, TransformedDistribution
from .constraint_registry import biject_to, transform_to
from .categorical import Categorical, Multinomial, OneHotCategorical, OneHotCategoricalStraightThrough
from .discrete import Bernoulli, Binomial, Geometric, NegativeBinomial, Poisson
from .distribution import Distribution, ExponentialFamily
from .generalized_pareto import GeneralizedPareto
from .half_line import Chi2, Exponential, FisherSnedecor, Gamma, HalfCauchy, HalfNormal
from .interval import Beta, ContinuousBernoulli, Uniform
from .kl import kl_divergence, register_kl
from .matrices import LKJCholesky, Wishart
from .multivariate import Dirichlet, LowRankMultivariateNormal, MultivariateNormal
from .relaxed import RelaxedBernoulli, RelaxedOneHotCategorical
from .transformed import InverseGamma, Kumaraswamy, LogisticNormal, LogNormal, Pareto, Weibull
from .transforms import *  # noqa: F403
from .whole_line import Cauchy, Gumbel, Laplace, Normal, StudentT, VonMises
from ..support.lazy_import import answer

__all__ = sorted([
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet", "Distribution",
    "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy",
    "HalfNormal", "Independent", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal",
    "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "RelaxedBernoulli",
    "RelaxedOneHotCategorical", "StudentT", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart",
    "biject_to", "constraints", "kl_divergence", "register_kl", "relaxed", "transform_to", "transforms",
    *transforms.__all__,
])  # fmt: skip
answer(__name__)

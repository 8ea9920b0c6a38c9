"""The table of distributions: name, parameters, values, from which the tests beside PyTorch are generated.

Parameters are lists of numbers, whose batch is (2,), or callables that build one from a module: ours, or torch.distributions.
"""

from typing import Any, NamedTuple

import numpy as np

import gradspec as gs
from tests.later import later

torch = later("torch")


class Case(NamedTuple):
    """A distribution in both libraries."""

    name: str
    parameters: dict[str, Any]
    values: Any
    constants: dict[str, Any] = {}
    discrete: bool = False

    def ours(self, grad=False, **kwargs):
        parameters = {key: gs.tensor(value, requires_grad=grad) for key, value in self.parameters.items()}
        return parameters, find(gs.distributions, self.name)(**self.constants, **parameters, **kwargs)

    def torchs(self, grad=False, **kwargs):
        parameters = {key: torch.tensor(value, dtype=torch.float64, requires_grad=grad) for key, value in self.parameters.items()}
        return parameters, find(torch.distributions, self.name)(**self.constants, **parameters, **kwargs)


def find(module, name):
    if name in ("LogitRelaxedBernoulli", "ExpRelaxedCategorical"):
        module = (
            gs.distributions.relaxed
            if module is gs.distributions
            else {
                "LogitRelaxedBernoulli": torch.distributions.relaxed_bernoulli,
                "ExpRelaxedCategorical": torch.distributions.relaxed_categorical,
            }[name]
        )
    return getattr(module, name)


COVARIANCE = [[[2.0, 0.3, -0.4], [0.3, 1.0, 0.2], [-0.4, 0.2, 1.5]], [[1.0, -0.2, 0.1], [-0.2, 0.7, 0.05], [0.1, 0.05, 2.0]]]
LOW = np.linalg.cholesky(np.array(COVARIANCE)).tolist()
LINE = [[-1.3, 0.4], [0.2, 2.5], [3.1, -0.7]]
POSITIVE = [[0.3, 0.4], [1.2, 2.5], [3.1, 0.07]]
UNIT = [[0.3, 0.45], [0.12, 0.9], [0.75, 0.07]]
SIMPLEX = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]
COUNTS = [[0.0, 1.0], [2.0, 0.0], [3.0, 5.0]]
CORRELATIONS = np.linalg.cholesky(np.array([[1.0, 0.3, -0.2], [0.3, 1.0, 0.5], [-0.2, 0.5, 1.0]])).tolist()

CASES = [
    Case("Normal", {"loc": [0.3, -1.2], "scale": [0.7, 2.1]}, LINE),
    Case("Laplace", {"loc": [0.3, -1.2], "scale": [0.7, 2.1]}, LINE),
    Case("Cauchy", {"loc": [0.3, -1.2], "scale": [0.7, 2.1]}, LINE),
    Case("Gumbel", {"loc": [0.3, -1.2], "scale": [0.7, 2.1]}, LINE),
    Case("StudentT", {"df": [0.7, 4.5], "loc": [0.3, -1.2], "scale": [0.7, 2.1]}, LINE),
    Case("VonMises", {"loc": [0.3, -1.2], "concentration": [0.7, 12.1]}, LINE),
    Case("Gamma", {"concentration": [0.4, 3.2], "rate": [0.7, 2.1]}, POSITIVE),
    Case("Chi2", {"df": [0.7, 4.5]}, POSITIVE),
    Case("Exponential", {"rate": [0.7, 4.5]}, POSITIVE),
    Case("HalfNormal", {"scale": [0.7, 4.5]}, POSITIVE),
    Case("HalfCauchy", {"scale": [0.7, 4.5]}, POSITIVE),
    Case("FisherSnedecor", {"df1": [1.7, 4.5], "df2": [4.7, 9.5]}, POSITIVE),
    Case("InverseGamma", {"concentration": [0.4, 3.2], "rate": [0.7, 2.1]}, POSITIVE),
    Case("LogNormal", {"loc": [0.3, -1.2], "scale": [0.7, 1.1]}, POSITIVE),
    Case("Weibull", {"scale": [0.7, 2.1], "concentration": [0.8, 2.2]}, POSITIVE),
    Case("Pareto", {"scale": [0.1, 0.05], "alpha": [0.8, 3.2]}, POSITIVE),
    Case("GeneralizedPareto", {"loc": [0.05, 0.02], "scale": [0.7, 1.3], "concentration": [0.3, 0.15]}, POSITIVE),
    Case("GeneralizedPareto", {"loc": [0.05, 0.02], "scale": [0.7, 1.3], "concentration": [-0.2, -0.4]}, POSITIVE),
    Case("Uniform", {"low": [-0.1, 0.05], "high": [0.8, 1.1]}, UNIT),
    Case("Beta", {"concentration1": [0.4, 3.2], "concentration0": [1.7, 2.1]}, UNIT),
    Case("Kumaraswamy", {"concentration1": [0.4, 3.2], "concentration0": [1.7, 2.1]}, UNIT),
    Case("ContinuousBernoulli", {"probs": [0.3, 0.8]}, UNIT),
    Case("ContinuousBernoulli", {"logits": [-0.3, 2.8]}, UNIT),
    Case("RelaxedBernoulli", {"temperature": 0.7, "probs": [0.3, 0.8]}, UNIT),
    Case("RelaxedBernoulli", {"temperature": 0.7, "logits": [-0.3, 2.8]}, UNIT),
    Case("LogitRelaxedBernoulli", {"temperature": 0.7, "logits": [-0.3, 2.8]}, LINE),
    Case("Bernoulli", {"probs": [0.3, 0.8]}, [[0.0, 1.0], [1.0, 0.0]], discrete=True),
    Case("Bernoulli", {"logits": [-0.3, 2.8]}, [[0.0, 1.0], [1.0, 0.0]], discrete=True),
    Case("Geometric", {"probs": [0.3, 0.8]}, COUNTS, discrete=True),
    Case("Geometric", {"logits": [-0.3, 2.8]}, COUNTS, discrete=True),
    Case("Poisson", {"rate": [0.3, 2.8]}, COUNTS, discrete=True),
    Case("Binomial", {"probs": [0.3, 0.8]}, COUNTS, {"total_count": 6}, True),
    Case("Binomial", {"logits": [-0.3, 2.8]}, COUNTS, {"total_count": 6}, True),
    Case("NegativeBinomial", {"total_count": [2.5, 4.0], "probs": [0.3, 0.8]}, COUNTS, discrete=True),
    Case("NegativeBinomial", {"total_count": [2.5, 4.0], "logits": [-0.3, 1.8]}, COUNTS, discrete=True),
    Case("Categorical", {"probs": SIMPLEX}, [[0, 1], [2, 0]], discrete=True),
    Case("Categorical", {"logits": SIMPLEX}, [[0, 1], [2, 0]], discrete=True),
    Case("OneHotCategorical", {"probs": SIMPLEX}, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], discrete=True),
    Case("OneHotCategoricalStraightThrough", {"logits": SIMPLEX}, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], discrete=True),
    Case("RelaxedOneHotCategorical", {"temperature": 0.7, "probs": SIMPLEX}, SIMPLEX),
    Case("RelaxedOneHotCategorical", {"temperature": 0.7, "logits": SIMPLEX}, SIMPLEX),
    Case("ExpRelaxedCategorical", {"temperature": 0.7, "logits": SIMPLEX}, np.log(SIMPLEX).tolist()),
    Case("Multinomial", {"probs": SIMPLEX}, [[2.0, 0.0, 3.0], [1.0, 3.0, 1.0]], {"total_count": 5}, True),
    Case("Multinomial", {"logits": SIMPLEX}, [[2.0, 0.0, 3.0], [1.0, 3.0, 1.0]], {"total_count": 5}, True),
    Case("Dirichlet", {"concentration": [[0.4, 1.7, 2.5], [3.0, 0.8, 1.2]]}, SIMPLEX),
    Case("LogisticNormal", {"loc": [[0.4, -0.7], [1.1, 0.2]], "scale": [[0.6, 1.7], [0.9, 1.2]]}, SIMPLEX),
    Case("MultivariateNormal", {"loc": SIMPLEX, "covariance_matrix": COVARIANCE}, [[0.3, -0.4, 1.2], [2.0, 0.1, -0.5]]),
    Case("MultivariateNormal", {"loc": SIMPLEX, "precision_matrix": COVARIANCE}, [[0.3, -0.4, 1.2], [2.0, 0.1, -0.5]]),
    Case("MultivariateNormal", {"loc": SIMPLEX, "scale_tril": LOW}, [[0.3, -0.4, 1.2], [2.0, 0.1, -0.5]]),
    Case("LowRankMultivariateNormal", {"loc": SIMPLEX, "cov_factor": [[[0.5], [1.0], [-0.3]], [[0.2], [0.7], [0.9]]],
                                       "cov_diag": [[0.5, 1.0, 0.7], [1.2, 0.4, 0.8]]}, [[0.3, -0.4, 1.2], [2.0, 0.1, -0.5]]),
    Case("Wishart", {"df": [3.5, 6.0], "covariance_matrix": COVARIANCE}, COVARIANCE),
    Case("Wishart", {"df": [3.5, 6.0], "precision_matrix": COVARIANCE}, COVARIANCE),
    Case("Wishart", {"df": [3.5, 6.0], "scale_tril": LOW}, COVARIANCE),
    Case("LKJCholesky", {"concentration": [0.7, 2.5]}, [CORRELATIONS, CORRELATIONS], {"dim": 3}),
]  # fmt: skip
IDS = [f"{case.name}-{'-'.join(case.parameters)}-{place}" for place, case in enumerate(CASES)]
MATRICES = ("Wishart",)
SIMPLEXES = ("LogisticNormal", "Dirichlet", "RelaxedOneHotCategorical")

"""kl_divergence: every pair that PyTorch has, in value and gradient, and the registry."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.distributions.kl import _PAIRS
from tests.asked import each
from tests.later import later
from tests.library.distributions.cases import COVARIANCE, SIMPLEX, find

torch = later("torch")
registry = later("torch.distributions.kl")

PARAMETERS = {
    "Bernoulli": [{"probs": [0.3, 0.8]}, {"probs": [0.6, 0.75]}], "Beta": [{"concentration1": [1.4, 3.2], "concentration0": [1.7, 2.1]}, {"concentration1": [0.7, 2.2], "concentration0": [2.7, 0.6]}],
    "Binomial": [{"total_count": [6.0, 6.0], "probs": [0.3, 0.8]}, {"total_count": [6.0, 6.0], "probs": [0.5, 0.6]}],
    "Categorical": [{"probs": SIMPLEX}, {"logits": [[0.1, 0.9, -1.2], [0.3, 0.2, 2.0]]}],
    "OneHotCategorical": [{"probs": SIMPLEX}, {"logits": [[0.1, 0.9, -1.2], [0.3, 0.2, 2.0]]}],
    "Cauchy": [{"loc": [0.3, -1.2], "scale": [0.7, 2.1]}, {"loc": [1.3, -0.2], "scale": [1.7, 0.3]}],
    "ContinuousBernoulli": [{"probs": [0.3, 0.8]}, {"probs": [0.6, 0.75]}], "Dirichlet": [{"concentration": [[0.4, 1.7, 2.5], [3.0, 0.8, 1.2]]}, {"concentration": SIMPLEX}],
    "Exponential": [{"rate": [0.7, 4.5]}, {"rate": [1.7, 2.5]}], "Gamma": [{"concentration": [0.4, 3.2], "rate": [0.7, 2.1]}, {"concentration": [1.4, 1.2], "rate": [1.7, 0.4]}],
    "Geometric": [{"probs": [0.3, 0.8]}, {"logits": [0.6, 0.75]}], "Gumbel": [{"loc": [0.3, -1.2], "scale": [0.7, 2.1]}, {"loc": [1.3, -0.2], "scale": [1.7, 0.6]}],
    "HalfNormal": [{"scale": [0.7, 4.5]}, {"scale": [1.7, 2.5]}], "Laplace": [{"loc": [0.3, -1.2], "scale": [0.7, 2.1]}, {"loc": [1.3, -0.2], "scale": [1.7, 0.3]}],
    "Normal": [{"loc": [0.3, -1.2], "scale": [0.7, 2.1]}, {"loc": [1.3, -0.2], "scale": [1.7, 0.6]}],
    "Pareto": [{"scale": [0.5, 0.9], "alpha": [2.8, 3.2]}, {"scale": [0.3, 1.9], "alpha": [1.8, 3.5]}], "Poisson": [{"rate": [0.3, 2.8]}, {"rate": [1.3, 0.8]}],
    "Uniform": [{"low": [0.2, 0.3], "high": [0.8, 0.9]}, {"low": [0.1, 0.35], "high": [1.8, 1.9]}],
    "MultivariateNormal": [{"loc": SIMPLEX, "covariance_matrix": COVARIANCE}, {"loc": [[0.3, 0.9, -1.0], [0.2, 0.1, 0.0]], "precision_matrix": COVARIANCE}],
    "LowRankMultivariateNormal": [{"loc": SIMPLEX, "cov_factor": [[[0.5], [1.0], [-0.3]], [[0.2], [0.7], [0.9]]], "cov_diag": [[0.5, 1.0, 0.7], [1.2, 0.4, 0.8]]}, {"loc": [[0.3, 0.9, -1.0], [0.2, 0.1, 0.0]], "cov_factor": [[[0.2], [0.7], [0.9]], [[0.5], [1.0], [-0.3]]], "cov_diag": [[1.5, 0.6, 0.9], [0.2, 0.7, 1.8]]}],
    "Wishart": [{"df": [3.5, 6.0], "covariance_matrix": COVARIANCE}, {"df": [4.5, 3.0], "precision_matrix": COVARIANCE}],
    "LogNormal": [{"loc": [0.3, -1.2], "scale": [0.7, 2.1]}, {"loc": [1.3, -0.2], "scale": [1.7, 0.6]}], "Chi2": [{"df": [0.7, 4.5]}, {"df": [1.7, 2.5]}],
}  # fmt: skip
FROM = {"ExponentialFamily": ["Wishart"], "Independent": [], "TransformedDistribution": ["LogNormal"]}
REGISTERED = sorted((p.__name__, q.__name__) for p, q in registry._KL_REGISTRY)
PAIRS = sorted(
    {(one, other) for p, q in REGISTERED for one, other in zip(FROM.get(p, [p]), FROM.get(q, [q]))}
    | {("Chi2", "Chi2"), ("Chi2", "Gamma"), ("Chi2", "Normal")}
)


def test_pairs_are_pytorchs():
    assert sorted((p.__name__, q.__name__) for p, q in _PAIRS if getattr(gs.distributions, p.__name__, None) is p) == REGISTERED


def both(module, p, q, tensor):
    one, other = ({key: tensor(value) for key, value in PARAMETERS[name][k].items()} for k, name in enumerate((p, q)))
    if p == "Wishart" and module is torch.distributions:  # whose divergence of a batch sums over the batch
        rows = [[{key: leaf[row] for key, leaf in part.items()} for part in (one, other)] for row in range(2)]
        value = torch.stack([module.kl_divergence(*(module.Wishart(**part) for part in row)) for row in rows])
        return [*one.values(), *other.values()], value
    value = module.kl_divergence(find(module, p)(**one), find(module, q)(**other))
    return [*one.values(), *other.values()], value


@each("pair", PAIRS, ids="-".join)
def test_divergences(pair):
    p, q = pair
    leaves, found = both(gs.distributions, p, q, lambda value: gs.tensor(value, requires_grad=True))
    others, expected = both(torch.distributions, p, q, lambda value: torch.tensor(value, requires_grad=True))
    assert tuple(found.shape) == tuple(expected.shape)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-8)
    if not torch.isfinite(expected).any():
        return
    gs.where(gs.isfinite(found), found, 0.0).sum().backward()
    torch.where(torch.isfinite(expected), expected, 0.0).sum().backward()
    if p == "Wishart":
        return along_symmetric_directions(leaves, others)
    for one, other in zip(leaves, others):
        gradient = np.zeros(other.shape) if one.grad is None else one.grad.numpy()
        theirs = np.zeros(other.shape) if other.grad is None else other.grad.numpy()
        if other.ndim == 3:
            gradient, theirs = (
                (g + np.swapaxes(g, -1, -2) for g in (gradient, theirs))
                if other.shape[-1] == other.shape[-2]
                else (gradient, theirs)
            )
        known = np.isfinite(theirs)
        np.testing.assert_allclose(gradient[known], theirs[known], rtol=1e-7, atol=1e-9)


def along_symmetric_directions(leaves, others):
    """PyTorch detaches the parameters of p in this pair: the gradient is compared with central differences of its values."""
    random = np.random.default_rng(0)
    ways = [random.standard_normal(leaf.shape) for leaf in leaves]
    ways = [way + np.swapaxes(way, -1, -2) if way.ndim == 3 else way for way in ways]
    ends = []
    for step in (1e-6, -1e-6):
        moved = [other.detach() + step * torch.tensor(way) for other, way in zip(others, ways)]
        rows = [
            torch.distributions.kl_divergence(
                *(
                    torch.distributions.Wishart(moved[k][row], **{name: moved[k + 1][row]})
                    for k, name in ((0, "covariance_matrix"), (2, "precision_matrix"))
                )
            )
            for row in range(2)
        ]
        ends.append(sum(row.item() for row in rows))
    found = sum((leaf.grad.numpy() * way).sum() for leaf, way in zip(leaves, ways))
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / 2e-6, rtol=1e-7)


@each("pair", [pair for pair in PAIRS if pair[0] == pair[1]], ids="-".join)
def test_a_divergence_from_itself_is_zero(pair):
    one, other = (
        find(gs.distributions, pair[0])(**{key: gs.tensor(value) for key, value in PARAMETERS[pair[0]][0].items()})
        for _ in range(2)
    )
    np.testing.assert_allclose(gs.distributions.kl_divergence(one, other).numpy(), np.zeros(2), atol=1e-13)


def test_composites():
    def value(module, tensor):
        normals = [module.Normal(tensor(np.full((2, 3), k)), tensor(np.full((2, 3), 1.0 + k))) for k in (0.5, 1.5)]
        plain = module.kl_divergence(*(module.Independent(one, 1) for one in normals))
        moved = module.kl_divergence(
            *(module.TransformedDistribution(module.Independent(one, 1), [module.SigmoidTransform()]) for one in normals)
        )
        return plain, moved

    for found, expected in zip(value(gs.distributions, gs.tensor), value(torch.distributions, torch.tensor), strict=True):
        assert found.shape == (2,)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12)


def test_supports_decide_about_infinity():
    d = gs.distributions
    assert d.kl_divergence(d.Bernoulli([0.0, 1.0, 0.5]), d.Bernoulli([0.5, 0.5, 1.0])).tolist() == [np.log(2), np.log(2), np.inf]
    assert d.kl_divergence(d.Categorical([0.5, 0.5]), d.Categorical([1.0, 0.0])).item() == np.inf
    assert d.kl_divergence(d.Categorical([1.0, 0.0]), d.Categorical([1.0, 0.0])).item() == 0
    assert d.kl_divergence(d.Poisson(0.0), d.Poisson(2.0)).item() == 2


def test_pairs_that_are_refused():
    d = gs.distributions
    with pytest.raises(NotImplementedError, match="p type Normal and q type Cauchy"):
        d.kl_divergence(d.Normal(0.0, 1.0), d.Cauchy(0.0, 1.0))
    with pytest.raises(NotImplementedError, match="different transforms"):
        d.kl_divergence(d.LogNormal(0.0, 1.0), d.TransformedDistribution(d.Normal(0.0, 1.0), [d.SigmoidTransform()]))
    with pytest.raises(NotImplementedError, match="reinterpreted_batch_ndims"):
        normal = d.Normal(gs.zeros((2, 3)), 1.0)
        d.kl_divergence(d.Independent(normal, 1), d.Independent(normal, 2))
    with pytest.raises(TypeError, match="Distribution subclasses"):
        d.register_kl(int, d.Normal)

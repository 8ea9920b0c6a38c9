"""Shapes, expansion, checks and messages: for all distributions of the table."""

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each
from tests.later import later
from tests.library.distributions.cases import CASES, IDS, find

torch = later("torch")


@each("case", CASES, ids=IDS)
def test_attributes_and_shapes(case):
    ours, theirs = case.ours()[1], case.torchs()[1]
    assert ours.batch_shape == tuple(theirs.batch_shape) and ours.event_shape == tuple(theirs.event_shape)
    assert ours.has_enumerate_support == theirs.has_enumerate_support
    assert ours.has_rsample == (theirs.has_rsample or case.name in ("VonMises", "LogitRelaxedBernoulli"))
    assert (ours.support.event_dim, ours.support.is_discrete) == (theirs.support.event_dim, theirs.support.is_discrete)
    for shape in ((), (3,), (2, 4)):
        drawn = ours.sample(shape)
        assert tuple(drawn.shape) == tuple(theirs.sample(shape).shape) and not drawn.requires_grad
        assert bool(ours.support.check(drawn).all()) and tuple(ours.log_prob(drawn).shape) == (*shape, 2)
    if ours.has_enumerate_support:
        for expand in (True, False):
            np.testing.assert_array_equal(ours.enumerate_support(expand).numpy(), theirs.enumerate_support(expand).numpy())
    else:
        with pytest.raises(NotImplementedError, match="enumerate_support"):
            ours.enumerate_support()


@each("case", CASES, ids=IDS)
def test_expand(case):
    ours, theirs = (d[1].expand((3, 2)) for d in (case.ours(), case.torchs()))
    assert type(ours).__name__ == type(theirs).__name__
    assert ours.batch_shape == (3, 2) and ours.event_shape == tuple(theirs.event_shape)
    value = np.asarray(case.values)
    if value.ndim > 1 + len(ours.event_shape):
        value = value[0]
    np.testing.assert_allclose(ours.log_prob(value).numpy(), np.broadcast_to(case.ours()[1].log_prob(value).numpy(), (3, 2)))
    assert ours.sample((5,)).shape == (5, 3, 2, *ours.event_shape)
    for name in ("mean", "variance", "entropy"):
        try:
            expected = getattr(theirs, name)
            expected = expected() if name == "entropy" else expected
        except (AttributeError, NotImplementedError):  # PyTorch's expanded Multinomial
            continue
        found = getattr(ours, name)
        assert tuple((found() if name == "entropy" else found).shape) == tuple(expected.shape)


@each("case", CASES, ids=IDS)
def test_single_precision_is_kept(case):
    parameters = {key: gs.tensor(value, dtype="float32") for key, value in case.parameters.items()}
    ours = find(gs.distributions, case.name)(**case.constants, **parameters)
    value = gs.tensor(case.values, dtype=None if case.name == "Categorical" else "float32")
    assert case.name == "Categorical" or ours.sample((3,)).dtype == "float32"
    assert ours.log_prob(value).dtype == "float32"
    for name in ("mean", "variance", "entropy", "cdf"):
        try:
            found = getattr(ours, name)
            found = found() if name == "entropy" else found(value) if name == "cdf" else found
        except NotImplementedError:
            continue
        assert found.dtype == "float32", name


BAD = [
    ("Normal", {"loc": 0.0, "scale": -1.0}, "scale", "greater_than"), ("Normal", {"loc": np.nan, "scale": 1.0}, "loc", "Real"),
    ("Gamma", {"concentration": [1.0, 0.0], "rate": 1.0}, "concentration", "greater_than"), ("Bernoulli", {"probs": 1.5}, "probs", "interval"),
    ("Categorical", {"probs": [[-0.5, 1.5]]}, "probs", "Simplex"), ("Dirichlet", {"concentration": [1.0, -1.0]}, "concentration", "independent"),
    ("Poisson", {"rate": -1.0}, "rate", "greater_than_eq"), ("Binomial", {"total_count": 1.5, "probs": 0.5}, "total_count", "integer"),
    ("MultivariateNormal", {"loc": [0.0, 0.0], "covariance_matrix": [[1.0, 2.0], [2.0, 1.0]]}, "covariance_matrix", "PositiveDefinite"),
    ("MultivariateNormal", {"loc": [0.0, 0.0], "scale_tril": [[1.0, 2.0], [2.0, 1.0]]}, "scale_tril", "LowerCholesky"),
    ("LogNormal", {"loc": 0.0, "scale": 0.0}, "scale", "greater_than"), ("Weibull", {"scale": 1.0, "concentration": -1.0}, "concentration", "greater_than"),
    ("VonMises", {"loc": 0.0, "concentration": -1.0}, "concentration", "greater_than"), ("StudentT", {"df": 0.0}, "df", "greater_than"),
    ("NegativeBinomial", {"total_count": 2.0, "probs": 1.0}, "probs", "half_open"), ("LKJCholesky", {"dim": 3, "concentration": 0.0}, "concentration", "greater_than"),
    ("RelaxedBernoulli", {"temperature": 0.5, "probs": 2.0}, "probs", "interval"), ("Chi2", {"df": -2.0}, "df", "greater_than"),
]  # fmt: skip


@each("name, parameters, which, constraint", BAD)
def test_bad_parameters_are_named(name, parameters, which, constraint):
    kind = getattr(gs.distributions, name)
    with pytest.raises(
        ValueError, match=f"Expected parameter {which} .* to satisfy the constraint {constraint}.*but found invalid values"
    ) as ours:
        kind(**parameters)
    tensors = {key: torch.as_tensor(value) if key != "dim" else value for key, value in parameters.items()}
    with pytest.raises(ValueError, match=f"Expected parameter {which} "):
        getattr(torch.distributions, name)(**tensors)
    assert "tensor(" in str(ours.value)
    kind(**parameters, validate_args=False)


@each("case", [case for case in CASES if case.name not in ("Normal", "Cauchy", "Laplace", "Gumbel", "StudentT", "VonMises", "LogitRelaxedBernoulli",
                                                           "MultivariateNormal", "LowRankMultivariateNormal", "ExpRelaxedCategorical")])  # fmt: skip
def test_values_outside_of_the_support(case):
    _, d = case.ours()
    outside = np.asarray(case.values) * 0.0 - 0.5
    with pytest.raises(ValueError, match="to be within the support .* of the distribution .* but found invalid values"):
        d.log_prob(outside)
    with pytest.raises(ValueError, match="to be within the support"):
        case.torchs()[1].log_prob(torch.tensor(outside))
    if not d.event_shape and case.name != "Categorical":
        unchecked = case.ours(validate_args=False)[1]
        assert (unchecked.log_prob(np.full(2, -0.5)).numpy() == -np.inf).all()


def test_shapes_that_do_not_suit():
    d = gs.distributions
    with pytest.raises(ValueError, match="right-most size of value must match event_shape"):
        d.Dirichlet([1.0, 1.0]).log_prob([0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match="not broadcastable with batch_shape"):
        d.Normal(gs.zeros((2,)), 1.0).log_prob(gs.zeros((3,)))
    with pytest.raises(ValueError, match="reinterpreted_batch_ndims"):
        d.Independent(d.Normal(gs.zeros((2,)), 1.0), 2)
    with pytest.raises(ValueError, match="exactly one of `probs` and `logits`"):
        d.Bernoulli(0.5, 0.5)
    with pytest.raises(ValueError, match="Exactly one of covariance_matrix"):
        d.MultivariateNormal([0.0])
    with pytest.raises(ValueError, match="low >= high"):
        d.Uniform(1.0, 0.0)
    with pytest.raises(ValueError, match="ndim - 1 = 1"):
        d.Wishart(0.5, gs.eye(2))
    with pytest.raises(NotImplementedError, match="Bernoulli has no rsample"):
        d.Bernoulli(0.5).rsample()


def test_the_default_of_checks():
    d = gs.distributions
    d.Distribution.set_default_validate_args(False)
    try:
        assert np.isnan(d.Normal(0.0, -1.0).log_prob(0.0).item())
    finally:
        d.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="scale"):
        d.Normal(0.0, -1.0)


@each("case", CASES, ids=IDS)
def test_transformations_of_log_prob(case):
    """Forward mode, vmap and compile give what reverse mode gives."""
    names, values = list(case.parameters), [gs.tensor(value) for value in case.parameters.values()]
    _, plain = case.ours()
    point = gs.tensor(np.asarray(case.values)[0] if np.ndim(case.values) > 1 + len(plain.event_shape) else case.values)

    def value(*parameters):
        return find(gs.distributions, case.name)(**case.constants, **dict(zip(names, parameters))).log_prob(point)

    expected = value(*values)
    tangents = [gs.tensor(np.sin(1.0 + np.arange(v.numpy().size)).reshape(v.shape)) * 0.1 for v in values]
    if any(name in ("covariance_matrix", "precision_matrix") for name in names):
        tangents = [t + t.mT if t.ndim == 3 else t for t in tangents]
    out, moved = gs.func.jvp(value, tuple(values), tuple(tangents))
    pulled = gs.func.vjp(value, *values)[1](gs.ones_like(expected))
    total = sum((gradient * tangent).sum().item() for gradient, tangent in zip(pulled, tangents))
    np.testing.assert_allclose(moved.sum().item(), total, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(out.numpy(), expected.numpy())
    many = [gs.stack([v, v]) for v in values]
    np.testing.assert_allclose(gs.vmap(value)(*many).numpy(), np.stack([expected.numpy()] * 2), rtol=1e-10)
    compiled = gs.compile(value)
    for _ in range(3):
        np.testing.assert_allclose(compiled(*values).numpy(), expected.numpy(), rtol=1e-10)

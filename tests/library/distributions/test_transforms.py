"""Transforms and constraints beside PyTorch's: images, inverses, determinants, shapes, and the registries."""

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each
from tests.later import later
from tests.library.distributions.cases import CORRELATIONS, COVARIANCE, LINE, SIMPLEX

torch = later("torch")

VECTORS = [[0.3, -1.2, 0.7], [1.4, 0.2, -0.5]]
MATRIX = [[[0.3, -1.2, 0.7], [1.4, 0.2, -0.5], [0.9, -0.4, 0.6]]]


def transforms(d, tensor):
    """Each transform with an argument, in the library `d`."""
    t = d.transforms
    vector = t.StackTransform([t.ExpTransform(), t.AffineTransform(0.5, -2.0), t.TanhTransform()], dim=-1)
    return {
        "exp": (t.ExpTransform(), LINE), "power": (t.PowerTransform(tensor(2.5)), [0.3, 1.7]), "power-1": (t.PowerTransform(tensor(-1.5)), [0.3, 1.7]),
        "sigmoid": (t.SigmoidTransform(), LINE), "softplus": (t.SoftplusTransform(), LINE), "tanh": (t.TanhTransform(), LINE),
        "affine": (t.AffineTransform(tensor([0.3, 0.9]), tensor([-1.3, 2.0])), LINE), "affine of vectors": (t.AffineTransform(1.0, -2.0, event_dim=1), VECTORS),
        "normal cdf": (t.CumulativeDistributionTransform(d.Normal(tensor(0.3), tensor(1.2))), LINE),
        "sticks": (t.StickBreakingTransform(), VECTORS), "correlations": (t.CorrCholeskyTransform(), VECTORS),
        "reshape": (t.ReshapeTransform((3,), (3, 1)), VECTORS), "independent": (t.IndependentTransform(t.ExpTransform(), 1), VECTORS),
        "stack": (vector, VECTORS), "cat": (t.CatTransform([t.ExpTransform(), t.SigmoidTransform()], dim=-1, lengths=[2, 1]), VECTORS),
        "cat of vectors": (t.CatTransform([t.AffineTransform(1.0, -2.0, event_dim=1), t.IndependentTransform(t.ExpTransform(), 1)], dim=0, lengths=[1, 1]), VECTORS),
        "compose": (t.ComposeTransform([t.AffineTransform(0.5, 2.0), t.SigmoidTransform(), t.AffineTransform(-1.0, 3.0)]), LINE),
        "compose of vectors": (t.ComposeTransform([t.AffineTransform(0.5, 2.0), t.StickBreakingTransform()]), VECTORS),
        "identity": (t.identity_transform, LINE), "inverse": (t.SigmoidTransform().inv, [0.3, 0.9]), "inverse of sticks": (t.StickBreakingTransform().inv, SIMPLEX),
        "softmax": (t.SoftmaxTransform(), VECTORS), "lower": (t.LowerCholeskyTransform(), MATRIX), "positive definite": (t.PositiveDefiniteTransform(), MATRIX),
        "abs": (t.AbsTransform(), LINE),
    }  # fmt: skip


NAMES = list(transforms(gs.distributions, gs.tensor))
NO_DETERMINANT = ("softmax", "lower", "positive definite", "abs")


def pair(name):
    (ours, value), (theirs, _) = (
        transforms(d, tensor)[name] for d, tensor in ((gs.distributions, gs.tensor), (torch.distributions, torch.tensor))
    )
    return ours, theirs, gs.tensor(value, requires_grad=True), torch.tensor(value, requires_grad=True)


def same(found, expected, x, y, part=lambda gradient: gradient):
    assert tuple(found.shape) == tuple(expected.shape)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-11, atol=1e-13)
    if expected.requires_grad:
        weights = np.cos(np.arange(expected.numel())).reshape(expected.shape)
        (one,) = gs.autograd.grad((found * gs.tensor(weights)).sum(), [x])
        (other,) = torch.autograd.grad((expected * torch.tensor(weights)).sum(), [y], retain_graph=True)
        np.testing.assert_allclose(part(one.numpy()), part(other.numpy()), rtol=1e-9, atol=1e-11)


@each("name", NAMES)
def test_images_and_inverses(name):
    ours, theirs, x, y = pair(name)
    beside = {
        "inverse of sticks": lambda gradient: gradient - gradient.mean(-1, keepdims=True)
    }  # a value off the simplex is either's own
    same(ours(x), theirs(y), x, y, *[beside[name]] if name in beside else [])
    assert ours.bijective == theirs.bijective
    assert ours.forward_shape(x.shape) == tuple(theirs.forward_shape(y.shape)) == tuple(ours(x).shape)
    assert ours.inverse_shape(ours(x).shape) == tuple(x.shape)
    assert (ours.domain.event_dim, ours.codomain.event_dim) == (theirs.domain.event_dim, theirs.codomain.event_dim)
    assert bool(ours.codomain.check(ours(x)).all())
    back = ours.inv(ours(x).detach())
    if ours.bijective:
        np.testing.assert_allclose(back.numpy(), x.detach().numpy(), rtol=1e-9)
    np.testing.assert_allclose(ours(back).detach().numpy(), ours(x).detach().numpy(), rtol=1e-9, atol=1e-12)


@each("name", NAMES)
def test_determinants(name):
    ours, theirs, x, y = pair(name)
    if name in NO_DETERMINANT:
        with pytest.raises(NotImplementedError):
            ours.log_abs_det_jacobian(x, ours(x))
        return
    image, other = ours(x).detach(), theirs(y).detach()
    found, expected = ours.log_abs_det_jacobian(x, image), theirs.log_abs_det_jacobian(y, other)
    assert tuple(found.shape) == tuple(expected.shape)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-11, atol=1e-13)
    found, expected = ours.log_abs_det_jacobian(x, ours(x)), theirs.log_abs_det_jacobian(y, theirs(y))
    if name != "inverse of sticks":  # beside the simplex each has its own
        same(found, expected, x, y)
    np.testing.assert_allclose(
        ours.inv.log_abs_det_jacobian(image, x).detach().numpy(), -found.detach().numpy(), rtol=1e-9, atol=1e-12
    )


@each(
    "name",
    [
        name
        for name in NAMES
        if name not in NO_DETERMINANT and not name.startswith(("sticks", "correl", "compose of", "inverse of"))
    ],
)
def test_determinants_are_of_the_jacobian(name):
    ours, _, x, _ = pair(name)
    x = x.detach()
    full = gs.func.jacrev(lambda flat: ours(flat.reshape(x.shape)).reshape((-1,)))(x.reshape((-1,)))
    total = ours.log_abs_det_jacobian(x, ours(x)).sum()
    np.testing.assert_allclose(gs.linalg.slogdet(full)[1].item(), total.item(), rtol=1e-9, atol=1e-12)


def test_signs():
    t = gs.distributions.transforms
    assert t.ExpTransform().sign == 1 and t.AffineTransform(0.0, -2.0).sign == -1 and t.ExpTransform().inv.sign == 1
    assert t.ComposeTransform([t.AffineTransform(0.0, -2.0), t.AffineTransform(0.0, -1.0)]).sign == 1
    with pytest.raises(NotImplementedError, match="StickBreakingTransform"):
        t.StickBreakingTransform().sign  # noqa: B018


def test_a_cache_keeps_the_inverse_of_a_saturated_image():
    t = gs.distributions.transforms
    x = gs.tensor([25.0])
    for tanh in (t.TanhTransform(cache_size=1), t.TanhTransform().with_cache(1)):
        assert tanh.inv(tanh(x)) is x
    assert t.TanhTransform().inv(t.TanhTransform()(x)).item() == np.inf
    policy = gs.distributions.TransformedDistribution(gs.distributions.Normal(30.0, 1.0), [t.TanhTransform(cache_size=1)])
    assert np.isfinite(policy.log_prob(policy.rsample()).item())


def test_equality():
    t = gs.distributions.transforms
    assert t.AffineTransform(1.0, 2.0) == t.AffineTransform(1.0, 2.0) != t.AffineTransform(1.0, 3.0)
    assert t.ExpTransform().inv == t.ExpTransform().inv != t.ExpTransform()


def regions(c, tensor):
    return {
        "real": c.real, "positive": c.positive, "nonnegative": c.nonnegative, "greater_than": c.greater_than(2.0), "greater_than_eq": c.greater_than_eq(tensor(-1.0)),
        "less_than": c.less_than(3.0), "unit_interval": c.unit_interval, "interval": c.interval(-1.0, 2.0), "half_open_interval": c.half_open_interval(tensor(0.5), tensor(2.0)),
        "simplex": c.simplex, "real_vector": c.real_vector, "independent": c.independent(c.positive, 1), "lower_cholesky": c.lower_cholesky,
        "positive_definite": c.positive_definite, "corr_cholesky": c.corr_cholesky, "stack": c.stack([c.positive, c.unit_interval, c.real], -1),
        "cat": c.cat([c.positive, c.unit_interval], -1, [2, 1]), "boolean": c.boolean, "one_hot": c.one_hot, "nonnegative_integer": c.nonnegative_integer,
        "positive_integer": c.positive_integer, "integer_interval": c.integer_interval(-1, 2), "lower_triangular": c.lower_triangular,
        "symmetric": c.symmetric, "square": c.square, "positive_semidefinite": c.positive_semidefinite, "multinomial": c.multinomial(3),
    }  # fmt: skip


REGIONS = list(regions(gs.distributions.constraints, gs.tensor))
TRIED = [
    LINE,
    [[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [np.nan, 1.0, -1.0]],
    SIMPLEX,
    VECTORS,
    COVARIANCE,
    CORRELATIONS,
    np.eye(3).tolist(),
    [[0.0, 2.0, 3.0], [2.0, 1.0, 0.5]],
]


@each("name", REGIONS)
def test_constraints(name):
    ours, theirs = (
        regions(d.constraints, tensor)[name] for d, tensor in ((gs.distributions, gs.tensor), (torch.distributions, torch.tensor))
    )
    assert (ours.event_dim, ours.is_discrete) == (theirs.event_dim, theirs.is_discrete)
    asked = 0
    for values in TRIED:
        if np.ndim(values) < ours.event_dim or (
            ours.event_dim == 2 and np.shape(values)[-1] != np.shape(values)[-2] and name not in ("lower_triangular", "square")
        ):
            continue
        if np.shape(values)[-1] != 3 and name in ("stack", "cat"):
            continue
        if np.isnan(values).any() and name in ("positive_definite", "positive_semidefinite"):
            continue
        found, expected = ours.check(gs.tensor(values)), theirs.check(torch.tensor(values))
        assert found.tolist() == expected.tolist(), values
        asked += 1
    assert asked


@each("registry", ["biject_to", "transform_to"])
@each("name", REGIONS)
def test_registries(name, registry):
    ours, theirs = (
        regions(d.constraints, tensor)[name] for d, tensor in ((gs.distributions, gs.tensor), (torch.distributions, torch.tensor))
    )
    try:
        expected = getattr(torch.distributions, registry)(theirs)
    except NotImplementedError:
        with pytest.raises(NotImplementedError, match="Cannot transform"):
            getattr(gs.distributions, registry)(ours)
        return
    found = getattr(gs.distributions, registry)(ours)
    values = MATRIX if expected.domain.event_dim == 2 else VECTORS
    np.testing.assert_allclose(found(gs.tensor(values)).numpy(), expected(torch.tensor(values)).numpy(), rtol=1e-11)


def test_a_constraint_of_ones_own_is_registered():
    d = gs.distributions

    class Above10(d.constraints.Constraint):
        def check(self, value):
            return value > 10

    d.transform_to.register(Above10, lambda constraint: d.ComposeTransform([d.ExpTransform(), d.AffineTransform(10.0, 1.0)]))
    assert d.transform_to(Above10())(gs.tensor(0.0)).item() == 11
    with pytest.raises(TypeError, match="Constraint subclass"):
        d.biject_to.register(int, lambda constraint: None)


def test_bad_arguments():
    t = gs.distributions.transforms
    with pytest.raises(ValueError, match="different numbers of elements"):
        t.ReshapeTransform((3,), (2, 2))
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        t.ExpTransform(cache_size=2)
    with pytest.raises(ValueError, match="d \\* \\(d - 1\\) / 2"):
        t.CorrCholeskyTransform()(gs.zeros((5,)))
    with pytest.raises(ValueError, match="lengths"):
        t.CatTransform([t.ExpTransform()], 0, [1, 2])

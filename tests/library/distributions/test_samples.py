"""Random numbers: their distribution and moments with a fixed seed, and the derivatives of `rsample`."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

import gradspec as gs
from tests.asked import each
from tests.later import later
from tests.library.distributions.cases import CASES, IDS, SIMPLEX

torch = later("torch")

COUNT = 20000
d = gs.distributions


def torchs_cdf(case, values):
    """PyTorch's `cdf`, or SciPy's where it has none."""
    _, theirs = case.torchs()
    p = {key: np.asarray(value) for key, value in case.parameters.items()}
    own = {
        "StudentT": lambda: scipy.stats.t(p["df"], p["loc"], p["scale"]), "FisherSnedecor": lambda: scipy.stats.f(p["df1"], p["df2"]),
        "Beta": lambda: scipy.stats.beta(p["concentration1"], p["concentration0"]),
    }  # fmt: skip
    if case.name == "VonMises":
        frozen = scipy.stats.vonmises(p["concentration"], p["loc"])
        return frozen.cdf(values) - frozen.cdf(-np.pi)
    if case.name in own:
        return own[case.name]().cdf(values)
    return theirs.cdf(torch.tensor(values)).numpy()


@each("case", [case for case in CASES if not case.discrete], ids=[name for case, name in zip(CASES, IDS) if not case.discrete])
def test_continuous_numbers_have_their_distribution(case):
    """Kolmogorov and Smirnov's test for numbers; means and variances for vectors and matrices."""
    _, ours = case.ours()
    drawn = ours.sample((COUNT,), generator=7).numpy()
    if not ours.event_shape and "Relaxed" not in case.name:
        levels = torchs_cdf(case, drawn)
        assert all(scipy.stats.kstest(levels[:, place], "uniform").pvalue > 1e-3 for place in range(2))
        return
    _, theirs = case.torchs()
    if (
        case.name == "LKJCholesky"
    ):  # where PyTorch's third correlation has another variance than the first; each is a beta number's
        squares = (drawn @ np.swapaxes(drawn, -1, -2))[..., [0, 0, 1], [1, 2, 2]] ** 2
        exact = 1 / (2 * (np.array(case.parameters["concentration"]) + 0.5) + 1)
        assert (np.abs(squares.mean(0) - exact[:, None]) < 5 * squares.std(0) / np.sqrt(COUNT)).all()
        return
    torch.manual_seed(0)
    other = theirs.sample((COUNT,)).numpy()
    scale = np.sqrt((drawn.var(0) + other.var(0)) / COUNT) + 1e-12
    assert (np.abs(drawn.mean(0) - other.mean(0)) < 5 * scale).all()
    squares, others = drawn**2, other**2
    scale = np.sqrt((squares.var(0) + others.var(0)) / COUNT) + 1e-12
    assert (np.abs(squares.mean(0) - others.mean(0)) < 5 * scale).all()


@each("case", [case for case in CASES if case.discrete], ids=[name for case, name in zip(CASES, IDS) if case.discrete])
def test_frequencies(case):
    """The mean and the variance of discrete numbers, and how often each of the first values comes."""
    _, ours = case.ours()
    drawn = ours.sample((COUNT,), generator=3)
    if case.name != "Categorical":
        mean, variance = case.torchs()[1].mean.numpy(), case.torchs()[1].variance.numpy()
        assert (np.abs(drawn.numpy().mean(0) - mean) < 5 * np.sqrt(variance / COUNT)).all()
        assert (np.abs(drawn.numpy().var(0) - variance) < 0.1 * variance).all()
    if not ours.event_shape:
        for value in (0, 1):
            p = np.exp(case.torchs()[1].log_prob(torch.full((2,), float(value))).numpy())
            seen = (drawn.numpy() == value).mean(0)
            assert (np.abs(seen - p) < 5 * np.sqrt(p * (1 - p) / COUNT)).all()


def test_seeds():
    normal = d.Normal(0.0, 1.0)
    assert normal.sample((3,), generator=5).tolist() == normal.sample((3,), generator=5).tolist()
    gs.manual_seed(4)
    first = d.Beta(0.5, 2.0).sample((3,))
    gs.manual_seed(4)
    assert first.tolist() == d.Beta(0.5, 2.0).sample((3,)).tolist() != d.Beta(0.5, 2.0).sample((3,)).tolist()


# Derivatives: a random number moves with its parameters as the quantile of its level does.  The quantiles are SciPy's, and their
# derivatives are central differences.

QUANTILES = {
    "Normal": lambda u, loc, scale: scipy.stats.norm.ppf(u, loc, scale), "Laplace": lambda u, loc, scale: scipy.stats.laplace.ppf(u, loc, scale),
    "Cauchy": lambda u, loc, scale: scipy.stats.cauchy.ppf(u, loc, scale), "Gumbel": lambda u, loc, scale: scipy.stats.gumbel_r.ppf(u, loc, scale),
    "Gamma": lambda u, a, rate: scipy.special.gammaincinv(a, u) / rate, "Chi2": lambda u, df: 2 * scipy.special.gammaincinv(df / 2, u),
    "Exponential": lambda u, rate: -np.log1p(-u) / rate, "InverseGamma": lambda u, a, rate: rate / scipy.special.gammainccinv(a, u),
    "HalfNormal": lambda u, scale: scipy.stats.halfnorm.ppf(u) * scale, "HalfCauchy": lambda u, scale: scipy.stats.halfcauchy.ppf(u) * scale,
    "LogNormal": lambda u, loc, scale: np.exp(scipy.stats.norm.ppf(u, loc, scale)), "Weibull": lambda u, scale, k: scipy.stats.weibull_min.ppf(u, k) * scale,
    "Pareto": lambda u, scale, a: scipy.stats.pareto.ppf(u, a) * scale, "Uniform": lambda u, low, high: low + u * (high - low),
    "GeneralizedPareto": lambda u, loc, scale, c: scipy.stats.genpareto.ppf(u, c, loc, scale), "VonMises": lambda u, loc, k: scipy.stats.vonmises.ppf(u, k) + loc,
    "Kumaraswamy": lambda u, a, b: (-np.expm1(np.log1p(-u) / b)) ** (1 / a),
}  # fmt: skip
LEVELS = {
    "VonMises": lambda x, loc, k: scipy.stats.vonmises.cdf((x - loc + np.pi) % (2 * np.pi) - np.pi, k),
    "Kumaraswamy": lambda x, a, b: -np.expm1(b * np.log1p(-(x**a))),
    "HalfNormal": lambda x, scale: scipy.stats.halfnorm.cdf(x / scale),
    "HalfCauchy": lambda x, scale: scipy.stats.halfcauchy.cdf(x / scale),
}


@each(
    "case",
    [case for case in CASES if case.name in QUANTILES],
    ids=[name for case, name in zip(CASES, IDS) if case.name in QUANTILES],
)
def test_numbers_move_as_quantiles(case):
    parameters, ours = case.ours(grad=True)
    drawn = ours.rsample((50,), generator=11)
    weights = np.cos(np.arange(100.0)).reshape(50, 2)
    drawn.mul(gs.tensor(weights)).sum().backward()
    arrays = [parameter.detach().numpy() for parameter in parameters.values()]
    level = (
        LEVELS[case.name](drawn.detach().numpy(), *arrays) if case.name in LEVELS else torchs_cdf(case, drawn.detach().numpy())
    )
    turns = (
        2 * np.pi * np.round((QUANTILES[case.name](level, *arrays) - drawn.detach().numpy()) / (2 * np.pi))
        if case.name == "VonMises"
        else 0.0
    )
    np.testing.assert_allclose(QUANTILES[case.name](level, *arrays) - turns, drawn.detach().numpy(), rtol=1e-6)
    for place, parameter in enumerate(parameters.values()):
        step = 1e-5
        ends = [QUANTILES[case.name](level, *(a + sign * step * (k == place) for k, a in enumerate(arrays))) for sign in (1, -1)]
        moved = (weights * (ends[0] - ends[1])).sum(0) / (2 * step)
        size = np.abs(weights * (ends[0] - ends[1])).sum(0) / (2 * step)
        np.testing.assert_allclose(parameter.grad.numpy(), moved, atol=2e-5 * size.max())


def test_shares_of_gamma_numbers_move_with_them():
    """Beta, Dirichlet, FisherSnedecor and StudentT consist of gamma numbers, each a quantile of a level of its own."""
    weights, alpha = np.array([1.0, -2.0, 0.5]), np.array([0.4, 1.7, 2.5])
    seed = np.random.default_rng(9).random((40, 3))
    found = gs.grad(lambda a: (d.Dirichlet(a).rsample((40,), generator=9) * gs.tensor(weights)).sum())(alpha).numpy()

    def value(alpha):
        gammas = scipy.special.gammaincinv(alpha, seed)
        return (gammas / gammas.sum(-1, keepdims=True) * weights).sum()

    expected = [(value(alpha + 1e-6 * e) - value(alpha - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-7)


@pytest.mark.slow
@each("a, b", [(0.4, 1.7), (3.2, 2.1), (0.05, 0.03), (30.0, 12.0)])
def test_the_mean_of_the_derivative_is_the_derivative_of_the_mean(a, b):
    """For any smooth f: here x and x^2 of Beta, whose means are known."""
    f = lambda a, b: d.Beta(a, b).rsample((COUNT,), generator=2)  # noqa: E731
    _, along = gs.func.jvp(f, (gs.tensor(a), gs.tensor(b)), (gs.tensor(1.0), gs.tensor(0.0)))
    x, along = f(a, b).numpy(), along.numpy()
    assert np.isfinite(along).all()
    first, second = (scipy.stats.beta(a + e, b) for e in (1e-5, -1e-5))
    for order in (1, 2):
        moves = order * x ** (order - 1) * along
        assert abs(moves.mean() - (first.moment(order) - second.moment(order)) / 2e-5) < 5 * moves.std() / np.sqrt(COUNT)


@pytest.mark.slow
@each("name, parameters", [("StudentT", (4.5, 0.3, 0.7)), ("FisherSnedecor", (3.0, 9.5)), ("VonMises", (0.3, 2.5))])
def test_means_of_composed_numbers(name, parameters):
    """The derivative of the mean of tanh(x) in each parameter, by SciPy's integral of the density."""
    frozen = {
        "StudentT": lambda df, m, s: scipy.stats.t(df, m, s),
        "FisherSnedecor": scipy.stats.f,
        "VonMises": lambda m, k: scipy.stats.vonmises_line(k, m),
    }[name]
    f = lambda *p: gs.tanh(getattr(d, name)(*p).rsample((COUNT,), generator=8))  # noqa: E731
    for place in range(len(parameters)):
        ways = tuple(gs.tensor(float(k == place)) for k in range(len(parameters)))
        _, along = gs.func.jvp(f, tuple(map(gs.tensor, parameters)), ways)
        sides = [frozen(*(p + sign * 1e-3 * (k == place) for k, p in enumerate(parameters))).expect(np.tanh) for sign in (1, -1)]
        if name == "VonMises" and place == 0:  # the ends of the circle are fixed, where a number that leaves comes back
            continue
        assert abs(along.numpy().mean() - (sides[0] - sides[1]) / 2e-3) < 5 * along.numpy().std() / np.sqrt(COUNT)


def test_tiny_concentrations_have_finite_numbers_and_derivatives():
    for a in (1e-3, 1e-2, 0.1):
        x, along = gs.func.jvp(
            lambda a: d.Dirichlet(a).rsample((1000,), generator=1), (gs.tensor([a, a, a]),), (gs.tensor([1.0, 0.0, 0.0]),)
        )
        assert np.isfinite(x.numpy()).all() and np.isfinite(along.numpy()).all()
        np.testing.assert_allclose(x.numpy().sum(-1), 1.0)
        assert (d.Gamma(a, 1.0).sample((1000,)).numpy() > 0).all()


def test_a_mixture_moves_as_its_quantile():
    weights, loc, scale = np.array([0.3, 0.7]), np.array([-1.0, 1.5]), np.array([0.5, 0.8])
    parameters = [gs.tensor(value, requires_grad=True) for value in (weights, loc, scale)]
    drawn = d.MixtureSameFamily(d.Categorical(parameters[0]), d.Normal(parameters[1], parameters[2])).rsample((30,), generator=6)
    drawn.sum().backward()
    x = drawn.detach().numpy()

    def cdf(x, weights, loc, scale):
        return (weights / weights.sum() * scipy.stats.norm.cdf(x[:, None], loc, scale)).sum(-1)

    density = (weights * scipy.stats.norm.pdf(x[:, None], loc, scale)).sum(-1)
    given = [weights, loc, scale]
    for place, parameter in enumerate(parameters):
        for k, e in enumerate(np.eye(2)):
            sides = [cdf(x, *(v + sign * 1e-6 * e * (n == place) for n, v in enumerate(given))) for sign in (1, -1)]
            np.testing.assert_allclose(parameter.grad.numpy()[k], (-(sides[0] - sides[1]) / 2e-6 / density).sum(), rtol=1e-6)


def test_mixtures_beside_pytorchs():
    def build(module, tensor):
        vectors = module.Independent(module.Normal(tensor(np.arange(12.0).reshape(2, 3, 2)), tensor(0.7)), 1)
        return module.MixtureSameFamily(module.Categorical(tensor(SIMPLEX)), vectors)

    ours, theirs = build(d, gs.tensor), build(torch.distributions, torch.tensor)
    value = np.array([[1.0, 2.0], [7.0, 9.0]])
    assert (ours.batch_shape, ours.event_shape) == ((2,), (2,)) and not ours.has_rsample
    for name in ("mean", "variance"):
        np.testing.assert_allclose(getattr(ours, name).numpy(), getattr(theirs, name).numpy(), rtol=1e-12)
    np.testing.assert_allclose(ours.log_prob(value).numpy(), theirs.log_prob(torch.tensor(value)).numpy(), rtol=1e-12)
    assert ours.sample((5,)).shape == (5, 2, 2) and ours.expand((4, 2)).sample().shape == (4, 2, 2)
    assert np.abs(ours.sample((COUNT,), generator=0).numpy().mean(0) - ours.mean.numpy()).max() < 0.1
    with pytest.raises(NotImplementedError, match="single numbers"):
        ours.rsample()


def test_straight_through():
    logits = gs.tensor([0.1, 0.5, -0.3], requires_grad=True)
    hard = d.OneHotCategoricalStraightThrough(logits=logits).rsample(generator=0)
    assert sorted(hard.detach().numpy().round(12).tolist()) == [0.0, 0.0, 1.0]
    (hard * gs.tensor([1.0, 2.0, 3.0])).sum().backward()
    p = np.exp([0.1, 0.5, -0.3]) / np.exp([0.1, 0.5, -0.3]).sum()
    np.testing.assert_allclose(logits.grad.numpy(), p * ([1.0, 2.0, 3.0] - p @ [1.0, 2.0, 3.0]), rtol=1e-12)


def test_numbers_under_vmap_and_compile():
    f = lambda loc: d.Gamma(loc, 1.0).rsample((4,))  # noqa: E731
    assert gs.vmap(f, randomness="different")(gs.tensor([1.0, 2.0])).shape == (2, 4)
    compiled = gs.compile(f)
    for _ in range(3):
        assert compiled(gs.tensor(2.0)).shape == (4,)
    assert compiled(gs.tensor(2.0)).tolist() != compiled(gs.tensor(2.0)).tolist()

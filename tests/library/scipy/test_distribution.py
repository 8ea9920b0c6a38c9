"""What all distributions of gs.scipy.stats share: arguments, edges, tails, dtypes, frozen ones, batches and random numbers."""

import math
import sys

import numpy as np
import pytest

import gradspec as gs
from gradspec.scipy import stats
from tests.asked import each
from tests.later import later

scipy_stats = later("scipy.stats")


def numbers(x):
    return x.detach().numpy() if isinstance(x, gs.Tensor) else np.asarray(x)


def test_every_family_of_scipy_is_there_or_refused_by_name():
    kinds = scipy_stats.rv_continuous, scipy_stats.rv_discrete, scipy_stats._multivariate.multi_rv_generic
    families = [name for name, found in vars(sys.modules["scipy.stats"]).items() if isinstance(found, kinds)]
    left = [name for name in families if name not in stats.__all__]
    assert left == [] and len(families) > 140
    for name, method in (("levy_stable", "pdf"), ("poisson_binom", "logpmf"), ("ortho_group", "rvs")):
        with pytest.raises(NotImplementedError, match=rf"scipy.stats.{name}.{method} is not there: .* call SciPy's with x.detach"):
            getattr(getattr(stats, name), method)
        assert not hasattr(getattr(stats, name), method) and getattr(getattr(stats, name), method, 3) == 3
        with pytest.raises(NotImplementedError, match=f"scipy.stats.{name} is not there"):
            getattr(stats, name)(1.0)


def test_arguments_are_read_as_scipy_reads_them():
    x = np.array([0.5, 1.5])
    expected = scipy_stats.gamma.logpdf(x, 2.5, 0.1, 3.0)
    for found in (stats.gamma.logpdf(x, 2.5, 0.1, 3.0), stats.gamma.logpdf(x, a=2.5, scale=3.0, loc=0.1), stats.gamma(2.5, 0.1, scale=3.0).logpdf(x)):
        np.testing.assert_allclose(numbers(found), expected, rtol=1e-13)
    for wrong, words in (((2.5, 0.0, 1.0, 4.0), "at most 3 parameters"), ((), "misses the shape parameter a")):
        with pytest.raises(TypeError, match=words):
            stats.gamma.logpdf(x, *wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'b'"):
        stats.gamma.logpdf(x, 2.0, b=1.0)
    with pytest.raises(TypeError, match="multiple values for argument 'a'"):
        stats.gamma.logpdf(x, 2.0, a=1.0)
    with pytest.raises(TypeError, match="gamma.logpdf: expected real numbers, got complex128"):
        stats.gamma.logpdf(1j, 2.0)
    scale = gs.tensor(2.0, requires_grad=True)
    stats.norm.logpdf(x, loc=[scale, 0.0]).sum().backward()  # a list that holds tensors keeps their graph
    assert scale.grad.item() == 0.5 - 2.0


def test_single_precision_stays_and_whole_numbers_become_double():
    assert stats.norm.logpdf(np.float32([0.5]), 0.0, 2.0).dtype == np.float32
    assert stats.gamma.cdf(np.float32([0.5]), 2.5).dtype == np.float32
    assert stats.beta.ppf(np.float32([0.5]), 2.5, 1.5).dtype == np.float32
    assert stats.norm.logpdf([1, 2]).dtype == np.float64


EDGES = [("expon", (), -1.0), ("beta", (2.0, 3.0), 1.5), ("pareto", (2.0,), 0.5), ("genpareto", (-0.5,), 3.0), ("uniform", (), math.inf),
         ("norm", (), -math.inf), ("t", (3.0,), math.inf), ("lognorm", (0.5,), -math.inf), ("truncnorm", (-1.0, 1.0), 2.0)]  # fmt: skip


@each("name, shapes, x", EDGES)
def test_beyond_the_support(name, shapes, x):
    given = [gs.tensor(v, requires_grad=True) for v in (x, *shapes, 0.0, 1.0)]
    for method in ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"):
        y = getattr(getattr(stats, name), method)(*given)
        assert y.item() == getattr(getattr(scipy_stats, name), method)(x, *shapes), method
        assert all(g.item() == 0 for g in gs.autograd.grad(y, given)), method


OUT_OF_DOMAIN = [("gamma", (-1.0,)), ("beta", (0.0, 1.0)), ("triang", (1.2,)), ("truncnorm", (2.0, 1.0)), ("skewcauchy", (1.5,)), ("norminvgauss", (1.0, 2.0))]


@each("name, shapes", OUT_OF_DOMAIN)
def test_parameters_out_of_domain_and_nan(name, shapes):
    distribution = getattr(stats, name)
    for method in ("logpdf", "cdf", "sf", "ppf", "mean", "var", "entropy", "median"):
        first = () if method in ("mean", "var", "entropy", "median") else (0.4,)
        assert math.isnan(getattr(distribution, method)(*first, *shapes).item()), method
    for method in ("logpdf", "cdf", "logsf", "ppf"):
        assert math.isnan(getattr(stats.norm, method)(0.3, 0.0, -1.0).item())
        assert math.isnan(getattr(stats.norm, method)(math.nan).item())
    assert math.isnan(stats.norm.ppf(1.5).item()) and stats.expon.ppf(0.0, 2.0).item() == 2.0 and stats.expon.isf(0.0).item() == math.inf


# Far tails, by mpmath at 40 digits.
TAILS = [
    ("gamma", "logsf", (800.0, 2.0), -793.3141390529316), ("gamma", "logcdf", (1e-150, 2.0), -691.4686750787736),
    ("chi2", "logsf", (3000.0, 200.0), -1135.057158566831), ("beta", "logcdf", (1e-60, 5.0, 2.0), -688.9837684289856),
    ("beta", "logcdf", (0.001, 100.0, 0.3), -695.0953023068427), ("norm", "logsf", (50.0,), -1254.8313611394194),
    ("expon", "logsf", (1e5,), -1e5), ("gumbel_r", "logcdf", (-8.0,), -2980.9579870417283), ("weibull_min", "logsf", (40.0, 2.0), -1600.0),
]  # fmt: skip


@each("name, method, arguments, expected", TAILS)
def test_far_tails_keep_their_digits(name, method, arguments, expected):
    given = [gs.tensor(v, requires_grad=True) for v in arguments]
    y = getattr(getattr(stats, name), method)(*given)
    np.testing.assert_allclose(y.item(), expected, rtol=3e-15)
    for i, gradient in enumerate(gs.autograd.grad(y, given)):
        step, at = 1e-5 * arguments[i], []
        for sign in (1, -1):
            moved = [v + (sign * step if i == j else 0) for j, v in enumerate(arguments)]
            at.append(getattr(getattr(stats, name), method)(*moved).item())
        np.testing.assert_allclose(gradient.item(), (at[0] - at[1]) / (2 * step), rtol=1e-6)


def test_the_tail_of_t_falls_as_a_power():
    x = gs.tensor(-1e200, requires_grad=True)
    y = stats.t.logcdf(x, 2.0)
    np.testing.assert_allclose(y.item(), math.log(2.0) - math.log(2) * 2 - 2 * math.log(1e200), rtol=1e-14)  # 1 / (2 t**2)
    np.testing.assert_allclose(gs.autograd.grad(y, x)[0].item(), 2e-200, rtol=1e-12)


def test_limits_of_shape_parameters():
    """genpareto at c = 0 is expon, genextreme gumbel_r; there is a derivative in c."""
    x = gs.asarray([0.5, 3.0])
    c = gs.tensor(0.0, requires_grad=True)
    for found, expected in ((stats.genpareto.logpdf(x, c), stats.expon.logpdf(x)), (stats.genextreme.logpdf(x, c), stats.gumbel_r.logpdf(x))):
        np.testing.assert_allclose(numbers(found), numbers(expected), rtol=1e-15)
    for distribution in (stats.genpareto, stats.genextreme):
        slope = gs.autograd.grad(distribution.logpdf(x, c).sum(), c)[0].item()
        ends = [distribution.logpdf(x, gs.asarray(v)).sum().item() for v in (1e-5, -1e-5)]
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-5, rtol=1e-7)


def test_moments_and_intervals():
    frozen, theirs = stats.gamma(2.5, 0.3, 1.7), scipy_stats.gamma(2.5, 0.3, 1.7)
    for order in range(5):
        np.testing.assert_allclose(frozen.moment(order).item(), theirs.moment(order), rtol=1e-12)
    with pytest.raises(NotImplementedError, match="moments of the orders 0 to 4"):
        frozen.moment(5)
    np.testing.assert_allclose([v.item() for v in frozen.interval(0.8)], theirs.interval(0.8), rtol=1e-12)
    np.testing.assert_allclose([v.item() for v in frozen.stats("mvsk")], theirs.stats("mvsk"), rtol=1e-12)
    np.testing.assert_allclose(frozen.std().item(), theirs.std(), rtol=1e-12)
    assert "logpdf" in dir(frozen) and "pmf" not in dir(frozen)
    with pytest.raises(AttributeError, match="has no 'fit'"):
        frozen.fit  # noqa: B018
    a = gs.tensor(2.5, requires_grad=True)
    stats.gamma.var(a, scale=2.0).backward()
    assert a.grad.item() == 4.0
    np.testing.assert_allclose(stats.norm.nnlf((0.3, 2.0), [1.0, 2.0]).item(), scipy_stats.norm.nnlf((0.3, 2.0), np.array([1.0, 2.0])))


def test_random_numbers_are_those_of_scipy_and_move_with_the_parameters():
    for name, shapes in (("norm", ()), ("gamma", (2.5,)), ("beta", (2.0, 0.7)), ("weibull_min", (1.7,)), ("rice", (0.8,))):
        given = [gs.tensor(v, requires_grad=True) for v in (*shapes, 0.3, 1.7)]
        drawn = getattr(stats, name).rvs(*given, size=(2, 3), random_state=5)
        np.testing.assert_allclose(numbers(drawn), getattr(scipy_stats, name).rvs(*shapes, 0.3, 1.7, size=(2, 3), random_state=5), rtol=1e-12)
        moved = gs.autograd.grad(drawn.sum(), given)
        q = getattr(stats, name).cdf(drawn.detach(), *(v.detach() for v in given))
        again = gs.autograd.grad(getattr(stats, name).ppf(q, *given).sum(), given)
        np.testing.assert_allclose(np.array([g.item() for g in moved]), np.array([g.item() for g in again]), rtol=1e-6)
    gs.manual_seed(3)
    first = stats.expon.rvs(size=4)
    gs.manual_seed(3)
    assert stats.expon(scale=1.0).rvs(4).tolist() == first.tolist()


def test_batches_of_vmap():
    q, a = np.array([0.2, 0.5, 0.9]), np.array([1.5, 2.0, 4.0])
    for method in ("ppf", "logpdf", "logsf"):
        rows = gs.vmap(lambda q, a: getattr(stats.t, method)(q, a))(q, a)  # noqa: B023
        np.testing.assert_allclose(numbers(rows), getattr(scipy_stats.t, method)(q, a), rtol=1e-9)
    slopes = gs.vmap(gs.grad(lambda a: stats.t.ppf(gs.asarray(q), a).sum()))(a)
    np.testing.assert_allclose(slopes[1].item(), gs.grad(lambda a: stats.t.ppf(q, a).sum())(gs.asarray(2.0)).item(), rtol=1e-12)


@each("name", ["Normal", "Gamma", "Beta", "StudentT", "Gumbel", "Cauchy", "Laplace", "Weibull", "LogNormal", "HalfNormal", "Pareto"])
def test_densities_and_their_gradients_are_those_of_pytorch(name):
    distributions = pytest.importorskip("torch.distributions", reason="PyTorch is not installed")
    import torch

    ours = {
        "Normal": lambda x, a, b: stats.norm.logpdf(x, a, b), "Gamma": lambda x, a, b: stats.gamma.logpdf(x, a, scale=1 / b),
        "Beta": lambda x, a, b: stats.beta.logpdf(x, a, b), "StudentT": lambda x, a, b: stats.t.logpdf(x, a, b),
        "Gumbel": lambda x, a, b: stats.gumbel_r.logpdf(x, a, b), "Cauchy": lambda x, a, b: stats.cauchy.logpdf(x, a, b),
        "Laplace": lambda x, a, b: stats.laplace.logpdf(x, a, b), "Weibull": lambda x, a, b: stats.weibull_min.logpdf(x, b, scale=a),
        "LogNormal": lambda x, a, b: stats.lognorm.logpdf(x, b, scale=gs.exp(a)), "HalfNormal": lambda x, a, b: stats.halfnorm.logpdf(x, scale=a),
        "Pareto": lambda x, a, b: stats.pareto.logpdf(x, b, scale=a),
    }[name]  # fmt: skip
    values = (np.array([0.35, 0.8]) if name != "Pareto" else np.array([1.9, 2.5])), np.array([1.4, 0.6]), np.array([0.7, 2.2])
    x, a, b = (torch.tensor(v, requires_grad=True) for v in values)
    theirs = getattr(distributions, name)(*((a,) if name == "HalfNormal" else (a, b))).log_prob(x)
    theirs.sum().backward()
    given = [gs.tensor(v, requires_grad=True) for v in values]
    y = ours(*given)
    np.testing.assert_allclose(numbers(y), theirs.detach().numpy(), rtol=1e-12)
    for tensor, gradient in zip((x, a, b), gs.autograd.grad(y.sum(), given, allow_unused=True)):
        if tensor.grad is not None:
            np.testing.assert_allclose(numbers(gradient), tensor.grad.numpy(), rtol=1e-10, atol=1e-14)


def test_derivatives_where_the_density_is_zero_in_floating_point():
    """Final values have derivatives 0, not NaN from an infinite inner derivative."""
    for name, shapes, x in (("gumbel_r", (), -800.0), ("gumbel_l", (), 800.0), ("hypsecant", (), 1e10), ("gompertz", (0.9,), 1e3), ("invgamma", (2.0,), 1e-5),
                            ("norm", (), 1e200), ("exponpow", (1.4,), 1e4)):  # fmt: skip
        for method in ("pdf", "cdf", "sf"):
            given = [gs.tensor(v, requires_grad=True) for v in (x, *shapes, 0.0, 1.0)]
            y = getattr(getattr(stats, name), method)(*given)
            assert y.item() == getattr(getattr(scipy_stats, name), method)(x, *shapes)
            assert all(g.item() == 0 for g in gs.autograd.grad(y, given)), (name, method)


def test_densities_at_the_ends_of_a_support():
    for name, shapes, x in (("lognorm", (0.5,), 0.0), ("invgauss", (0.6,), 0.0), ("levy", (), 0.0), ("levy_l", (), 0.0), ("burr", (9.5, 1.3), 0.0), ("invweibull", (2.0,), 0.0)):
        assert getattr(stats, name).logpdf(x, *shapes).item() == -math.inf and getattr(stats, name).pdf(x, *shapes).item() == 0, name
    assert stats.burr.logpdf(0.0, 0.5, 0.5).item() == math.inf  # whose density has a pole there
    x = gs.tensor(0.0, requires_grad=True)
    np.testing.assert_allclose(gs.autograd.grad(stats.gennorm.cdf(x, 1.7), x)[0].item(), scipy_stats.gennorm.pdf(0.0, 1.7), rtol=1e-14)


def test_compiled_calls_take_the_branch_of_their_numbers():
    compiled = gs.jit(lambda x: stats.gamma.logsf(x, 2.0))
    for x in ([1.0, 2.0], [900.0, 3.0], [1.0, 1e3], [5.0, 6.0]):
        np.testing.assert_array_equal(compiled(np.array(x)).numpy(), stats.gamma.logsf(x, 2.0).numpy())


RVS = {
    "norm": (0.0, 1.0), "gamma": (2.0,), "poisson": (3.0,), "multivariate_normal": (np.zeros(2), np.eye(2)),
    "dirichlet": (np.ones(3),), "multinomial": (5, np.array([0.5, 0.5])), "wishart": (3.0, np.eye(2)),
    "matrix_normal": (np.zeros((2, 2)),),
}  # fmt: skip


@each("name", RVS)
def test_numbers_that_are_drawn_for_all_rows_are_refused(name):
    draw = getattr(gs.scipy.stats, name).rvs
    draw(*RVS[name])
    for randomness in ("error", "different"):
        with pytest.raises(RuntimeError, match="vmap: called random operation scipy.stats.\\w+.rvs"):
            gs.vmap(lambda x: x + draw(*RVS[name]).sum(), randomness=randomness)(gs.ones(3))


@each("name", RVS)
@each("chunk_size", [None, 2])
def test_numbers_that_are_the_same_for_all_rows(name, chunk_size):
    """Those of a loop that puts the generator back before each row, also from chunk to chunk and with rows for a location."""
    draw, rows = getattr(gs.scipy.stats, name).rvs, gs.arange(5.0)
    mapped = gs.vmap(lambda x: x + draw(*RVS[name]), randomness="same", chunk_size=chunk_size)
    gs.random.manual_seed(3)
    found, after = mapped(rows), gs.random.normal(0.0, 1.0)
    gs.random.manual_seed(3)
    once = gs.asarray(draw(*RVS[name]))
    assert gs.random.normal(0.0, 1.0).item() == after.item()
    np.testing.assert_array_equal(found.numpy(), np.stack([once.numpy() + i for i in range(5)]))
    with pytest.raises(RuntimeError, match="RandomState, which is not put back between chunks"):
        gs.vmap(lambda x: x + draw(*RVS[name], random_state=np.random.RandomState(0)), randomness="same")(rows)


def test_rows_of_a_shape_parameter_are_refused():
    with pytest.raises(RuntimeError, match="vmap"):
        gs.vmap(lambda a: gs.scipy.stats.gamma.rvs(a), randomness="same")(gs.arange(1.0, 4.0))

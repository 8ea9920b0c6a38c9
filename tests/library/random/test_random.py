"""random: generators of their own, distributions against SciPy's, and gradients in location and scale."""

import numpy as np
import pytest

import gradspec as gs
from gradspec import _random
from gradspec.kernels import random as kernels
from tests.asked import each
from tests.later import later

stats = later("scipy.stats")
# Arguments that are neither 0 nor 1, and the distribution that SciPy has under another name or other parameters.
DISTRIBUTIONS = {
    "cauchy": ((0.5, 2.0), lambda: stats.cauchy(0.5, 2.0)),
    "exponential": ((2.0,), lambda: stats.expon(0, 2.0)),
    "gumbel": ((0.5, 2.0), lambda: stats.gumbel_r(0.5, 2.0)),
    "laplace": ((0.5, 2.0), lambda: stats.laplace(0.5, 2.0)),
    "logistic": ((0.5, 2.0), lambda: stats.logistic(0.5, 2.0)),
    "lognormal": ((0.5, 0.3), lambda: stats.lognorm(0.3, 0, np.exp(0.5))),
    "normal": ((0.5, 2.0), lambda: stats.norm(0.5, 2.0)),
    "pareto": ((3.0,), lambda: stats.lomax(3.0)),
    "random": ((), lambda: stats.uniform()),
    "rayleigh": ((2.0,), lambda: stats.rayleigh(0, 2.0)),
    "standard_gamma": ((2.5,), lambda: stats.gamma(2.5)),
    "standard_normal": ((), lambda: stats.norm()),
    "uniform": ((0.5, 2.0), lambda: stats.uniform(0.5, 1.5)),
    "weibull": ((3.0,), lambda: stats.weibull_min(3.0)),
}
SEVERAL_AT_ONCE = {"dirichlet": (([1.0, 2.5, 4.0],), lambda: [stats.beta(1.0, 6.5), stats.beta(2.5, 5.0), stats.beta(4.0, 3.5)])}
DISCRETE = {
    "binomial": ((7, 0.25), lambda: stats.binom(7, 0.25)),
    "geometric": ((0.25,), lambda: stats.geom(0.25)),
    "integers": ((2, 9), lambda: stats.randint(2, 9)),
    "poisson": ((2.5,), lambda: stats.poisson(2.5)),
    "randint": ((2, 9), lambda: stats.randint(2, 9)),
}
IN_PLACE = {
    "cauchy_": ((0.5, 2.0), lambda: stats.cauchy(0.5, 2.0)),
    "exponential_": ((2.0,), lambda: stats.expon(0, 0.5)),
    "log_normal_": ((0.5, 0.3), lambda: stats.lognorm(0.3, 0, np.exp(0.5))),
    "normal_": ((0.5, 2.0), lambda: stats.norm(0.5, 2.0)),
    "uniform_": ((0.5, 2.0), lambda: stats.uniform(0.5, 1.5)),
}
COUNTS_IN_PLACE = {
    "bernoulli_": ((0.25,), lambda: stats.bernoulli(0.25)),
    "geometric_": ((0.25,), lambda: stats.geom(0.25)),
    "random_": ((2, 9), lambda: stats.randint(2, 9)),
}
REST = {"choice", "permutation", "rand", "randn"}


def test_the_tables_hold_every_distribution():
    assert {*DISTRIBUTIONS, *SEVERAL_AT_ONCE, *DISCRETE, *REST} == set(_random.__all__)


@each("name", DISTRIBUTIONS)
def test_numbers_are_those_of_the_distribution(name):
    arguments, expected = DISTRIBUTIONS[name]
    expected = expected()
    drawn = getattr(gs.random, name)(*arguments, size=4000, generator=7).numpy()
    assert stats.kstest(drawn, expected.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", SEVERAL_AT_ONCE)
def test_each_of_several_numbers_is_that_of_its_distribution(name):
    arguments, expected = SEVERAL_AT_ONCE[name]
    expected = expected()
    drawn = getattr(gs.random, name)(*arguments, size=4000, generator=7).numpy()
    for values, law in zip(drawn.T, expected):
        assert stats.kstest(values, law.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", DISCRETE)
def test_counts_are_those_of_the_distribution(name):
    arguments, expected = DISCRETE[name]
    expected = expected()
    drawn = getattr(gs.random, name)(*arguments, size=4000, generator=7).numpy()
    values = np.arange(drawn.min(), drawn.max() + 1)
    assert np.abs(np.mean(drawn[:, None] <= values, axis=0) - expected.cdf(values)).max() < 0.03


@each("name", sorted(_random.__all__))
def test_a_generator_has_it_as_a_method(name):
    arguments = {**DISTRIBUTIONS, **SEVERAL_AT_ONCE, **DISCRETE}.get(name, ((np.arange(4.0),) if name[0] in "cp" else (3,),))[0]
    one, other = (getattr(gs.random.default_rng(seed), name)(*arguments) for seed in (3, np.random.default_rng(3)))
    np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert name in dir(gs.random.default_rng(3))


def test_a_generator_moves_on_and_serves_every_random_operator():
    rng = gs.random.default_rng(3)
    first, second = rng.normal(size=3), rng.normal(size=3)
    assert (first != second).all()
    mine = gs.random.default_rng(3)
    np.testing.assert_array_equal(gs.normal(size=3, generator=mine).numpy(), first.numpy())
    assert gs.random.default_rng(mine).generator is mine.generator
    with pytest.raises(AttributeError, match="'Generator' object has no attribute 'nomal'"):
        rng.nomal()


def test_a_generator_is_made_without_arguments_and_seeded_as_pytorchs():
    rng = gs.random.Generator().manual_seed(3)
    np.testing.assert_array_equal(gs.randn(4, generator=rng).numpy(), np.random.default_rng(3).standard_normal(4))
    assert rng.manual_seed(3) is rng
    np.testing.assert_array_equal(rng.normal(size=4).numpy(), np.random.default_rng(3).normal(size=4))
    assert not np.array_equal(gs.random.Generator().normal(size=4), gs.random.Generator().normal(size=4))
    np.testing.assert_array_equal(
        gs.random.Generator(np.random.PCG64(5)).normal(size=3), np.random.Generator(np.random.PCG64(5)).normal(size=3)
    )


def test_manual_seed_starts_the_default_anew():
    gs.manual_seed(4)
    first = gs.randn(3).numpy()
    gs.manual_seed(4)
    np.testing.assert_array_equal(gs.randn(3).numpy(), first)


@pytest.mark.parametrize("name", ["cauchy", "gumbel", "laplace", "logistic", "normal"])
def test_location_and_scale_have_gradients(name):
    loc, scale = gs.tensor([0.5, 1.0], requires_grad=True), gs.tensor(2.0, requires_grad=True)
    y = getattr(gs.random, name)(loc, scale, (3, 2), generator=5)
    y.sum().backward()
    np.testing.assert_allclose(loc.grad.numpy(), [3, 3])
    np.testing.assert_allclose(scale.grad.numpy(), ((y - loc) / scale).sum().item())


def test_in_place_numbers_cut_the_history():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.normal_(generator=3).uniform_(2.0, 3.0)
    assert ((y >= 2) & (y < 3)).all()
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [0, 0])


@each("name", IN_PLACE)
def test_numbers_in_place_are_those_of_the_distribution(name):
    arguments, expected = IN_PLACE[name]
    drawn = getattr(gs.zeros(4000), name)(*arguments, generator=7).numpy()
    assert stats.kstest(drawn, expected().cdf).pvalue > 1e-3


@each("name", COUNTS_IN_PLACE)
def test_counts_in_place_are_those_of_the_distribution(name):
    arguments, expected = COUNTS_IN_PLACE[name]
    drawn = getattr(gs.zeros(4000), name)(*arguments, generator=7).numpy()
    values, counts = np.unique(drawn, return_counts=True)
    often = counts >= 10
    share = expected().pmf(values)
    assert (np.abs(counts / 4000 - share) < 5 * np.sqrt(share / 4000))[often].all() and often.sum() > 1 and (share > 0).all()


@each("dtype", ["?", "i1", "u1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_whole_numbers_without_bounds_are_those_that_the_dtype_holds(dtype):
    dtype = np.dtype(dtype)
    drawn = gs.zeros(1000, dtype=dtype).random_(generator=7).numpy()
    assert drawn.dtype == dtype and (dtype.kind != "c" or not drawn.imag.any())
    largest = {"b": 1, "i": 2 ** (8 * dtype.itemsize - 1) - 1, "u": 2 ** (8 * dtype.itemsize) - 1}.get(dtype.kind)
    if largest is None:
        largest = 2 ** (np.finfo(dtype).nmant + 1)
    numbers = [int(number) for number in drawn.real]
    assert 0 <= min(numbers) <= largest // 50 and largest - largest // 50 <= max(numbers) <= largest


class Highest:
    """A generator that draws the largest number below 1, or what it is given."""

    standard_cauchy = standard_exponential = standard_normal = None

    def __init__(self, number=1 - 2**-53):
        self.number = number

    def random(self, shape, dtype=np.float64):
        return np.full(shape, self.number if dtype == np.float64 else np.nextafter(dtype.type(1), dtype.type(0)), dtype)


@each("dtype", ["f2", "f4", "f8", "g", "c8", "c16"])
def test_the_upper_bound_is_never_drawn(dtype):
    dtype = np.dtype(dtype)
    number = np.zeros((), dtype).real.dtype.type
    for found in (kernels.rand((3,), dtype, Highest()), kernels.rand_like(np.zeros(3, dtype), None, Highest()),
                  kernels.standard("uniform", np.zeros((), dtype), np.ones((), dtype), (3,), Highest())):  # fmt: skip
        assert found.dtype == dtype and (found.real < 1).all() and (found.real > 0.999).all()
    for low, high in ((0.0, 1.0), (-3.0, 5.0), (-1.0, 0.0), (0.1, 0.3), (-65504, 65504.0)):
        x = np.zeros((2, 3), dtype).T
        assert kernels.uniform_(x, low, high, Highest()) is x
        assert (x.real.astype(float) < high).all() and (x.real.astype(float) > high - 1e-3 * (high - low)).all()
        assert (kernels.uniform_(x, low, high, Highest(0.0)).real == number(low)).all()
    assert (kernels.uniform_(np.zeros(2, dtype), 2.0, 2.0, Highest()) == 2).all()


def test_half_precision_is_even():
    drawn = gs.rand(40000, dtype="f2", generator=7).numpy()
    assert drawn.max() < 1 and stats.kstest(drawn.astype(float), stats.uniform().cdf).pvalue > 1e-3


def test_elements_of_no_weight_are_never_drawn():
    """Not where a number is drawn that is the sum of all weights up to an element."""
    for number, place in ((0.0, 1), (1 / 4 - 2**-54, 1), (1 / 4, 3), (1 - 2**-53, 3)):
        assert kernels.draw_places([0, 1, 0, 3, 0], 2, True, Highest(number)).tolist() == [place] * 2
    assert kernels.rand((3,), None, np.random.default_rng(1)).tolist() == np.random.default_rng(1).random(3).tolist()
    single = kernels.randn((3,), np.float32, np.random.default_rng(1))
    assert single.tolist() == np.random.default_rng(1).standard_normal(3, np.float32).tolist()


def test_arguments_that_no_distribution_takes():
    with pytest.raises(ValueError, match="^bernoulli: p has to be between 0 and 1"):
        gs.bernoulli(gs.tensor([0.5, 1.5]))
    with pytest.raises(ValueError, match="^normal: shape mismatch"):
        gs.normal(gs.zeros((3,)), size=(2,))
    with pytest.raises(TypeError, match="are floats, not int64"):
        gs.rand(3, dtype=int)


def test_pytorchs_order_where_the_types_tell():
    """A tuple in the place of an optional bound is the size, as in `torch.randint(10, (8,))`; other orders are refused."""
    for draw in (gs.randint, gs.random.randint, gs.random.integers, gs.random.default_rng(0).integers):
        for args, kwargs in (((10, (8,)), {}), ((10, [8]), {}), ((), {"high": 10, "size": (8,)}), ((0, 10, (8,)), {}), ((10, None, (8,)), {})):
            drawn = draw(*args, **kwargs)
            assert drawn.shape == (8,) and 0 <= drawn.min() and drawn.max() < 10
        with pytest.raises(TypeError, match="'high' must be an int, got"):
            draw(2, (3,), (4,))
        with pytest.raises(TypeError, match="'low' must be an int, got"):
            draw((3,))
    gs.manual_seed(3)
    first = gs.randint(10, (50,))
    gs.manual_seed(3)
    assert gs.array_equal(first, gs.randint(0, 10, (50,)))


def test_generators_as_in_pytorch():
    assert gs.Generator is gs.random.Generator and gs.Generator().manual_seed(7).initial_seed() == 7 and gs.Generator("cpu").device.type == "cpu"
    one, other = gs.Generator(device="cpu").manual_seed(3), gs.Generator().manual_seed(3)
    assert one.normal(0, 1, 2).tolist() == other.normal(0, 1, 2).tolist()
    assert one.seed() == one.initial_seed() != other.seed()
    with pytest.raises(RuntimeError, match="there is no device 'cuda'"):
        gs.Generator(device="cuda")


TAKING = {
    "randn": lambda g: gs.randn(3, generator=g), "rand": lambda g: gs.rand(3, generator=g), "randint": lambda g: gs.randint(9, (3,), generator=g),
    "randperm": lambda g: gs.randperm(9, generator=g), "rand_like": lambda g: gs.rand_like(gs.ones(3), generator=g),
    "normal": lambda g: gs.normal(gs.zeros(3), gs.ones(3), generator=g), "multinomial": lambda g: gs.multinomial(gs.ones(9), 3, generator=g),
    "bernoulli": lambda g: gs.bernoulli(gs.full((40,), 0.5), generator=g),
    **{f"{name}_": lambda g, name=name: getattr(gs.empty(3), f"{name}_")(generator=g)
       for name in ("normal", "uniform", "exponential", "log_normal", "cauchy", "random")},
    **{f"nn.init.{name}_": lambda g, name=name: getattr(gs.nn.init, f"{name}_")(gs.empty(3, 3), generator=g)
       for name in ("normal", "uniform", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal", "orthogonal", "trunc_normal")},
    "RandomSampler": lambda g: gs.tensor(list(gs.utils.data.RandomSampler(range(9), generator=g))),
    "random_split": lambda g: gs.tensor(list(gs.utils.data.random_split(range(9), [4, 5], generator=g)[0])),
    "DataLoader": lambda g: gs.stack(list(gs.utils.data.DataLoader(range(9), shuffle=True, generator=g))),
    "WeightedRandomSampler": lambda g: gs.tensor(list(gs.utils.data.WeightedRandomSampler(np.ones(9), 5, generator=g))),
}  # fmt: skip


@each("name", TAKING)
def test_a_generator_decides_the_numbers_wherever_pytorch_takes_one(name):
    first, again, other = (TAKING[name](gs.Generator().manual_seed(seed)).tolist() for seed in (0, 0, 1))
    assert first == again != other

"""Keys: each draw is a function of its key and its arguments, under every transform, and has the numbers of its distribution."""

import copy
import inspect
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import gradspec as gs
from gradspec.random import draws, keys
from tests.asked import each
from tests.later import later

stats = later("scipy.stats")
LOGITS = [0.1, -1.0, 1.5, 0.3]
WEIGHTS = np.exp(LOGITS) / np.exp(LOGITS).sum()
COV = np.array([[2.0, 0.6], [0.6, 1.0]])
# Each draw: its arguments between key and shape, and the distribution that SciPy has.
CONTINUOUS = {
    "normal": ((), lambda: stats.norm()),
    "exponential": ((), lambda: stats.expon()),
    "gumbel": ((), lambda: stats.gumbel_r()),
    "cauchy": ((), lambda: stats.cauchy()),
    "laplace": ((), lambda: stats.laplace()),
    "logistic": ((), lambda: stats.logistic()),
    "uniform": ((), lambda: stats.uniform()),
    "lognormal": ((0.5,), lambda: stats.lognorm(0.5)),
    "rayleigh": ((2.0,), lambda: stats.rayleigh(0, 2.0)),
    "pareto": ((3.0,), lambda: stats.pareto(3.0)),
    "weibull_min": ((2.0, 1.5), lambda: stats.weibull_min(1.5, 0, 2.0)),
    "truncated_normal": ((4.0, 5.0), lambda: stats.truncnorm(4.0, 5.0)),
    "gamma": ((0.3,), lambda: stats.gamma(0.3)),
    "loggamma": ((0.3,), lambda: stats.loggamma(0.3)),
    "chisquare": ((3.0,), lambda: stats.chi2(3.0)),
    "t": ((3.0,), lambda: stats.t(3.0)),
    "f": ((3.0, 5.0), lambda: stats.f(3.0, 5.0)),
    "beta": ((0.5, 2.0), lambda: stats.beta(0.5, 2.0)),
    "triangular": ((-1.0, 0.25, 1.5), lambda: stats.triang(0.5, -1.0, 2.5)),
    "wald": ((2.0,), lambda: stats.invgauss(2.0)),
    "maxwell": ((), lambda: stats.maxwell()),
    "double_sided_maxwell": ((0.5, 2.0), lambda: Mirrored(stats.maxwell(0, 2.0), 0.5)),
    "generalized_normal": ((1.5,), lambda: stats.gennorm(1.5)),
}


class Mirrored:
    """The law of a number with a random sign, from a point on."""

    def __init__(self, law, loc):
        self.law, self.loc = law, loc

    def cdf(self, x):
        side = np.sign(x - self.loc)
        return (1 + side * self.law.cdf(np.abs(x - self.loc))) / 2

    def var(self):
        return np.inf  # the moments are not tested


DISCRETE = {
    "bernoulli": ((0.25,), lambda: stats.bernoulli(0.25)),
    "randint": ((), lambda: stats.randint(2, 9)),
    "poisson": ((2.5,), lambda: stats.poisson(2.5)),
    "binomial": ((7, 0.25), lambda: stats.binom(7, 0.25)),
    "geometric": ((0.25,), lambda: stats.geom(0.25)),
    "rademacher": ((), lambda: stats.rv_discrete(values=([-1, 1], [0.5, 0.5]))),
    "bits": ((), lambda: stats.randint(0, 256)),
    "categorical": ((LOGITS,), lambda: stats.rv_discrete(values=(range(4), WEIGHTS))),
    "choice": ((np.arange(2, 9),), lambda: stats.randint(2, 9)),
}
VECTORS = {
    "dirichlet": (([1.0, 2.5, 4.0],), (3,)),
    "multivariate_normal": (([1.0, -1.0], COV), (2,)),
    "permutation": ((6,), None),
    "ball": ((3, 1.5), (3,)),
    "orthogonal": ((3,), (3, 3)),
    "multinomial": ((9, [0.5, 0.2, 0.3]), (3,)),
}
NAMED = {"randint": {"minval": 2, "maxval": 9}, "bits": {"dtype": "u1"}}
CALLS = {name: row[0] for name, row in {**CONTINUOUS, **DISCRETE, **VECTORS}.items()}


def drawn(name, key, shape=(3,)):
    given = dict(NAMED.get(name, {}))
    if name != "permutation":
        given["shape"] = (*shape, 3) if name == "multinomial" and shape[-1:] != (3,) else shape
    return getattr(gs.random, name)(key, *CALLS[name], **given)


def same(one, other):
    one, other = np.asarray(one), np.asarray(other)
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one, other)


def test_the_tables_hold_every_draw():
    made = {name for name, value in vars(draws).items() if getattr(value, "__module__", "") == draws.__name__ and name[0] != "_"}
    assert set(CALLS) == set(draws.__all__) == made
    assert {*draws.__all__, *keys.__all__} <= set(gs.random.__all__)


@each("name", CALLS)
def test_a_draw_is_the_same_in_any_order_and_in_any_thread(name):
    every = gs.random.split(gs.random.key(3), 4)
    forth = [drawn(name, key) for key in every]
    back = [drawn(name, key) for key in every[::-1]][::-1]
    found = [None] * 4
    threads = [threading.Thread(target=lambda i=i: found.__setitem__(i, drawn(name, every[i]))) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other, third in zip(forth, back, found):
        same(one, other)
        same(one, third)
    assert (
        len(
            {
                bytes(np.asarray(drawn(name, key, (64,)) if name != "permutation" else gs.random.permutation(key, 64)))
                for key in every
            }
        )
        == 4
    )


@each("name", CALLS)
def test_a_row_of_vmap_draws_what_its_key_draws(name):
    every = gs.random.split(gs.random.key(5), 6)
    expected = np.stack([np.asarray(drawn(name, key)) for key in every])
    same(gs.vmap(lambda key: drawn(name, key))(every), expected)
    nested = gs.vmap(gs.vmap(lambda key: drawn(name, key)))(every.reshape(2, 3, 2))
    same(nested, expected.reshape(2, 3, *expected.shape[1:]))
    same(gs.compile(gs.vmap(lambda key: drawn(name, key)))(every), expected)
    same(gs.vmap(gs.compile(lambda key: drawn(name, key)))(every), expected)
    one = every[0]
    same(
        gs.vmap(lambda x: drawn(name, one) + 0 * x)(gs.zeros(2, dtype=expected.dtype)),
        np.stack([expected[0] + 0 * expected[0]] * 2),
    )


@each("name", CALLS)
def test_a_compiled_function_draws_by_the_key_that_it_gets(name):
    first, second = gs.random.split(gs.random.key(6))
    compiled = gs.compile(lambda key: drawn(name, key, (8,)))
    for key in (first, second, first):
        same(compiled(key), drawn(name, key, (8,)))
    inside = gs.compile(lambda x: (drawn(name, gs.random.key(1)), x))
    for _ in range(2):
        same(inside(gs.ones(1))[0], drawn(name, gs.random.key(1)))
    by_seed = gs.compile(lambda seed: drawn(name, gs.random.key(seed), (8,)))
    for seed in (1, 2):
        same(by_seed(gs.tensor(seed)), drawn(name, gs.random.key(seed), (8,)))


@each("name", CALLS)
def test_scan_draws_what_a_loop_draws(name):
    def step(key, x):
        key, mine = gs.random.split(key)
        return key, drawn(name, mine)

    key, expected = gs.random.key(7), []
    for _ in range(4):
        key, y = step(key, None)
        expected.append(np.asarray(y))
    for run in (gs.func.scan, gs.compile(lambda *arguments: gs.func.scan(step, *arguments[1:]))):
        last, found = run(step, gs.random.key(7), gs.zeros(4))
        same(last, key)
        same(found, np.stack(expected))


@each("name", CONTINUOUS)
def test_numbers_are_those_of_the_distribution(name):
    law = CONTINUOUS[name][1]()
    numbers = drawn(name, gs.random.key(8), (4000,)).numpy()
    assert stats.kstest(numbers, law.cdf).pvalue > 1e-3
    if np.isfinite(law.var()) and np.isfinite(fourth := law.stats("k")):
        assert abs(numbers.mean() - law.mean()) < 5 * law.std() / 4000**0.5
        assert abs(numbers.var() - law.var()) < 5 * law.var() * ((fourth + 2) / 4000) ** 0.5
    rows = gs.vmap(lambda key: drawn(name, key, ()))(gs.random.split(gs.random.key(9), 2000)).numpy()
    assert stats.kstest(rows, law.cdf).pvalue > 1e-3  # one number of each of many keys


@each("name", DISCRETE)
def test_counts_are_those_of_the_distribution(name):
    law = DISCRETE[name][1]()
    for numbers in (
        drawn(name, gs.random.key(10), (4000,)),
        gs.vmap(lambda key: drawn(name, key, ()))(gs.random.split(gs.random.key(11), 2000)),
    ):
        values, counts = np.unique(numbers.numpy(), return_counts=True)
        share = law.pmf(values)
        assert (np.abs(counts / len(numbers) - share) < 5 * np.sqrt(share / len(numbers))).all() and abs(share.sum() - 1) < 0.01


def test_vectors_are_those_of_the_distribution():
    numbers = drawn("dirichlet", gs.random.key(12), (4000,)).numpy()
    for column, law in zip(numbers.T, [stats.beta(1.0, 6.5), stats.beta(2.5, 5.0), stats.beta(4.0, 3.5)]):
        assert stats.kstest(column, law.cdf).pvalue > 1e-3
    numbers = drawn("multivariate_normal", gs.random.key(13), (4000,)).numpy()
    white = np.linalg.solve(np.linalg.cholesky(COV), (numbers - [1.0, -1.0]).T)
    assert all(stats.kstest(row, stats.norm().cdf).pvalue > 1e-3 for row in (*white, (white[0] + white[1]) / 2**0.5))
    numbers = np.abs(drawn("ball", gs.random.key(17), (4000,)).numpy())
    assert stats.kstest((numbers**1.5).sum(-1) ** 2, "uniform").pvalue > 1e-3  # the volume is the d-th power of the norm
    shares = numbers**1.5 / (numbers**1.5).sum(-1, keepdims=True)
    assert all(stats.kstest(column, stats.beta(1 / 1.5, 2 / 1.5).cdf).pvalue > 1e-3 for column in shares.T)
    for n, m in ((3, 3), (2, 4), (4, 2)):
        q = gs.random.orthogonal(gs.random.key(18), n, (4000,), m=m).numpy()
        near = q @ q.mT if n <= m else q.mT @ q
        assert q.shape == (4000, n, m) and np.allclose(near, np.eye(min(n, m)))
        by_size = stats.beta(0.5, (max(n, m) - 1) / 2)
        assert all(stats.kstest(q[:, i, j] ** 2, by_size.cdf).pvalue > 1e-3 for i in range(n) for j in range(m))
        assert np.abs(np.sign(q).mean(0)).max() < 5 / 4000**0.5 and stats.kstest(q.sum((1, 2)), (-q).sum((1, 2))).pvalue > 1e-3
    assert abs((np.linalg.det(gs.random.orthogonal(gs.random.key(19), 3, (4000,)).numpy()) > 0).mean() - 0.5) < 5 * 0.5 / 4000**0.5
    counts = drawn("multinomial", gs.random.key(20), (4000, 3)).numpy()
    assert (counts.sum(-1) == 9).all()
    for column, p in zip(counts.T, (0.5, 0.2, 0.3)):
        law = stats.binom(9, p)
        assert abs(column.mean() - law.mean()) < 5 * law.std() / 4000**0.5 and abs(column.var() / law.var() - 1) < 0.15
    assert abs(np.cov(counts.T)[0, 2] + 9 * 0.5 * 0.3) < 0.15
    orders = gs.vmap(lambda key: gs.random.permutation(key, 3))(gs.random.split(gs.random.key(14), 3000)).numpy()
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 6 and (np.abs(counts - 500) < 5 * 500**0.5).all()


def test_choices_and_orders():
    key, x = gs.random.key(15), np.arange(12.0).reshape(4, 3)
    for axis in (0, 1):
        mixed = gs.random.permutation(key, x, axis).numpy()
        same(np.sort(mixed, axis), x)
        alone = gs.random.permutation(key, x, axis, independent=True).numpy()
        same(np.sort(alone, axis), x)
    big = gs.random.permutation(key, np.arange(4000).reshape(2, 2000) % 2000, 1, independent=True).numpy()
    assert (big[0] != big[1]).any()
    few = gs.random.choice(key, 6, (2, 3), replace=False).numpy()
    assert sorted(few.ravel()) == list(range(6))
    p = np.array([0.0, 0.5, 0.0, 0.2, 0.3])
    drawn_by = gs.random.choice(key, 5, (4000,), p=p).numpy()
    assert (np.abs(np.bincount(drawn_by, minlength=5) / 4000 - p) <= 5 * np.sqrt(p / 4000)).all()
    assert sorted(gs.random.choice(key, 5, (3,), replace=False, p=p).tolist()) == [1, 3, 4]
    firsts = gs.vmap(lambda key: gs.random.choice(key, 5, (2,), False, p))(gs.random.split(key, 4000)).numpy()[:, 0]
    assert (np.abs(np.bincount(firsts, minlength=5) / 4000 - p) <= 5 * np.sqrt(p / 4000)).all()
    same(gs.random.choice(key, x, (2,), axis=1), x[:, gs.random.choice(key, 3, (2,)).numpy()])
    rows = gs.random.categorical(key, np.array([LOGITS, LOGITS[::-1]]), shape=(5, 2))
    assert rows.shape == (5, 2) and gs.random.categorical(key, np.array([LOGITS] * 3).T, axis=0).shape == (3,)
    without = gs.random.categorical(key, np.array([LOGITS] * 2), shape=(4, 2), replace=False).numpy()
    same(np.sort(without, 0), np.array([[i, i] for i in range(4)]))


def test_keys_do_not_overlap():
    """Neither the words of split and folded keys, nor the numbers that they and their parent draw."""
    key = gs.random.key(0)
    many = gs.random.split(key, 100_000).numpy()
    folded = gs.vmap(lambda i: gs.random.fold_in(key, i))(gs.arange(2000)).numpy()
    below = gs.vmap(gs.random.split)(many[:500]).numpy().reshape(-1, 2)
    seeds = gs.vmap(gs.random.key)(gs.arange(2000)).numpy()
    words = np.concatenate([key.numpy()[None], many, folded, below, seeds[1:]])
    assert len(np.unique(words, axis=0)) == len(words) and len(np.unique(words)) == 2 * len(words)
    numbers = [gs.random.bits(one, (100_000,)).numpy() for one in (key, *many[:3], folded[0])]
    assert len(np.unique(np.concatenate([*numbers, many.ravel()]))) == 5 * 100_000 + many.size
    numbers = [gs.random.normal(one, (100_000,)).numpy() for one in (key, *many[:3], folded[0])]
    assert (np.abs(np.corrcoef(numbers) - np.eye(5)) < 5 / 100_000**0.5).all()
    ones = np.unpackbits(many.view(np.uint8)).mean()
    assert abs(ones - 0.5) < 5 * 0.5 / (many.size * 64) ** 0.5


def test_split_and_fold_in_are_functions_of_their_key():
    key = gs.random.key(4)
    same(gs.random.split(key, 2), gs.random.split(key, 5)[:2])
    same(gs.random.split(key, (2, 3)).reshape(6, 2), gs.random.split(key, 6))
    same(gs.random.fold_in(key, 3), gs.random.fold_in(gs.random.key(4), gs.tensor(3)))
    same(
        gs.vmap(gs.random.fold_in)(gs.random.split(key, 3), gs.arange(3)),
        np.stack([gs.random.fold_in(one, i).numpy() for i, one in enumerate(gs.random.split(key, 3))]),
    )
    same(gs.random.PRNGKey(4), key)
    assert len({tuple(gs.random.key(seed).tolist()) for seed in (0, 1, -1, 2**32, 2**63, 2**64 - 2)}) == 6
    same(gs.random.fold_in(key, 2**64 - 1), gs.random.fold_in(key, -1))


def test_the_words_are_those_of_numpys_philox():
    key = gs.random.key(4).numpy()
    same(gs.random.key(4), np.random.Philox(key=[0, 0], counter=[0, 4, 0, 2**63]).random_raw(2))
    same(gs.random.normal(key, (5,)), np.random.Generator(np.random.Philox(key=key)).standard_normal(5))
    same(gs.random.split(key), np.random.Philox(key=key, counter=[0, 0, 0, 2**62]).random_raw(4).reshape(2, 2))
    same(gs.random.bits(key, (5,)), np.random.Philox(key=key).random_raw(5))


def test_a_key_is_an_ordinary_tensor(tmp_path):
    key = gs.random.key(1)
    gs.save(tmp_path / "key.npz", {"key": key})
    for again in (pickle.loads(pickle.dumps(key)), copy.deepcopy(key), gs.load(tmp_path / "key.npz")["key"], key.numpy()):
        same(gs.random.normal(again, (3,)), gs.random.normal(key, (3,)))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        same(pool.submit(gs.random.normal, key, (3,)).result(), gs.random.normal(key, (3,)))
    same(gs.cond(gs.tensor(True), lambda k: gs.random.normal(k), lambda k: gs.zeros(()), key), gs.random.normal(key))
    same(gs.grad(lambda m, k: (m * gs.random.normal(k, (3,))).sum())(2.0, key), gs.random.normal(key, (3,)).sum())


PARAMETERS = {"triangular": (-1.0, 0.25, 1.5), "wald": (2.0,), "double_sided_maxwell": (0.5, 2.0), "generalized_normal": (1.5,),
              "lognormal": (0.5,), "rayleigh": (2.0,), "pareto": (3.0,), "weibull_min": (2.0, 1.5), "truncated_normal": (-0.5, 1.0),
              "gamma": (1.3,), "loggamma": (0.3,), "chisquare": (3.0,), "t": (3.0,), "f": (3.0, 5.0), "beta": (0.5, 2.0),
              "dirichlet": ([1.0, 2.5],), "multivariate_normal": ([1.0, -1.0], COV)}  # fmt: skip


@each("name", PARAMETERS)
def test_gradients_flow_to_parameters(name):
    """Against finite differences with the same key; a covariance is symmetric."""
    key, parameters = gs.random.key(16), [gs.tensor(p, requires_grad=True) for p in PARAMETERS[name]]

    def draw(*given):
        return getattr(gs.random, name)(key, *[(p + p.T) / 2 if p.ndim == 2 else p for p in given])

    assert gs.autograd.gradcheck(draw, parameters)


def test_bounds_have_gradients():
    low, high = gs.tensor([0.5, 1.0], requires_grad=True), gs.tensor(2.0, requires_grad=True)
    z = gs.random.uniform(gs.random.key(0), (3, 2))
    gs.random.uniform(gs.random.key(0), (3, 2), None, low, high).sum().backward()
    np.testing.assert_allclose(low.grad.numpy(), (1 - z).sum(0).numpy())
    np.testing.assert_allclose(high.grad.item(), z.sum().item())


@each("name", ["normal", "uniform", "exponential", "gamma", "beta", "t", "truncated_normal", "lognormal"])
def test_a_dtype_is_that_of_the_result(name):
    for dtype in ("f2", "f4", "f8"):
        y = getattr(gs.random, name)(gs.random.key(0), *CALLS[name], shape=(4, 2), dtype=dtype)
        assert y.dtype == np.dtype(dtype) and y.shape == (4, 2) and np.isfinite(y.numpy()).all()
    if CALLS[name]:
        single = [gs.tensor(p, dtype="f4") for p in CALLS[name]]
        assert getattr(gs.random, name)(gs.random.key(0), *single).dtype == np.float32


def test_small_parameters_give_numbers():
    key = gs.random.key(0)
    for y in (
        gs.random.beta(key, 1e-3, 1e-3, (1000,)),
        gs.random.dirichlet(key, [1e-3] * 3, (1000,)),
        gs.random.loggamma(key, 1e-3, (1000,)),
    ):
        assert np.isfinite(y.numpy()).all()
    assert (gs.random.loggamma(key, 1e-3, (100,)) < -50).any()


@each("name", draws.__all__)
def test_a_key_in_the_wrong_place_is_refused_with_the_way_out(name):
    key = gs.random.key(0)
    with pytest.raises(TypeError, match=rf"^{name}: a key is the first argument, and no other one is a key: {name}\(key"):
        getattr(gs.random, name)((3,), key)
    with pytest.raises(TypeError, match="a key is the first argument"):
        getattr(gs.random, name)(key, key)
    with pytest.raises(ValueError, match=rf"^{name}: one key is needed, got keys of shape \(3,\): write gs.vmap"):
        getattr(gs.random, name)(key=gs.random.split(key, 3))
    assert getattr(gs.random, name).__doc__.count("key")
    assert list(inspect.signature(getattr(gs.random, name)).parameters)[0] == "key"


def test_misuse_is_refused_with_the_way_out():
    key = gs.random.key(0)
    for name in set(draws.__all__) - set(gs.random._random.__all__):
        with pytest.raises(TypeError, match=rf"^{name}: the first argument must be a key, as of gs.random.key\(0\)"):
            getattr(gs.random, name)(0.5)
    with pytest.raises(TypeError, match=r"numpy.random.default_rng\(seed\).gamma takes NumPy's parameters"):
        gs.random.gamma(2.0, 1.0, size=3)
    for call in (gs.random.split, gs.random.fold_in):
        with pytest.raises(TypeError, match="the first argument must be a key, .* got int"):
            call(0, 2)
    for seed in (0.5, True, 2**64, [1, 2], "a", gs.tensor(0.5)):
        with pytest.raises(TypeError, match="^key: the seed must be a whole number of 64 bits"):
            gs.random.key(seed)
    with pytest.raises(TypeError, match=r"the location is a key, or keys; write gs.random.normal\(key, shape\)"):
        gs.normal(key, (2,))
    with pytest.raises(TypeError, match=r"the location is a key, or keys"):
        gs.random.normal(gs.random.split(key, 3))
    with pytest.raises(TypeError, match=r"a key is the first argument: gs.random.normal\(key, shape\)"):
        gs.randn(3, generator=key)
    with pytest.raises(TypeError, match="real floats"):
        gs.random.normal(key, (3,), int)
    with pytest.raises(TypeError, match="fold_in: data must be a whole number"):
        gs.random.fold_in(key, 0.5)
    with pytest.raises(ValueError, match="parameters of shape .* do not broadcast"):
        gs.random.gamma(key, [1.0, 2.0], (3,))
    with pytest.raises(ValueError, match="draws without replacement"):
        gs.random.choice(key, 3, (4,), replace=False)
    with pytest.raises(ValueError, match="2 draws without replacement from 1 weights that are not 0"):
        gs.random.choice(key, 3, (2,), False, [0, 1, 0])


def test_the_words_of_keys():
    keys = gs.random.split(gs.random.key(3), 4)
    same(gs.random.key_data(keys), keys)
    same(gs.random.wrap_key_data(gs.random.key_data(keys).numpy()), keys)
    same(gs.random.wrap_key_data(np.array([1, 2], np.uint32)), np.array([1, 2], np.uint64))
    copy_of = gs.random.clone(keys[0])
    same(gs.random.normal(copy_of, (3,)), gs.random.normal(keys[0], (3,)))
    assert copy_of is not keys[0]
    with pytest.raises(TypeError, match="key_data: the first argument must be a key"):
        gs.random.key_data(3)
    with pytest.raises(TypeError, match=r"two words of uint64, got int64\[2\]; write gs.random.key\(seed\)"):
        gs.random.wrap_key_data([1, 2])
    with pytest.raises(TypeError, match="leave impl= out"):
        gs.random.wrap_key_data(keys, impl="threefry2x32")


def test_shapes_are_jaxs():
    """Of draws whose parameters have axes, or whose `shape` leaves axes out."""
    jax = pytest.importorskip("jax", reason="compares with JAX's results, and JAX is not installed")
    calls = [
        ("ball", (3,), {}), ("ball", (3, 2, (4,)), {}), ("orthogonal", (3,), {}), ("orthogonal", (3, (2,)), {"m": 5}),
        ("multinomial", (10, np.ones(3) / 3), {}), ("multinomial", (10, np.ones(3) / 3), {"shape": (4, 3)}),
        ("multinomial", (np.array([3, 10]), np.ones((2, 3)) / 3), {}), ("generalized_normal", (3.0, (4,)), {}),
        ("wald", (np.ones(3),), {}), ("triangular", (0.0, 0.5, np.ones(3)), {}), ("maxwell", ((2, 3),), {}),
        ("double_sided_maxwell", (np.zeros(3), 1.0, (4,)), {}),
    ]  # fmt: skip
    for name, given, named in calls:
        expected = getattr(jax.random, name)(jax.random.key(0), *given, **named)
        assert getattr(gs.random, name)(gs.random.key(0), *given, **named).shape == expected.shape, name


@each("name", ["triangular", "double_sided_maxwell"])
def test_gradients_are_jaxs_for_the_same_number(name):
    """A number of each side, found in JAX's: both gradients are functions of the number and the parameters."""
    jax = pytest.importorskip("jax", reason="compares with JAX's results, and JAX is not installed")
    parameters = PARAMETERS[name]
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(0), 200)
        theirs = jax.vmap(lambda key: getattr(jax.random, name)(key, *parameters))(keys)
        slopes = jax.vmap(jax.grad(getattr(jax.random, name), (1, 2)), (0, *[None] * len(parameters)))(keys, *parameters)
        theirs, slopes = np.asarray(theirs), np.stack([np.asarray(one) for one in slopes])
    ours = gs.random.split(gs.random.key(0), 200)
    numbers = gs.vmap(lambda key: getattr(gs.random, name)(key, *parameters))(ours).numpy()
    found = gs.vmap(gs.grad(getattr(gs.random, name), (1, 2)), (0, *[None] * len(parameters)))(ours, *parameters)
    order, inside = np.argsort(theirs), (theirs.min() < numbers) & (numbers < theirs.max())
    assert inside.sum() > 150
    for one, expected in zip(found, slopes):
        np.testing.assert_allclose(one.numpy()[inside], np.interp(numbers, theirs[order], expected[order])[inside], atol=0.1)


def test_gradients_of_expectations():
    """E x = m and E x**2 = m**2 + m**3 of the inverse normal distribution; JAX's draw by two roots has 1.25 and 19.3 for 1 and 16."""
    mean = gs.tensor(2.0, requires_grad=True)
    x = gs.random.wald(gs.random.key(0), mean, (100_000,))
    for power, exact in ((1, 1.0), (2, 16.0)):
        slopes = gs.func.jvp(lambda m, power=power: gs.random.wald(gs.random.key(0), m, (100_000,)) ** power, (2.0,), (1.0,))[1].numpy()
        assert abs(slopes.mean() - exact) < 5 * slopes.std() / len(slopes) ** 0.5
        found = gs.autograd.grad((x**power).mean(), mean, retain_graph=True)[0].item()
        assert abs(found - slopes.mean()) < 1e-9 * exact
    assert gs.autograd.gradcheck(lambda p: gs.random.ball(gs.random.key(1), 3, p, (2,)), [gs.tensor(1.5, requires_grad=True)])

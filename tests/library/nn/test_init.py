"""nn.init: the scales of PyTorch's formulas, patterns by what they do, and what is refused."""

import math

import numpy as np
import pytest

import gradspec as gs
from gradspec.nn import init
from tests.asked import each
from tests.later import later

stats = later("scipy.stats")
GAINS = {"linear": 1, "conv2d": 1, "conv_transpose3d": 1, "sigmoid": 1, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75,
         "leaky_relu": math.sqrt(2 / (1 + 1e-4))}  # fmt: skip
SHAPE = (40, 30, 3, 2)
INTO, OUT_OF = 30 * 6, 40 * 6
LEAKY = math.sqrt(2 / (1 + 0.25))
DEVIATIONS = {  # standard deviation, and whether numbers are even
    "xavier_uniform_": ((), math.sqrt(2 / (INTO + OUT_OF)), True),
    "xavier_normal_": ((), math.sqrt(2 / (INTO + OUT_OF)), False),
    "xavier_normal": ((2.0,), 2 * math.sqrt(2 / (INTO + OUT_OF)), False),
    "kaiming_uniform_": ((), math.sqrt(2 / INTO), True),
    "kaiming_normal_": ((0.5, "fan_out"), LEAKY / math.sqrt(OUT_OF), False),
    "normal_": ((0.0, 3.0), 3.0, False),
    "uniform_": ((-1.0, 1.0), 1 / math.sqrt(3), True),
}


@pytest.mark.parametrize("name", GAINS)
def test_gains_are_pytorchs(name):
    assert init.calculate_gain(name) == pytest.approx(GAINS[name], rel=1e-15)


def test_the_slope_of_leaky_relu_is_an_argument():
    assert init.calculate_gain("leaky_relu", 0.5) == pytest.approx(LEAKY, rel=1e-15)


@each("name", DEVIATIONS)
@each("dtype", [np.float32, np.float64])
def test_numbers_are_of_the_scale(name, dtype):
    arguments, deviation, even = DEVIATIONS[name]
    weight = gs.nn.Parameter(gs.zeros(SHAPE, dtype=dtype))
    assert getattr(init, name.rstrip("_") + "_")(weight, *arguments, generator=3) is weight
    assert weight.requires_grad and weight.grad_fn is None and weight.dtype == dtype
    scaled = weight.detach().numpy().ravel() / deviation
    law = stats.uniform(-math.sqrt(3), 2 * math.sqrt(3)) if even else stats.norm()
    assert stats.kstest(scaled, law.cdf).pvalue > 1e-3


@each("ends", [(-2.0, 2.0), (-0.5, 4.0), (1.0, 2.0)])
@each("centre", [(0.0, 1.0), (0.5, 2.0)])
def test_truncated_numbers(ends, centre):
    drawn = init.trunc_normal_(gs.zeros(3000), *centre, *ends, generator=3).numpy()
    a, b = ((end - centre[0]) / centre[1] for end in ends)
    assert drawn.min() >= ends[0] and drawn.max() <= ends[1]
    assert stats.kstest(drawn, stats.truncnorm(a, b, *centre).cdf).pvalue > 1e-3


def test_a_mean_far_outside_is_warned_of():
    for mean in (-4.01, 4.01):
        with pytest.warns(UserWarning, match="mean is more than 2 std"):
            init.trunc_normal_(gs.zeros(3), mean)
    init.trunc_normal_(gs.zeros(3), 4.0)


def test_constants():
    assert init.constant_(gs.zeros(3), 2.5).tolist() == [2.5] * 3
    assert init.ones_(gs.zeros(3)).tolist() == [1] * 3 and init.zeros_(gs.ones(3)).tolist() == [0] * 3
    np.testing.assert_array_equal(init.eye_(gs.ones((2, 3))), np.eye(2, 3))


@each("axes", [1, 2, 3])
@each("groups", [1, 2])
def test_dirac_keeps_channels(axes, groups):
    """Of each group as many as it has, zeros for the others."""
    weight = init.dirac_(gs.ones((6, 2, *(3, 5, 3)[:axes])), groups)
    x = np.random.default_rng(0).normal(size=(1, 2 * groups, *(4, 6, 5)[:axes]))
    y = getattr(gs.nn, f"conv{axes}d")(gs.asarray(x), weight, padding=(1, 2, 1)[:axes], groups=groups).numpy()
    per = 6 // groups
    for group in range(groups):
        np.testing.assert_allclose(y[:, group * per : group * per + 2], x[:, 2 * group : 2 * group + 2])
        assert not y[:, group * per + 2 : (group + 1) * per].any()


@each("shape", [(3, 5), (5, 3), (4, 4), (2, 3, 2), (0, 3)])
@each("dtype", [np.float32, np.float64, np.complex128])
def test_orthogonal_rows_or_columns(shape, dtype):
    weight = gs.zeros(shape, dtype=dtype)
    assert init.orthogonal_(weight, 2.0, generator=3) is weight
    flat = weight.numpy().reshape(shape[0], math.prod(shape[1:]))
    product = flat @ flat.conj().T if shape[0] <= flat.shape[1] else flat.conj().T @ flat
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=100 * np.finfo(dtype).eps)


def test_sparse_columns():
    for sparsity, zeros in ((0.0, 0), (0.25, 10), (0.26, 11), (1.0, 40)):
        weight = init.sparse_(gs.ones((40, 300)), sparsity, 0.5, generator=3).numpy()
        assert ((weight == 0).sum(0) == zeros).all()
        if zeros in (10, 11):
            kept = weight[weight != 0]
            assert stats.kstest(kept, stats.norm(0, 0.5).cdf).pvalue > 1e-3
            share = (weight == 0).mean(1)  # in no row more often than in another
            assert abs(share - sparsity).max() < 0.12


def test_older_names_say_so():
    for name in ("uniform", "normal", "eye", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal", "orthogonal"):
        given = {} if name == "eye" else {"generator": 3}
        with pytest.warns(FutureWarning, match=f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`") as warned:
            found = getattr(init, name)(gs.zeros((3, 4)), **given)
        assert warned[0].filename == __file__
        np.testing.assert_array_equal(found, getattr(init, f"{name}_")(gs.zeros((3, 4)), **given))
    for name, arguments, shape in (("constant", (2.0,), (3,)), ("dirac", (), (2, 2, 3)), ("sparse", (0.5,), (4, 4))):
        with pytest.warns(FutureWarning, match=f"in favor of `nn.init.{name}_`"):
            assert getattr(init, name)(gs.zeros(shape), *arguments).shape == shape


@each("name", ["kaiming_uniform_", "kaiming_normal_"])
def test_nothing_to_fill_is_warned_of(name):
    with pytest.warns(UserWarning, match="zero-element tensors is a no-op"):
        assert getattr(init, name)(gs.zeros((0, 3))).shape == (0, 3)


@each("call, words", [
    (lambda: init.calculate_gain("swish"), "Unsupported nonlinearity swish"),
    (lambda: init.calculate_gain("conv4d"), "Unsupported nonlinearity conv4d"),
    (lambda: init.calculate_gain("leaky_relu", True), "negative_slope True not a valid number"),
    (lambda: init.calculate_gain("leaky_relu", "x"), "negative_slope x not a valid number"),
    (lambda: init.xavier_uniform_(gs.zeros(3)), "Fan in and fan out can not be computed"),
    (lambda: init.kaiming_normal_(gs.zeros((3, 3)), mode="fan"), "Mode fan not supported"),
    (lambda: init.eye_(gs.zeros(3)), "Only tensors with 2 dimensions are supported"),
    (lambda: init.sparse_(gs.zeros(3), 0.5), "Only tensors with 2 dimensions are supported"),
    (lambda: init.dirac_(gs.zeros((3, 3))), "Only tensors with 3, 4, or 5 dimensions are supported"),
    (lambda: init.dirac_(gs.zeros((3, 3, 3)), 2), "dim 0 must be divisible by groups"),
    (lambda: init.orthogonal_(gs.zeros(3)), "Only tensors with 2 or more dimensions are supported"),
])  # fmt: skip
def test_what_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()

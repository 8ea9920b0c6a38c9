"""Loops of ours for functions that NumPy has not: mpmath's values, the expressions' special values, one result for one argument."""

import warnings

import mpmath
import numpy as np
import pytest

from gradspec import get_num_threads, kernels, set_num_threads
from gradspec.kernels.elementwise import elementwise, slopes
from gradspec.kernels.special_functions import scipy_backed
from tests import ulps
from tests.asked import each


def sinc_slope(x):
    return (mpmath.cospi(x) - mpmath.sincpi(x)) / x


def logistic_slope(x):
    return mpmath.exp(-x) / (1 + mpmath.exp(-x)) ** 2


def silu_slope(x):
    return (1 + x / (1 + mpmath.exp(x))) / (1 + mpmath.exp(-x))


# Ours, mpmath's, ranges of arguments, those where the result becomes subnormal among them, and units of the last digit of doubles.
EXACT = {
    "erf": (kernels.erf, mpmath.erf, [(1e-30, 0.1), (0.1, 1), (1, 2), (2, 6), (-1, 1)], 1),
    "erfc": (kernels.erfc, mpmath.erfc, [(-6, 0), (1e-10, 0.5), (0.5, 3), (3, 9), (8.5, 10.5), (25, 27.5)], 1),
    "erfinv": (kernels.erfinv, mpmath.erfinv, [(1e-10, 0.4), (0.4, 0.6), (-0.9, -0.6), (0.9, 0.999), (0.999, 1 - 1e-7)], 1),
    "logit": (kernels.logit, lambda x: mpmath.log(x / (1 - x)), [(1e-37, 0.1), (0.1, 0.4), (0.4, 0.6), (0.49999, 0.50001), (0.6, 0.9999)], 1),
    "sinc": (lambda x: kernels.sinc(x, 0), mpmath.sincpi, [(1e-9, 0.1), (-1, -0.1), (1, 10), (10, 1e6)], 1),
    "sinc_slope": (lambda x: kernels.sinc(x, 1), sinc_slope, [(1e-5, 0.1), (0.1, 0.7), (-1.2, -0.7), (1.2, 5), (5, 1e5)], 2),
    "lgamma": (kernels.lgamma, mpmath.loggamma, [(1e-20, 0.5), (0.5, 0.9), (0.9, 1.1), (1.1, 1.9), (1.9, 2.1), (2.1, 10), (10, 1e10)], 4),
    "trigamma": (lambda x: kernels.polygamma(1, x), lambda x: mpmath.psi(1, x), [(1e-15, 0.5), (0.5, 5), (5, 11.5), (11, 100), (100, 1e10)], 1),
    "asinh_slope": (kernels.asinh_slope, lambda x: 1 / mpmath.sqrt(1 + x * x), [(1e-5, 1), (-100, -1), (100, 1e10)], 2.5),
    "atan_slope": (kernels.atan_slope, lambda x: 1 / (1 + x * x), [(1e-5, 1), (-100, -1), (100, 1e10)], 3),
    "sigmoid": (kernels.sigmoid, lambda x: 1 / (1 + mpmath.exp(-x)), [(-750, -690), (-105, -80), (-80, -10), (-10, 0), (-1, 1), (1e-5, 20), (20, 80)], 3),
    "sigmoid_slope": (kernels.sigmoid_slope, logistic_slope, [(-750, -690), (-105, -80), (-80, -10), (-10, 0), (-1, 1), (1e-5, 20), (20, 80)], 4),
    "silu": (kernels.silu, lambda x: x / (1 + mpmath.exp(-x)), [(-80, -10), (-10, 0), (-1, 1), (1e-5, 20), (20, 800)], 3),
    "silu_slope": (kernels.silu_slope, silu_slope, [(-80, -10), (-10, -2), (-1, 1), (1e-5, 20), (20, 800)], 5),
    "gelu": (lambda x: kernels.gelu(x, "none"), lambda x: x * mpmath.ncdf(x), [(-12, -5), (-5, 0), (-1, 1), (1e-10, 10), (10, 50)], 6),
    "gelu_slope": (kernels.gelu_slope, lambda x: mpmath.ncdf(x) + x * mpmath.npdf(x), [(-12, -5), (-5, -1), (-0.6, 0.6), (1e-10, 10), (10, 50)], 6),
    "tanh_slope": (kernels.tanh_slope, lambda x: mpmath.sech(x) ** 2, [(-376, -345), (-43.5, -40), (-40, -10), (-10, 0), (-1, 1), (1e-5, 20), (20, 40)], 4),
}  # fmt: skip
IN_FLOATS = {"erf": 1, "erfc": 1.5, "erfinv": 1.5, "sigmoid": 1, "sigmoid_slope": 1, "gelu": 1.5, "gelu_slope": 6, "silu": 2, "silu_slope": 4, "tanh_slope": 1}  # not computed in double
PAIRS = {
    "direction": (kernels.direction, slopes.direction, lambda a, b: a / mpmath.hypot(a, b)),
    "angle_slope": (kernels.angle_slope, slopes.angle_slope, lambda a, b: b / (a * a + b * b)),
}
PLAIN = {
    "logit": elementwise.logit,
    "sinc": lambda x: elementwise.sinc(x, 0),
    "sinc_slope": lambda x: elementwise.sinc(x, 1),
    "trigamma": lambda x: scipy_backed.polygamma(1, x),
    "asinh_slope": slopes.asinh_slope,
    "atan_slope": slopes.atan_slope,
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 2.0, -2.0, -2.5, 1e-30, 7.0, 1e17, 3.0**30, -1e9]


def points(low, high, dtype, count=120):
    rng = np.random.default_rng(0)
    x = np.exp(rng.uniform(np.log(low), np.log(high), count)) if low > 0 else rng.uniform(low, high, count)
    return x.astype(dtype)


@each("name", EXACT)
@each("dtype", [np.float32, np.float64])
def test_values_are_those_of_mpmath(name, dtype):
    ours, exact, ranges, bound = EXACT[name]
    for low, high in ranges:
        x = points(low, high, dtype)
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            found = ours(x)
            assert [ours(x[:n]).tolist() for n in (1, 7)] == [found[:n].tolist() for n in (1, 7)]
        assert found.dtype == dtype
        with mpmath.workprec(160):
            errors = ulps.errors(found, [exact(mpmath.mpf(float(value))) for value in x])
        limit = bound if dtype == np.float64 else IN_FLOATS.get(name, 0.51)
        assert errors.max() <= limit, (low, high, x[errors.argmax()])


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_of_pairs_are_those_of_mpmath(name, dtype):
    ours, plain, exact = PAIRS[name]
    rng = np.random.default_rng(0)
    a, b = ((rng.normal(size=300) * 10.0 ** rng.integers(-12, 12, 300)).astype(dtype) for _ in range(2))
    with mpmath.workprec(300):
        errors = ulps.errors(ours(a, b), [exact(mpmath.mpf(float(p)), mpmath.mpf(float(q))) for p, q in zip(a, b)])
    assert errors.max() < (0.51 if dtype == np.float32 else 2.5)
    values = np.array([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 1e-200, 1e200, -3e-320, 1e30, -1e-30])
    with np.errstate(all="ignore"):
        a, b = (part.reshape(-1) for part in np.meshgrid(values.astype(dtype), values.astype(dtype)))
        np.testing.assert_allclose(ours(a, b), plain(a, b), rtol=8 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)
        for other in (dtype(2), dtype(np.inf), 3):
            np.testing.assert_array_equal(ours(a, other), ours(a, np.full(a.shape, other, dtype)))
            np.testing.assert_array_equal(ours(other, a), ours(np.full(a.shape, other, dtype), a))


@each("name", PLAIN)
@each("dtype", [np.float32, np.float64])
def test_values_of_expressions_are_those_of_mpmath(name, dtype):
    """The expressions serve where there is no loop: elements of other types, other machines."""
    _, exact, ranges, _ = EXACT[name]
    for low, high in ranges:
        x = points(low, high, dtype, 20)
        x = x[x != 1]
        with mpmath.workprec(160):
            expected = np.array([float(exact(mpmath.mpf(float(value)))) for value in x])
        found = PLAIN[name](x)
        assert found.dtype == dtype and found.shape == x.shape
        np.testing.assert_allclose(found, expected, rtol=5 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)


@each("name", PLAIN)
@each("dtype", [np.float32, np.float64])
def test_special_values_are_those_of_the_expression(name, dtype):
    x = np.array(SPECIAL, dtype)
    with np.errstate(all="ignore"):
        found, expected = EXACT[name][0](x), PLAIN[name](x)
    whole = np.abs(x) > 1e8 if name.startswith("sinc") else np.zeros(len(x), bool)  # where the expression takes a rounded product
    np.testing.assert_allclose(found[~whole], expected[~whole], rtol=16 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)


def test_the_ends_of_domains():
    x = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -2.0, -3.5])
    np.testing.assert_array_equal(kernels.erf(x)[:7], [0, 0, *kernels.erf(x)[2:4], 1, -1, np.nan])
    np.testing.assert_array_equal(np.signbit(kernels.erf(x)[:2]), [False, True])
    np.testing.assert_array_equal(kernels.erfc(x)[4:7], [0, 2, np.nan])
    np.testing.assert_array_equal(kernels.erfinv(x), [0, 0, np.inf, -np.inf, np.nan, np.nan, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(np.signbit(kernels.erfinv(x)[:2]), [False, True])
    np.testing.assert_array_equal(kernels.lgamma(x)[:8], [np.inf, np.inf, 0, np.inf, np.inf, np.inf, np.nan, np.inf])
    np.testing.assert_allclose(kernels.lgamma(x)[8], float(mpmath.log(abs(mpmath.gamma(-3.5)))), rtol=1e-14)
    assert kernels.erfc(np.array([27.0]))[0] == pytest.approx(float(mpmath.erfc(27)), rel=1e-3)  # which is subnormal
    for bad in (0.0, 1.0, -0.5):
        with pytest.warns(RuntimeWarning):
            kernels.logit(np.array([bad, 0.25]))


@each("name", ["sigmoid", "sigmoid_slope", "silu", "silu_slope", "gelu", "gelu_slope", "tanh_slope", "logit", "erfinv"])
@each("dtype", [np.float32, np.float64])
def test_numbers_out_of_range_change_no_others_of_their_block(name, dtype):
    ours = EXACT[name][0]
    x = points(0.01, 0.99, dtype, 1500)
    expected, mixed = ours(x), x.copy()
    mixed[70], mixed[1490] = -800, np.nan
    with np.errstate(all="ignore"):
        alone, found = ours(mixed[[70, 1490]]), np.asarray(ours(mixed))
    np.testing.assert_array_equal(found[[70, 1490]], alone)
    found[[70, 1490]] = expected[[70, 1490]]
    np.testing.assert_array_equal(found, expected)


@each("name", EXACT)
@each("dtype", [np.float32, np.float64])
def test_the_result_depends_on_the_argument_alone(name, dtype):
    """Not on the layout, the length, neighbours or threads."""
    ours = EXACT[name][0]
    x = np.concatenate([points(0.01, 0.99, dtype, 1500), np.array([0.5, 0.25], dtype)])
    x[::7] *= dtype(1e-3)
    y = ours(x)
    for part in (x[:1], x[3:9], x[::2], x[::-3], x[5:].copy()[::1], x.astype(x.dtype.newbyteorder(">"))):
        np.testing.assert_array_equal(ours(part), [y[x == value][0] for value in part.astype(dtype)])
    assert ours(x[:0]).shape == (0,) and np.shape(ours(np.array(0.5, dtype))) == ()
    before = get_num_threads()
    try:
        for count in (1, 2, 3):
            set_num_threads(count)
            np.testing.assert_array_equal(ours(np.tile(x, 80)), np.tile(y, 80))
    finally:
        set_num_threads(before)


def test_a_product_with_a_logarithm():
    a, b = np.array([0.0, 0.0, 2.0, 0.0, -1.0]), np.array([0.0, np.nan, 3.0, -1.0, 2.0])
    for dtype in (np.float32, np.float64):
        found = kernels.xlogy(a.astype(dtype), b.astype(dtype))
        np.testing.assert_allclose(found, [0, np.nan, 2 * np.log(3), 0, -np.log(2)], rtol=1e-6)
        np.testing.assert_array_equal(kernels.xlogy(a.astype(dtype), 3), kernels.xlogy(a.astype(dtype), np.full(5, 3, dtype)))
        np.testing.assert_array_equal(kernels.xlogy(2, b[2:3].astype(dtype)), found[2:3])


@each("name", ["sigmoid", "sigmoid_slope", "silu", "silu_slope", "gelu_slope", "tanh_slope", "erf", "erfc", "erfinv", "logaddexp"])
@each("dtype", [np.float32, np.float64])
def test_a_result_depends_on_its_argument_alone(name, dtype):
    """Not on length, alignment or strides, nor on the neighbours, which may be saturated, infinite, subnormal or no number."""
    rng = np.random.default_rng(0)
    extreme = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -88.0, 88.0, -104.0, 104.0, -1e9, 1e9, 3e38, -3e38]
    x = np.concatenate([rng.normal(size=150) * 10, extreme]).astype(dtype)
    rng.shuffle(x)
    function = getattr(kernels, name)
    calls = [function]
    if name == "logaddexp":
        zero = dtype(0)
        calls = [lambda v: function(zero, v), lambda v: function(v, zero), lambda v: function(v, np.zeros_like(v))]
    for call in calls:
        whole = np.asarray(call(x))
        np.testing.assert_array_equal(whole, np.asarray(calls[0](x)))
        for start, stop, step in [(i, i + n, 1) for i in (0, 1, 3) for n in (1, 2, 7, 8, 9, 31)] + [(0, None, 3), (None, None, -1)]:
            part = x[start:stop:step]
            np.testing.assert_array_equal(np.asarray(call(part.copy())).view(np.uint8), whole[start:stop:step].copy().view(np.uint8))


def test_the_sum_of_exponentials_is_within_two_units_of_the_last_digit():
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=400).astype(np.float32) * np.float32(8) for _ in range(2))
    with mpmath.workprec(300):
        exact = [mpmath.log(mpmath.exp(mpmath.mpf(float(p))) + mpmath.exp(mpmath.mpf(float(q)))) for p, q in zip(a, b)]
        beside = [mpmath.log1p(mpmath.exp(mpmath.mpf(float(q)))) for q in b]
    far = np.abs(np.array(exact, float)) > 0.5  # nearer to 0 the two parts cancel
    assert ulps.errors(np.asarray(kernels.logaddexp(a, b))[far], [y for y, is_far in zip(exact, far) if is_far]).max() < 2
    assert ulps.errors(np.asarray(kernels.logaddexp(np.zeros_like(b), b)), beside).max() < 1.5


def test_sinc_of_numbers_whose_last_digit_is_a_quarter():
    """From 2**50 on numbers are multiples of a quarter, from 2**52 on integers: there is no half turn to round to."""
    mpmath = pytest.importorskip("mpmath")
    x = np.concatenate([np.floor(2.0 ** np.linspace(45, 53, 160)) + np.tile([0, 0.25, 0.5, 0.75], 40), [-(2.0**51) - 0.5, -3801283483538925.5]])
    with mpmath.workdps(50):
        values = [mpmath.sinpi(mpmath.mpf(point)) / (mpmath.pi * mpmath.mpf(point)) for point in x]
        slopes = [(mpmath.cospi(mpmath.mpf(point)) - value) / mpmath.mpf(point) for point, value in zip(x, values)]
    np.testing.assert_allclose(kernels.sinc(x, 0), np.array(values, float), rtol=1e-15)
    np.testing.assert_allclose(kernels.sinc(x, 1), np.array(slopes, float), rtol=1e-15)


@each("dtype", (np.float32, np.float64))
@each("decimals", (-24, -5, -1, 0, 1, 2, 5, 10, 20, 22, 24))
def test_rounded_numbers_are_those_of_numpy(decimals, dtype):
    x = np.random.default_rng(0).standard_normal(70_000) * 10.0 ** np.random.default_rng(1).integers(-12, 12, 70_000)
    x[:14] = 0.5, 1.5, 2.5, -0.5, -0.0, 0.0, np.inf, -np.inf, np.nan, 1e30, -1e37, 1e-40, 0.125, 2.675
    x = x.astype(dtype)
    results, warned = [], []
    for function in (kernels.round_to, elementwise.round_to):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results.append(function(x, decimals).tobytes())
        warned.append([str(warning.message) for warning in caught])
    assert results[0] == results[1] and warned[0] == warned[1]

"""The loops of standardization against the NumPy expressions: layouts, dtypes, axes, lengths, sums over rows, and threads."""

import numpy as np
import pytest

from gradspec import get_num_threads, kernels, set_num_threads
from gradspec.kernels.row_wise import normalisers
from tests.asked import each

SHAPES = [(5, 3), (3, 40), (2, 3000), (4, 7, 90), (2, 3, 2, 5), (1, 1), (600, 20), (9, 513), (70, 64), (1, 40000)]
DTYPES = [np.float32, np.float64, np.float16, np.longdouble, ">f8"]


def arrays(shape, dtype, count, seed=0):
    rng = np.random.default_rng(seed)
    return [(3 * rng.normal(size=shape) + 1).astype(dtype) for _ in range(count)]


def layouts(x):
    """The same numbers, laid out in every way that an array may come in."""
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, -1)[..., ::2]
    yield np.flip(np.ascontiguousarray(np.flip(x)))
    frozen = x.copy()
    frozen.flags.writeable = False
    yield frozen


def close(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert isinstance(one, np.ndarray) and one.shape == other.shape and one.dtype == other.dtype
        gap = 16 * np.finfo(one.dtype).eps
        np.testing.assert_allclose(one, other, rtol=gap, atol=gap * np.abs(other).max(initial=1))


@each("centred", [True, False])
@each("dtype", DTYPES)
@each("shape", SHAPES)
def test_results_are_those_of_the_expressions(shape, dtype, centred):
    x, g = arrays(shape, dtype, 2)
    for axis in {-1, 0, len(shape) - 1, (-1, -2), (0, -1)}:
        expected = y, rate = normalisers.standardize(x, axis, 0.1, centred)
        for laid in layouts(x):
            close(kernels.standardize(laid, axis, 0.1, centred), expected)
        expected = normalisers.standardize_backward(g, y, rate, axis, centred)
        for laid in layouts(g):
            close([kernels.standardize_backward(laid, y, rate, axis, centred)], [expected])


# Shapes of an array; its axes; the shape of a factor, and the number of axes behind it.
AFFINE = [(shape, tuple(range(first, len(shape))), shape[first:], 0) for shape in SHAPES for first in range(len(shape))] + [
    ((4, 6, 5, 7), (0, 2, 3), (6,), 2), ((3, 5, 9), (0, -1), (5,), 1), ((2, 3, 2, 2), (0, 2, 3), (3,), 2), ((30, 7), (0,), (7,), 0),
    ((4, 2, 3, 30), (2, 3), (2, 3), 1), ((4, 2, 3, 2), (2, 3), (2, 3), 1), ((5, 2, 3), (2,), (2, 3), 0), ((3, 40), 1, (1,), 0),
    ((4, 6, 50), -1, (6,), 1), ((4, 6, 3), -1, (6,), 1), ((3, 4, 40), (1, 2), (40,), 0), ((3, 4, 40), (0,), (4, 1), 0),
    ((3, 4, 40), (0, 1, 2), (4,), 1), ((6, 5, 4, 8), (1, 2, 3), (6, 5), 2), ((3, 4, 40), 2, (), 0), ((3, 20), 1, (), 2),
]  # fmt: skip


@each("centred", [True, False])
@each("dtype", DTYPES[:4])
@each("affine", AFFINE)
def test_the_affine_ones_are_those_of_the_expressions(affine, dtype, centred):
    shape, axis, factors, behind = affine
    x, g = arrays(shape, dtype, 2)
    weight, bias = arrays(factors, dtype, 2, seed=1)
    for shift in (bias, None):
        expected = _, centre, rate = normalisers.standardize_affine(x, axis, weight, shift, behind, 0.1, centred)
        for laid in layouts(x):
            close(kernels.standardize_affine(laid, axis, weight, shift, behind, 0.1, centred), expected)
    for laid in layouts(weight) if factors else ():
        close(kernels.standardize_affine(x, axis, laid, laid, behind, 0.1, centred), normalisers.standardize_affine(
            x, axis, weight, weight, behind, 0.1, centred))  # fmt: skip
    expected = normalisers.standardize_affine_backward(g, x, weight, centre, rate, axis, behind, centred)
    gap = 16 * np.finfo(dtype).eps * x.size ** 0.5
    for laid in layouts(g):
        found = kernels.standardize_affine_backward(laid, x, weight, centre, rate, axis, behind, centred)
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype and one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=gap, atol=gap * np.abs(other).max())


def test_mixed_dtypes_are_promoted():
    x, weight = arrays((6, 40), np.float32, 1)[0], arrays((40,), np.float64, 1)[0]
    results = kernels.standardize_affine(x, 1, weight, None, 0, 1e-5, True)
    assert [y.dtype for y in results] == [np.float64] * 3
    close(results, kernels.standardize_affine(x.astype(float), 1, weight, None, 0, 1e-5, True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_many_numbers_are_as_exact_as_those_of_numpy(dtype):
    x = (np.random.default_rng(0).random((3, 200_000)) + 1).astype(dtype)
    exact, _ = normalisers.standardize(x.astype(np.longdouble), 1, 0.0, True)
    worst = np.abs(kernels.standardize(x, 1, 0.0, True)[0] - exact).max()
    assert worst <= 1.5 * np.abs(normalisers.standardize(x, 1, 0.0, True)[0] - exact).max()
    rows = (np.random.default_rng(0).random((100_000, 3)) + 1).astype(dtype)
    ones, rate = np.ones(3, dtype), np.ones((100_000, 1), dtype)
    _, products, sums = kernels.standardize_affine_backward(rows, rows, ones, 0 * rate, rate, 1, 0, True)
    for found, expected in ((products, np.square(rows.astype(np.longdouble)).sum(0)), (sums, rows.astype(np.longdouble).sum(0))):
        np.testing.assert_allclose(found, expected.astype(dtype), rtol=64 * np.finfo(dtype).eps)
    runs = rows.reshape(10_000, 3, 10)
    exact = runs.astype(np.longdouble).mean((0, 2))
    _, centre, _ = kernels.standardize_affine(runs, (0, 2), ones, None, 1, 0.0, True)
    np.testing.assert_allclose(centre[0, :, 0], exact.astype(dtype), rtol=4 * np.finfo(dtype).eps)


def test_what_numpy_warns_of_it_warns_of():
    x = np.ones((3, 40), np.float32)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        kernels.standardize(x, 1, 0.0, True)
    x[1, 2] = np.inf
    with pytest.warns(RuntimeWarning, match="invalid value"):
        y, rate = kernels.standardize(x, 1, 1e-5, True)
    assert np.isnan(y[1]).all() and (y[::2] == 0).all()
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        kernels.standardize_affine(x * 1e30, 1, x[0], None, 0, 1e-5, True)
    x[1, 2] = np.nan
    y, rate = kernels.standardize(x, 1, 1e-5, True)
    assert np.isnan(y[1]).all() and (y[::2] == 0).all()


def test_shapes_that_do_not_fit_are_refused():
    x = np.ones((3, 4))
    rate = x[:, :1]
    for weight in (np.ones(3), np.ones((4, 3)), np.ones((1, 1, 4))):
        with pytest.raises(ValueError):
            kernels.standardize_affine(x, 1, weight, None, 0, 1e-5, True)
        with pytest.raises(ValueError):
            kernels.standardize_affine_backward(x, x, weight, rate, rate, 1, 0, True)
    for grad, centre in ((x[0], rate), (x, x), (x, rate[0])):
        with pytest.raises(ValueError):
            kernels.standardize_affine_backward(grad, x, x[0], centre, rate, 1, 0, True)
    for grad, rate in ((x[0], x[:, :1]), (x, x[:, 0]), (x, x[:1])):
        with pytest.raises(ValueError):
            kernels.standardize_backward(grad, x, rate, 1, True)


@pytest.mark.parametrize("shape, axis, factors, behind", [
    ((3000, 20), (1,), (20,), 0), ((300, 1000), (1,), (1000,), 0), ((9, 40, 200), (1, 2), (40, 200), 0),
    ((3, 70000), (1,), (70000,), 0), ((8, 16, 28, 28), (0, 2, 3), (16,), 2), ((8, 4, 4, 784), (2, 3), (4, 4), 1),
])  # fmt: skip
def test_results_do_not_depend_on_the_number_of_threads(shape, axis, factors, behind):
    x, g = arrays(shape, np.float32, 2)
    weight, bias = arrays(factors, np.float32, 2)
    before, results = get_num_threads(), []
    try:
        for number in (1, 2, 3):
            set_num_threads(number)
            z, centre, rate = kernels.standardize_affine(x, axis, weight, bias, behind, 1e-5, True)
            y, _ = kernels.standardize(x, axis, 1e-5, False)
            results.append([
                z, centre, rate, *kernels.standardize_affine_backward(g, x, weight, centre, rate, axis, behind, True), y,
                kernels.standardize_backward(g, y, rate, axis, True),
            ])  # fmt: skip
    finally:
        set_num_threads(before)
    for other in results[1:]:
        for found, expected in zip(other, results[0]):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("shape", [(4, 12), (2, 600)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_whose_squares_are_out_of_range(dtype, shape, centred):
    """What is standardized does not depend on the scale, nor where every square over- or underflows, or loses digits."""
    limits = np.finfo(dtype)
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    expected, rate = normalisers.standardize(x, -1, 0.0, centred)
    for power in (limits.maxexp // 2, limits.maxexp - 12, limits.minexp // 2 - 3, limits.minexp // 2 - 9, limits.minexp + 60):
        scaled = np.ldexp(x, power)
        for function in (kernels.standardize, normalisers.standardize):
            y, found = function(scaled, -1, 0.0, centred)
            np.testing.assert_allclose(y, expected, rtol=200 * limits.eps, atol=20 * limits.eps)
            np.testing.assert_allclose(np.ldexp(found, power), rate, rtol=20 * limits.eps)
    mixed = np.concatenate([x, np.ldexp(x, limits.maxexp - 12), np.zeros_like(x)])  # a row beside others
    y, _ = kernels.standardize(mixed, -1, 1e-5, centred)
    plain, _ = normalisers.standardize(x, -1, 1e-5, centred)
    np.testing.assert_allclose(y[: len(x)], plain, rtol=200 * limits.eps, atol=20 * limits.eps)
    np.testing.assert_allclose(y[len(x) : 2 * len(x)], expected, rtol=200 * limits.eps, atol=20 * limits.eps)
    assert not y[2 * len(x) :].any()

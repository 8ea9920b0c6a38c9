"""The loops of softmax and its kin against the NumPy expressions: layouts, dtypes, axes, lengths, and what NumPy warns of."""

import numpy as np
import pytest

from gradspec import get_num_threads, kernels, set_num_threads
from gradspec.kernels.row_wise import class_losses, softmax
from tests.asked import each

SHAPES = [(5, 3), (3, 40), (2, 3000), (4, 7, 9), (2, 33, 70), (3, 2, 2, 5), (1, 1), (600, 20), (30, 9, 200)]
DTYPES = [np.float32, np.float64, np.float16, np.longdouble, ">f8"]


def arrays(shape, dtype, count=1, seed=0):
    rng = np.random.default_rng(seed)
    made = [(3 * rng.normal(size=shape)).astype(dtype) for _ in range(count)]
    return made if count > 1 else made[0]


def axes_of(shape):
    n = len(shape)
    return [-1, 0, *range(1, n), tuple(range(n)), (0, n - 1), (-1, -2)] if n > 1 else [0]


def layouts(x):
    """The same numbers, laid out in every way that an array may come in."""
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, -1)[..., ::2]
    yield np.flip(np.ascontiguousarray(np.flip(x)))
    frozen = x.copy()
    frozen.flags.writeable = False
    yield frozen


def close(found, expected, x):
    assert isinstance(found, np.ndarray) and found.shape == expected.shape and found.dtype == expected.dtype
    # NumPy adds in another order for each layout: sums of n numbers of either sign differ by some sqrt(n) roundings.
    gap = 4 * np.finfo(x.dtype).eps * max(1, x.size) ** 0.5
    np.testing.assert_allclose(found, expected, rtol=gap, atol=gap * max(1, np.abs(expected).max(initial=0)))


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.slow
@each("dtype", DTYPES)
@each("shape", SHAPES)
def test_results_are_those_of_the_expressions(shape, dtype):
    x, g = arrays(shape, dtype, 2)
    for axis in axes_of(shape):
        soft, logs = softmax.softmax(x, axis), softmax.log_softmax(x, axis)
        for laid in layouts(x):
            close(kernels.softmax(laid, axis), soft, x)
            close(kernels.log_softmax(laid, axis), logs, x)
        for laid in layouts(g):
            close(kernels.softmax_backward(laid, soft, axis), softmax.softmax_backward(g, soft, axis), x)
            close(kernels.log_softmax_backward(laid, logs, axis), softmax.log_softmax_backward(g, logs, axis), x)
    for axis in [*axes_of(shape), None]:
        for keepdims in (False, True):
            y = softmax.logsumexp(x, axis, keepdims)
            g = arrays(y.shape, dtype)
            for laid in layouts(x):
                close(kernels.logsumexp(laid, axis, keepdims), y, x)
                expected = softmax.logsumexp_backward(g, x, axis, keepdims)
                close(kernels.logsumexp_backward(g, laid, axis, keepdims), expected, x)


def targets(length, shape):
    """Classes of every kind, and the one that is not counted."""
    classes = np.random.default_rng(1).integers(-length, length, size=shape)
    yield classes, -100
    yield classes.astype(np.int16), 1
    yield (classes % length).astype(np.uint16), 2**70
    yield np.where(classes % 3, classes, length + 7), length + 7


@pytest.mark.slow
@each("dtype", DTYPES[:3])
@each("shape", SHAPES)
def test_cross_entropies_are_those_of_the_expression(shape, dtype):
    x = arrays(shape, dtype)
    for axis in range(-1, len(shape) - 1):
        others = np.delete(shape, axis)
        g = arrays(others, dtype)
        for target, ignored in targets(shape[axis], others):
            for laid in layouts(x):
                y, weight = kernels.cross_entropies(laid, target, axis, ignored)
                close(y, class_losses.cross_entropies(x, target, axis, ignored)[0], x)
                close(weight, softmax.softmax(x, axis), x)
                expected = class_losses.cross_entropies_backward(g, weight, target, axis, ignored)
                close(kernels.cross_entropies_backward(g, weight, target, axis, ignored), expected, x)


def test_what_is_not_counted_counts_for_nothing_even_where_it_is_nan():
    x = np.zeros((3, 4), np.float32)
    x[1] = np.nan
    y, weight = kernels.cross_entropies(x, [0, 2, -1], 1, 2)
    np.testing.assert_allclose(y, [np.log(4), 0, np.log(4)], rtol=1e-6)
    for laid in (weight, np.asfortranarray(weight), weight.astype(np.float16)):
        slope = kernels.cross_entropies_backward(np.ones(3, laid.dtype), laid, [0, 2, -1], 1, 2)
        np.testing.assert_array_equal(slope, [[-0.75, 0.25, 0.25, 0.25], [0, 0, 0, 0], [0.25, 0.25, 0.25, -0.75]])
    slope = kernels.cross_entropies_backward(np.ones(3, np.float32), weight.T.copy(), [0, 2, -1], 0, 2)
    np.testing.assert_array_equal(slope.T, [[-0.75, 0.25, 0.25, 0.25], [0, 0, 0, 0], [0.25, 0.25, 0.25, -0.75]])


@each("dtype", [np.float32, np.float64])
@each("n", [1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 129, 511, 512, 513, 1000, 40000])
def test_sums_are_as_accurate_as_numpys(n, dtype):
    x = np.abs(arrays((37, n), dtype))
    exact = softmax.logsumexp(x.astype(np.longdouble), -1, False)
    eps = np.finfo(dtype).eps
    assert np.abs(kernels.logsumexp(x, -1, False) - exact).max() <= 2 * eps * exact.max()
    exact = softmax.softmax(x.astype(np.longdouble), -1)
    assert (np.abs(kernels.softmax(x, -1) - exact) / exact).max() <= 16 * eps  # shifted numbers of up to 15 have roundings of 8
    g = arrays((37, n), dtype, seed=1)
    expected = softmax.softmax_backward(g.astype(np.longdouble), exact, -1)
    assert np.abs(kernels.softmax_backward(g, exact.astype(dtype), -1) - expected).max() <= 4 * eps * np.abs(g).max()


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("where", [0, 5, 39])
def test_nan_and_infinities_come_out_as_from_numpy(where, axis):
    for value in (np.nan, np.inf, -np.inf):
        for every in (False, True):
            x = arrays((40, 40), np.float64)
            x[(slice(None), where) if axis == 0 else where] = value if every else x[0, 0]
            x[where, where] = value
            with np.errstate(all="ignore"):
                for name in ("softmax", "log_softmax"):
                    same(getattr(kernels, name)(x, axis), getattr(softmax, name)(x, axis))
                same(kernels.logsumexp(x, axis, True), softmax.logsumexp(x, axis, True))


def test_numpy_warns_as_errstate_says():
    x = np.full((3, 20), -np.inf)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        kernels.softmax(x, -1)
    with np.errstate(all="raise"):
        assert (kernels.logsumexp(np.full((2, 3), -np.inf), 1, False) == -np.inf).all()
    with np.errstate(invalid="raise", divide="raise", over="raise"):
        kernels.softmax(np.array([[0.0, 1e30], [-1e30, 0.0]]), -1)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,), ()])
def test_nothing_and_a_single_number(shape):
    x = np.zeros(shape)
    for axis in (0, -1):
        for name in ("softmax", "log_softmax"):
            np.testing.assert_array_equal(getattr(kernels, name)(x, axis), getattr(softmax, name)(x, axis))
        np.testing.assert_array_equal(kernels.logsumexp(x, axis, False), softmax.logsumexp(x, axis, False))


def test_a_wrong_axis_and_wrong_classes_are_refused():
    x = np.zeros((3, 4))
    for axis in (2, -3, (0, 0), (0, 2)):
        for name in ("softmax", "log_softmax"):
            with pytest.raises(ValueError):
                getattr(kernels, name)(x, axis)
    for target, error in (([0, 1, 4], IndexError), ([0, 1, -5], IndexError), ([0, 1], ValueError), ([0.0, 1.0, 2.0], TypeError)):
        with pytest.raises(error):
            kernels.cross_entropies(x, target, 1, -100)
        with pytest.raises(error):
            kernels.cross_entropies_backward(np.zeros(3), x, target, 1, -100)
    for backward in (kernels.softmax_backward, kernels.log_softmax_backward):
        with pytest.raises(ValueError):
            backward(np.zeros((4, 3)), x, 1)


def test_the_operands_are_left_as_they_were():
    x, g = arrays((300, 40), np.float32, 2)
    target = np.arange(-20, 280) % 40 - 10
    kept = [a.copy() for a in (x, g, target)]
    y = kernels.softmax(x, -1)
    kernels.softmax_backward(g, y, -1)
    kernels.cross_entropies(x, target, 1, 3)
    kernels.cross_entropies_backward(g[:, 0], y, target, 1, 3)
    for now, before in zip((x, g, target), kept):
        np.testing.assert_array_equal(now, before)


@pytest.mark.parametrize("shape", [(300, 1000), (20000, 10), (40, 9, 2000), (3, 70000), (1, 250, 400)])
def test_results_do_not_depend_on_the_number_of_threads(shape):
    x, g = arrays(shape, np.float32, 2)
    others = np.delete(shape, 1)
    target = np.random.default_rng(1).integers(-shape[1], shape[1], size=others)
    before, results = get_num_threads(), []
    try:
        for number in (1, 2, 3):
            set_num_threads(number)
            y = kernels.softmax(x, 1)
            results.append([
                y, kernels.log_softmax(x, 1), kernels.logsumexp(x, 1, False), kernels.softmax_backward(g, y, 1),
                kernels.log_softmax_backward(g, y, 1), kernels.logsumexp_backward(arrays(others, np.float32), x, 1, False),
                *kernels.cross_entropies(x, target, 1, 3),
                kernels.cross_entropies_backward(arrays(others, np.float32), y, target, 1, 3),
            ])
            x[-1] = np.nan  # the last part is for NumPy, and with it all
            assert np.isnan(kernels.softmax(x, 1)[-1]).all() and not np.isnan(kernels.softmax(x, 1)[:-1]).any()
            x[-1] = arrays(shape, np.float32, 2)[0][-1]
    finally:
        set_num_threads(before)
    for other in results[1:]:
        for found, expected in zip(other, results[0]):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [-1, 0])
@pytest.mark.parametrize("length", [4, 40])
def test_a_row_without_elements_leaves_the_digits_of_the_others(dtype, axis, length):
    """Rows of -inf are zeros within the loops: another path computes the last digits of all rows differently."""
    x = np.random.default_rng(length).normal(size=(length, length)).astype(dtype)
    masked = x.copy()
    np.moveaxis(masked, axis, -1)[1] = -np.inf
    whole, fewer = (np.moveaxis(kernels.softmax_or_zero(a, axis, False), axis, -1) for a in (x, masked))
    np.testing.assert_array_equal(np.delete(fewer, 1, 0), np.delete(whole, 1, 0))
    assert not fewer[1].any()

"""Sums, means, extremes and the ways back: NumPy's results, of sums to the bit, its warnings and its refusals."""

import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from gradspec.kernels.reductions import reductions
from tests.asked import each

DTYPES = ("f4", "f8", "c8", "c16", "f2", "i4", "?")
EVERY = [np.float32, np.float64, np.complex64, np.complex128, np.float16, np.int32, np.int64, np.bool_, ">f8"]
SHAPES = ((1,), (7,), (8,), (1000,), (3, 5), (40, 9), (9, 40), (130, 300), (2, 3, 4), (5, 1, 130), (3, 70, 2), (20000,), (6, 6000),
          *((1000, n, 1) for n in range(2, 8)))


def some(shape, dtype):
    rng = np.random.default_rng(len(shape) + sum(shape))
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def axes_of(ndim):
    return [None, *range(-ndim, ndim), *(axes for n in range(2, ndim + 1) for axes in itertools.combinations(range(ndim), n))]


def same(found, expected):
    expected = np.asarray(expected)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()


@each("dtype", DTYPES)
@each("shape", SHAPES, ids=str)
def test_sums_and_means_are_numpys_to_the_bit(shape, dtype):
    x = some(shape, dtype)
    for axis, keepdims in itertools.product(axes_of(x.ndim), (False, True)):
        same(np.asarray(kernels.sum_along(x, axis, keepdims)), np.sum(x, axis=axis, keepdims=keepdims))
        same(np.asarray(kernels.mean_along(x, axis, keepdims)), np.mean(x, axis=axis, keepdims=keepdims))


@each("dtype", ["f4", "f8", "c16", "f2", "i4"])
@each("shape", [(1,), (7,), (1000,), (9, 40), (2, 3, 4), (20000,), (3, 6000)], ids=str)
def test_sums_without_nan_are_numpys_to_the_bit(shape, dtype):
    x = some(shape, dtype)
    if x.dtype.kind != "i":
        x[np.random.default_rng(1).random(shape) < 0.2] = np.nan
    for axis, keepdims in itertools.product(axes_of(x.ndim), (False, True)):
        same(np.asarray(kernels.nansum(x, axis, keepdims)), np.nansum(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("value", [-0.0, np.nan, np.inf, -np.inf, 1e-310])
def test_special_values(value):
    x = np.full((3, 16), value)
    for axis in (None, 0, 1):
        same(np.asarray(kernels.sum_along(x, axis, False)), np.sum(x, axis=axis))
    for n in range(1, 8):
        x = np.full((2000, n), value)
        same(np.asarray(kernels.sum_along(x, 1, False)), np.sum(x, axis=1))


@pytest.mark.parametrize("layout", [lambda x: x[::-1], lambda x: x.T, lambda x: x[:, ::2], lambda x: x.astype(">f8")])
def test_other_layouts(layout):
    x = layout(some((8, 10), "f8"))
    for axis in (None, 0, 1):
        same(np.asarray(kernels.sum_along(x, axis, False)), np.sum(x, axis=axis))
        np.testing.assert_allclose(kernels.mean_along(x, axis, False), np.mean(x, axis=axis), rtol=1e-14)


def test_overflow_and_invalid_warn_as_numpy_does():
    with np.errstate(all="raise"):
        with pytest.raises(FloatingPointError, match="overflow"):
            kernels.sum_along(np.full(4, 1e308), None, False)
        with pytest.raises(FloatingPointError, match="invalid"):
            kernels.sum_along(np.array([[np.inf] * 9, [-np.inf] * 9]), 0, False)
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        kernels.mean_along(np.ones((0, 3)), 0, False)


@pytest.mark.parametrize("shape", [(), (1,), (4,), (3, 5), (2, 3, 4), (0, 3), (2, 1, 3)], ids=str)
def test_what_was_reduced_is_broadcast_back(shape):
    x = some(shape, "f8")
    for axis, keepdims in itertools.product(axes_of(x.ndim), (False, True)):
        y = np.asarray(np.sum(x, axis=axis, keepdims=keepdims))
        found = kernels.unreduce(y, shape, axis, keepdims)
        same(np.array(found, order="C"), np.broadcast_to(np.sum(x, axis=axis, keepdims=True), shape))
        assert found.size == 0 or np.shares_memory(found, y) and not found.flags.writeable


@pytest.mark.parametrize("y, axis, keepdims", [((2,), 1, False), ((4, 1), 1, True), ((3, 2), (), False)])
def test_what_does_not_fit_is_refused(y, axis, keepdims):
    with pytest.raises(ValueError):
        kernels.unreduce(np.ones(y), (3, 4), axis, keepdims)


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4), (40, 9), (2, 1, 3)], ids=str)
def test_sums_to_every_shape_that_is_broadcast(shape):
    x = some(shape, "f8")
    for kept in itertools.product((True, False), repeat=len(shape)):
        for drop in range(len(shape) + 1):
            if any(kept[:drop]):
                continue
            target = tuple(n if keep else 1 for n, keep in zip(shape, kept))[drop:]
            axes = tuple(i for i, keep in enumerate(kept) if not keep and (i < drop or shape[i] != 1))
            found = kernels.sum_to(x, target)
            same(found, np.sum(x, axis=axes, keepdims=True).reshape(target))
            assert not np.shares_memory(found, x)


def layouts(x):
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, -1)[..., ::2]
    yield np.flip(np.ascontiguousarray(np.flip(x)))
    yield np.ascontiguousarray(x[::-1])[::-1]
    yield np.concatenate([x[..., :1], x], -1)[..., 1:]  # rows equally far apart
    frozen = x.copy()
    frozen.flags.writeable = False
    yield frozen


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = 4 * rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


@each("dtype", EVERY)
@each("shape", [(300, 2), (300, 3), (200, 7), (100, 8), (9, 10, 2, 5, 2), (5, 2), (40, 30, 1), (40, 0), (600,), (40, 100), (6, 50, 33)])
def test_reductions_are_numpys(shape, dtype):
    n = len(shape)
    axes = [None, *range(-n, n), (0, -1), (-1,), tuple(range(n)), (n - 1, max(n - 3, 0)), (-1, -n)]
    for x in layouts(numbers(shape, dtype)):
        for axis in axes:
            if type(axis) is tuple and len({i % n for i in axis}) < len(axis):
                continue
            for keepdims in (False, True):
                found, expected = kernels.sum_along(x, axis, keepdims), np.sum(x, axis=axis, keepdims=keepdims)
                assert found.shape == expected.shape and found.dtype == expected.dtype
                if type(axis) is int:
                    np.testing.assert_array_equal(found, expected)
                else:
                    eps = np.finfo(found.dtype).eps if found.dtype.kind in "fc" else 0
                    np.testing.assert_allclose(found, expected, rtol=0, atol=eps * np.abs(x).astype(np.longdouble).sum() / 4)
                if np.dtype(dtype).kind != "c" and x.size:
                    for ours, theirs in ((kernels.max_along, np.max), (kernels.min_along, np.min)):
                        found, expected = ours(x, axis, keepdims), theirs(x, axis=axis, keepdims=keepdims)
                        assert found.dtype == expected.dtype
                        np.testing.assert_array_equal(found, expected, strict=isinstance(found, np.ndarray))


@each("dtype", [np.float32, np.float64])
@each("shape", [(1,), (2,), (33,), (5, 70), (300, 40), (7, 3, 50)])
def test_nan_wins_wherever_it_stands(shape, dtype):
    random = np.random.default_rng(1)
    for place in (0, 1, -1, *random.integers(0, np.prod(shape), 12)):
        x = numbers(shape, dtype, 2)
        x.flat[place % x.size] = np.nan
        for axis in (None, *range(len(shape))):
            for ours, theirs in ((kernels.max_along, np.max), (kernels.min_along, np.min)):
                np.testing.assert_array_equal(ours(x, axis, False), theirs(x, axis=axis))


def test_nan_wins_and_infinities_warn_as_in_numpy():
    x = numbers((300, 3), np.float64)
    x[5, 1] = x[7, 0] = np.nan
    for ours, theirs in ((kernels.max_along, np.max), (kernels.min_along, np.min), (kernels.sum_along, np.sum)):
        np.testing.assert_array_equal(ours(x, -1, False), theirs(x, axis=-1))
    x[9] = np.inf, -np.inf, 0
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        kernels.sum_along(x, -1, False)


def test_wrong_axes_are_refused():
    x = np.zeros((300, 2))
    for axis in (2, -3, (1, 1), (1, -1), (0, 2)):
        with pytest.raises(ValueError):
            kernels.sum_along(x, axis, False)
    with pytest.raises(ValueError):
        kernels.max_along(np.zeros((300, 0)), 1, False)


def test_short_axes_are_folded():
    """Where they are not, everything above holds and nothing is gained."""
    calls = []

    class Spy:
        def __call__(self, a, b, out=None):
            calls.append(a.shape)
            return np.add(a, b, out=out)

        reduce = staticmethod(np.add.reduce)

    reductions._reduced(Spy(), np.ones((300, 2, 3)), (1, 2), False)
    assert calls == [(300, 2), (300, 2), (300,)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_rows_that_overlap_are_numpys_to_the_bit(dtype):
    x = numbers((300, 40), dtype)
    windows = np.lib.stride_tricks.sliding_window_view(x[0], 7)
    for rows in (np.broadcast_to(x[0], x.shape), windows, windows[::7], windows[::9], x[::-2, 3:-3], x[:, None, 1:]):
        for ours, theirs in ((kernels.sum_along, np.sum), (kernels.max_along, np.max), (kernels.mean_along, np.mean)):
            np.testing.assert_array_equal(ours(rows, -1, False), theirs(rows, axis=-1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_every_length_have_numpys_bits(dtype):
    """Of one row, of several, and of halves that are not alike; zeros and infinities too."""
    rng = np.random.default_rng(0)
    numbers = (rng.normal(size=40000) * 10.0 ** rng.integers(-6, 6, 40000)).astype(dtype)
    for n in [*range(1, 600), 1000, 1023, 1025, 4095, 4097, 12345, 20000]:
        x = numbers[: 2 * n].reshape(2, n)
        for rows in (x[0], x):
            np.testing.assert_array_equal(kernels.sum_along(rows.copy(), -1, False), np.sum(rows, axis=-1))
    for x in (np.full(300, -0.0), np.array([np.inf, 1.0] * 100), np.array([np.inf, -np.inf]), np.full(200, np.finfo(dtype).max)):
        with np.errstate(all="ignore"):
            found, expected = kernels.sum_along(x.astype(dtype), None, False), np.sum(x.astype(dtype))
        np.testing.assert_array_equal(found, expected)
        assert np.signbit(found) == np.signbit(expected) or np.isnan(found)


PIECE = 1 << 14  # most numbers of a long row that a thread adds at a time
LENGTHS = [PIECE - 1, PIECE, PIECE + 1, 2 * PIECE - 1, 2 * PIECE + 17, 4 * PIECE, 8 * PIECE + 1]
LENGTHS += np.random.default_rng(2).integers(PIECE, 300_000, 4).tolist()


@each("dtype", ["f4", "f8", "c8", "c16"])
@each("n", LENGTHS)
def test_large_sums_have_numpys_bits_on_any_number_of_threads(n, dtype):
    """Of long rows, and of more columns than are added at a time; with zeros of either sign, infinities and NaN too."""
    before = gs.get_num_threads()
    try:
        for shape in ((n,), (2, n), (n // 7, 7), (n // 127, 127), (n // 301, 301), (2, n // 602, 301), (3, n // 5000, 5000)):
            x = some(shape, dtype)
            x.flat[::7] = -0.0
            holes = np.where(np.arange(x.size).reshape(shape) % 11 == 3, np.nan, x).astype(dtype)
            for axis, threads in itertools.product((None, *range(len(shape))), (1, 2, 3, 7)):
                gs.set_num_threads(threads)
                same(np.asarray(kernels.sum_along(x, axis, False)), np.sum(x, axis=axis))
                same(np.asarray(kernels.mean_along(x, axis, False)), np.mean(x, axis=axis))
                same(np.asarray(kernels.nansum(holes, axis, False)), np.nansum(holes, axis=axis))
                same(np.asarray(kernels.max_along(x.real, axis, False)), np.max(x.real, axis=axis))
    finally:
        gs.set_num_threads(before)


@each("dtype", [np.float32, np.float64])
def test_large_sums_of_infinities_warn_as_numpys_do(dtype):
    x = np.zeros((3, 70_000), dtype)
    assert np.signbit(kernels.sum_along(-x, None, False)) == np.signbit(np.sum(-x))
    x[1, 9], x[1, -9] = np.inf, -np.inf
    for axis in (None, 1):
        with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
            kernels.sum_along(x, axis, False)
    x[1, 9] = 0
    np.testing.assert_array_equal(kernels.sum_along(x, 1, False), [0, -np.inf, 0])

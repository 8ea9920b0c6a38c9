"""Reductions over short axes and the few largest of a row, against NumPy's: layouts, dtypes, axes."""

import numpy as np
import pytest

from gradspec import kernels
from gradspec.kernels.reductions import folds
from gradspec.kernels.reductions.sorting_loops import select_along_rows

DTYPES = [np.float32, np.float64, np.complex64, np.complex128, np.float16, np.int32, np.int64, np.bool_, ">f8"]


def layouts(x):
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, -1)[..., ::2]
    yield np.flip(np.ascontiguousarray(np.flip(x)))
    frozen = x.copy()
    frozen.flags.writeable = False
    yield frozen


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = 4 * rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(300, 2), (300, 3), (200, 7), (100, 8), (9, 10, 2, 5, 2), (5, 2), (40, 30, 1), (40, 0), (600,), (40, 100), (6, 50, 33)])
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1,), (2,), (33,), (5, 70), (300, 40), (7, 3, 50)])
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

    folds._reduced(Spy(), np.ones((300, 2, 3)), (1, 2), False)
    assert calls == [(300, 2), (300, 2), (300,)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int16, ">f4", np.float16])
@pytest.mark.parametrize("largest", [True, False])
def test_topk_is_the_start_of_a_stable_sort(largest, dtype):
    rng = np.random.default_rng(0)
    for shape in ((50,), (7, 30), (4, 5, 40)):
        for high in (3, 1000):
            x = rng.integers(-high, high, size=shape).astype(dtype)
            if x.dtype.kind == "f":
                x[..., ::7], x[..., 3::9] = np.nan, np.inf
            for laid in layouts(x):
                for axis in range(-1, x.ndim - 1):
                    order = kernels.argsort(x, axis, largest, True)
                    for k in range(0, x.shape[axis] + 1):
                        values, places = kernels.topk(laid, k, axis, largest)
                        expected = np.take(order, range(k), axis)
                        np.testing.assert_array_equal(places, expected)
                        np.testing.assert_array_equal(values, np.take_along_axis(x, expected, axis))
                        assert values.dtype == x.dtype


def test_rows_are_selected_from():
    assert select_along_rows(np.zeros((3, 5)), 2, True) is not None
    assert select_along_rows(np.zeros((3, 5), np.float16), 2, True) is None

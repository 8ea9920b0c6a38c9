"""Orders, and the few largest of a row, against a stable sort: layouts, dtypes, axes."""

import numpy as np

import gradspec as gs
from gradspec import kernels
from gradspec.kernels.reductions.sorting_loops import select_along_rows
from tests.asked import each


def layouts(x):
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, -1)[..., ::2]
    yield np.flip(np.ascontiguousarray(np.flip(x)))
    frozen = x.copy()
    frozen.flags.writeable = False
    yield frozen


@each("dtype", [np.float32, np.float64, np.int64, np.int16, ">f4", np.float16])
@each("largest", [True, False])
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


@each("dtype", [np.float32, np.float64, np.int64, ">f8", ">f4", np.float16])
@each("ties", [False, True])
@each("descending", [False, True])
def test_orders_are_stable_whether_elements_are_equal_or_not(descending, ties, dtype):
    rng = np.random.default_rng(0)
    for shape in ((2000,), (3, 500), (300, 4), (0, 3), (200, 0)):
        count = int(np.prod(shape))
        x = (rng.permutation(count) - count // 2).reshape(shape).astype(dtype)
        if ties:
            x = x // 3
            if x.dtype.kind == "f" and x.size:
                tiny = np.finfo(dtype).smallest_subnormal
                x.flat[2::70], x.flat[3::80], x.flat[4::30], x.flat[5::35] = -np.inf, -np.float64(np.nan), tiny, -tiny
                x.flat[::50], x.flat[1::60] = np.nan, np.where(x.flat[1::60] > 9, 0.0, -0.0)
        for laid in layouts(x):
            for axis in range(x.ndim):
                order = kernels.argsort(laid, axis, descending, True)
                turned = np.flip(x, axis) if descending else x
                expected = np.argsort(turned, axis, stable=True)
                expected = x.shape[axis] - 1 - np.flip(expected, axis) if descending else expected
                assert np.array_equal(order, expected)
                found, values = kernels.sort(laid, axis, descending, True), np.take_along_axis(x, expected, axis)
                np.testing.assert_array_equal(found, values)
                assert np.array_equal(np.signbit(found), np.signbit(values)) or np.isnan(values).any()
        assert np.array_equal(kernels.first_places(x), np.unique(x, return_index=True)[1])


def test_the_median_of_many_is_no_stable_sort(monkeypatch):
    """Without a record no order is asked for; with one, one that is not stable where no elements are equal, and only once."""
    asked = []
    argsort = np.argsort
    monkeypatch.setattr(np, "argsort", lambda x, axis=-1, stable=False: asked.append(stable) or argsort(x, axis, stable=stable))
    x = gs.tensor(np.random.default_rng(0).normal(size=2001), requires_grad=True)
    gs.median(x.detach())
    assert asked == []
    gs.median(x).backward()
    assert asked == [False]
    assert np.flatnonzero(x.grad.numpy()).tolist() == [argsort(x.detach().numpy())[1000]]

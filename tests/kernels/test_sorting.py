"""The few largest of a row against a stable sort: layouts, dtypes, axes."""

import numpy as np
import pytest

from gradspec import kernels
from gradspec.kernels.reductions.sorting_loops import select_along_rows


def layouts(x):
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, -1)[..., ::2]
    yield np.flip(np.ascontiguousarray(np.flip(x)))
    frozen = x.copy()
    frozen.flags.writeable = False
    yield frozen


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

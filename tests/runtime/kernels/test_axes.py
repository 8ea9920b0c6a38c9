"""kernels.axes: the views that NumPy gives, and its errors where nothing fits."""

import itertools
import re

import numpy as np
import pytest

from gradspec import kernels

ARRAYS = [
    np.arange(24.0).reshape(2, 3, 4), np.arange(24.0).reshape(4, 6).T[::-1, ::2], np.array(1.5), np.zeros((0, 3)),
    np.ones((3, 1), np.complex64), np.ma.masked_array([1.0, 2.0]),
]  # fmt: skip


def is_the_view(found, expected, base):
    assert type(found) is type(expected) and found.dtype == expected.dtype and found.shape == expected.shape
    assert found.flags.writeable == expected.flags.writeable
    assert found.size == 0 or np.shares_memory(found, base)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("x", ARRAYS)
def test_expand_dims(x):
    ends = range(-x.ndim - 3, x.ndim + 3)
    for axis in [*ends, *itertools.product(ends, ends), (), (0, 1, 2), (True,), (np.int64(0),), 1.0, (np.int64(-1), 0)]:
        try:
            expected = np.expand_dims(x, axis)
        except (ValueError, TypeError) as error:
            with pytest.raises(type(error)):
                kernels.expand_dims(x, axis)
        else:
            is_the_view(kernels.expand_dims(x, axis), expected, x)


@pytest.mark.parametrize("x", ARRAYS)
def test_broadcast_to(x):
    shapes = [x.shape, (2, *x.shape), (0, *x.shape), (3, 5), (3,), (), (0, 3), (2, 3, 4), 3, [2, 3, 4], (np.int64(3), 5), (-1, 3)]
    for shape in shapes:
        try:
            expected = np.broadcast_to(x, shape)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                kernels.broadcast_to(x, shape)
        else:
            is_the_view(kernels.broadcast_to(x, shape), expected, x)


@pytest.mark.parametrize("x", ARRAYS)
def test_reshape(x):
    for shape in [(-1,), (), (x.size,), (2, -1), (3, -1, 2), x.shape[::-1], (7,), (-1, -1)]:
        try:
            expected = np.reshape(x, shape)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                kernels.reshape(x, shape)
        else:
            found = kernels.reshape(x, shape)
            assert np.shares_memory(found, x) == np.shares_memory(expected, x)
            assert type(found) is type(expected) and found.flags.writeable == expected.flags.writeable
            np.testing.assert_array_equal(found, expected)


def test_read_only_memory_stays_so():
    x = np.arange(3.0)
    x.flags.writeable = False
    assert not kernels.expand_dims(x, 0).flags.writeable

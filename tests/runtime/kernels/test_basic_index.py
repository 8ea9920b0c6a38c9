"""Indices without arrays: views, and writes that read first what they overwrite."""

import numpy as np
import pytest

from gradspec import kernels
from gradspec.kernels.indexing import indexing
from tests.asked import each

INDICES = [1, -1, slice(None), slice(3, None, -2), None, Ellipsis, (1, 2), (slice(1, 3), None, 0), (..., 0), (0, ..., 1), (), (2, 3, ...)]


@each("index", INDICES, ids=str)
def test_an_element_is_a_view_too(index):
    x = np.arange(20.0).reshape(4, 5)
    found = kernels.getitem(x, index)
    np.testing.assert_array_equal(found, x[index])
    assert type(found) is np.ndarray and np.shares_memory(found, x)
    np.testing.assert_array_equal(found, indexing.getitem(x, index), strict=True)


@each("index", INDICES, ids=str)
def test_the_adjoints_are_those_of_every_index(index):
    x = np.arange(20.0).reshape(4, 5)
    grad = np.asarray(x[index]) + 1
    np.testing.assert_array_equal(kernels.getitem_backward(grad, index, x.shape), indexing.getitem_backward(grad, index, x.shape))
    for shape in {grad.shape, ()}:
        found = kernels.index_put_backward(x, index, shape)
        np.testing.assert_array_equal(found, indexing.index_put_backward(x, index, shape))
        assert not np.shares_memory(found, x)


@pytest.mark.parametrize("index, source", [(slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None)), (slice(None), slice(None, None, -1)),
                                           (np.array([1, 2, 3]), np.array([0, 1, 2]))], ids=str)  # fmt: skip
def test_what_is_overwritten_is_read_first(index, source):
    x = np.arange(4.0)
    expected = x.copy()
    expected[index] = x[source].copy()
    np.testing.assert_array_equal(kernels.index_put_(x, index, x[source]), expected)
    y = np.arange(12.0).reshape(4, 3)
    expected = np.array(y[::-1])
    np.testing.assert_array_equal(kernels.copy_(y, y[::-1]), expected)


def test_a_copy_is_written_to():
    x = np.zeros(3)
    assert kernels.index_put(x, 1, 5.0).tolist() == [0, 5, 0] and not x.any()

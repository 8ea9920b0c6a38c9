"""Indices without arrays: views, and writes that read first what they overwrite."""

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from gradspec.kernels.indexing import indexing
from tests.asked import each

INDICES = [
    1,
    -1,
    slice(None),
    slice(3, None, -2),
    None,
    Ellipsis,
    (1, 2),
    (slice(1, 3), None, 0),
    (..., 0),
    (0, ..., 1),
    (),
    (2, 3, ...),
]


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


ROWS, COLUMNS = np.array([0, 1, 1]), np.array([1, 0, 1])
LISTS = [[0, 1], [[0, 1], [1, 0]], [ROWS, COLUMNS], [[0, 1, 1], COLUMNS], [(0, 1), (1, 0)], ([0, 1], [1, 0]), [[[0]]], [], [[]], [True, False],
         [np.int64(1), 0], ([[0], [1]], [0, 2]), np.nonzero(np.eye(2, 3))]  # fmt: skip


@each("index", LISTS, ids=str)
@each("kind", [np.asarray, gs.tensor])
def test_a_list_is_one_array_of_positions_as_in_numpy(index, kind):
    """Whatever the list contains: PyTorch 2.13 reads a list of sequences as a tuple, and warns that this will change."""
    a = np.arange(24.0).reshape(2, 3, 4)
    expected, written = a[index], a.copy()
    chosen = np.bincount(np.arange(a.size).reshape(a.shape)[index].ravel(), minlength=a.size).reshape(a.shape)
    written[index] = -1
    index = type(index)(kind(part) if isinstance(part, np.ndarray) else part for part in index)
    x = gs.tensor(a, requires_grad=True)
    found = x[index]
    np.testing.assert_array_equal(found.detach(), expected, strict=True)
    found.sum().backward()
    np.testing.assert_array_equal(x.grad, chosen)
    compiled = gs.compile(lambda x: x[index])
    for call in (compiled, compiled, gs.vmap(lambda x: x[index])):
        rows = x.detach()[None] if call is not compiled else x.detach()
        np.testing.assert_array_equal(call(rows).numpy().reshape(expected.shape), expected)
    y = gs.tensor(a)
    y[index] = -1.0
    np.testing.assert_array_equal(y, written)


def test_indices_of_all_axes_are_an_index():
    x = gs.tensor([[0.0, 2.0], [3.0, 0.0]])
    assert type(gs.nonzero(x)) is type(x.nonzero()) is type(gs.unravel_index([1, 2], (2, 2))) is tuple
    assert x[gs.nonzero(x)].tolist() == [2, 3] and x[gs.unravel_index([1, 2], (2, 2))].tolist() == [2, 3]
    assert gs.compile(lambda x: x[gs.unravel_index([1, 2], (2, 2))])(x).tolist() == [2, 3]

"""Places along axes against NumPy's functions of whole arrays, and against their definitions."""

import itertools

import numpy as np
import pytest

from gradspec.kernels.indexing import axis_positions
from tests.asked import each

SHAPES = [(5,), (1,), (0,), (3, 4), (2, 3, 2), (4, 0)]


def indices(length, ends):
    """Every number, negative ones too, every pair of them, slices, masks; `ends` is 1 where the length itself is one."""
    numbers = range(-length, length + ends)
    yield from numbers
    yield from (list(pair) for pair in itertools.product(numbers, repeat=2))
    yield np.array([], int)
    for start, stop, step in itertools.product((None, 1, -2), (None, 2, -1), (None, 2, -1)):
        yield slice(start, stop, step)
    yield from (np.array(mask, bool) for mask in itertools.product((False, True), repeat=length))


@each("length", [0, 1, 2, 4])
def test_insertions_are_numpys(length):
    for index in indices(length, 1):
        count = np.arange(length)[index].size if not isinstance(index, (int, list)) else np.size(index)
        for new in {count, 3 if count == 1 else count}:
            expected = np.insert(np.arange(length), index, np.arange(length, length + new))
            np.testing.assert_array_equal(axis_positions.insert_order(index, length, new), expected, err_msg=str(index))
    with pytest.raises(TypeError):
        axis_positions.insert_order([0.5], 3, 1)


@each("length", [0, 1, 2, 4])
def test_deletions_are_numpys(length):
    for index in indices(length, 0):
        np.testing.assert_array_equal(axis_positions.kept(index, length), np.delete(np.arange(length), index), err_msg=str(index))


@each("shape", SHAPES)
def test_along_each_axis(shape):
    x = np.random.default_rng(0).integers(0, 3, shape)
    for axis in range(-len(shape), len(shape)):
        rows = np.moveaxis(x, axis, -1)
        begins = np.moveaxis(axis_positions.run_begins(x, axis), axis, -1)
        for at in np.ndindex(rows.shape):
            assert begins[at] == (at[-1] == 0 or rows[at] != rows[(*at[:-1], at[-1] - 1)])
        spread = axis_positions.spread_index(np.arange(shape[axis]) * 2, shape, axis)
        assert spread.shape == shape and (np.moveaxis(spread, axis, -1) == 2 * np.arange(shape[axis])).all()
        if shape[axis]:
            last = axis_positions.mode_place(x, axis)
            found = np.moveaxis(np.take_along_axis(x, last, axis), axis, -1)
            for at in np.ndindex(rows.shape[:-1]):
                values, counts = np.unique(rows[at], return_counts=True)
                assert found[at] == values[np.argmax(counts)]
                assert np.moveaxis(last, axis, -1)[at] == np.flatnonzero(rows[at] == found[at])[-1]
            n = shape[axis]
            np.testing.assert_array_equal(axis_positions.places_along([-n, -1, 0, n - 1], axis, shape), [0, n - 1, 0, n - 1])


def test_a_number_has_one_place():
    np.testing.assert_array_equal(axis_positions.places_along([-1, 0], 0, ()), [0, 0])
    assert axis_positions.spread_index(0, (), 0).shape == ()
    for part, expected in zip(axis_positions.unravel_index([0, 5, 23], (2, 3, 4)), np.unravel_index([0, 5, 23], (2, 3, 4)), strict=True):
        np.testing.assert_array_equal(part, expected)
    assert all(type(part) is np.ndarray for part in axis_positions.unravel_index(5, (2, 3)))

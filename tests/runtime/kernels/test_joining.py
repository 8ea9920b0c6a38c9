"""Arrays laid side by side and taken apart: what NumPy does, whatever is joined."""

import numpy as np
import pytest

from gradspec import kernels
from tests.asked import each

RNG = np.random.default_rng(0)
DTYPES = ("float32", "float64", "complex64", "complex128", "int64", "bool", "float16", ">f8")
LAYOUTS = {
    "plain": lambda x: x,
    "fortran": np.asfortranarray,
    "reversed": lambda x: np.flip(x).copy()[(slice(None, None, -1),) * x.ndim],
    "strided": lambda x: np.repeat(x, 2, -1)[..., ::2] if x.ndim else x,
}


def some(shape, dtype, layout):
    return LAYOUTS[layout](RNG.normal(size=shape).round(2).astype(dtype))


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert np.array_equal(found, expected)


@each("shape", [(), (0,), (1,), (3,), (2, 3), (4, 0, 2), (2, 3, 4), (70, 80)])
@each("dtype", DTYPES)
@each("layout", LAYOUTS)
def test_stacks_are_numpys(shape, dtype, layout):
    for count in (1, 2, 5):
        arrays = [some(shape, dtype, layout) for _ in range(count)]
        for axis in range(-len(shape) - 1, len(shape) + 1):
            y = kernels.stack(arrays, axis)
            same(y, np.stack(arrays, axis))
            parts = kernels.unstack(y, axis)
            assert len(parts) == count
            for part, array in zip(parts, arrays):
                same(part, array.astype(y.dtype))
                assert type(part) is np.ndarray and (np.shares_memory(part, y) or part.size == 0)


@each("dtype", DTYPES)
@each("layout", LAYOUTS)
@each("axis", [0, 1, -1, None])
def test_rows_of_arrays_are_numpys(dtype, layout, axis):
    for lengths in ((1,), (2, 0, 3), (1, 1), (40, 90)):
        shapes = [(length, 3, 2) if axis == 0 else (3, length, 2) if axis == 1 else (3, 2, length) for length in lengths]
        arrays = [some(shape, dtype, layout) for shape in shapes]
        y = kernels.concatenate(arrays, axis)
        same(y, np.concatenate(arrays, axis))
        for part, array in zip(kernels.concat_backward(y, shapes, axis), arrays):
            same(part, array.astype(y.dtype))
            assert np.shares_memory(part, y) or part.size == 0


def test_what_differs_is_left_to_numpy():
    for others in (np.array([["a", "bc"]]), np.array([[None, "x"]])):
        same(kernels.concatenate([others, others], 0), np.concatenate([others, others], 0))
    single, double = np.ones((2, 3), np.float32), np.ones((2, 3))
    same(kernels.stack([single, double], 0), np.stack([single, double]))
    same(kernels.concatenate([single, double], 1), np.concatenate([single, double], 1))
    for call in (lambda: kernels.stack([], 0), lambda: kernels.stack([double], 3), lambda: kernels.stack([double], -4),
                 lambda: kernels.stack([double, double.T], 0), lambda: kernels.concatenate([double, double.T], 0),
                 lambda: kernels.concatenate([np.ones(()), np.ones(())], 0), lambda: kernels.unstack(double, 2),
                 lambda: kernels.concat_backward(double, [(3, 3)], 0)):  # fmt: skip
        with pytest.raises(ValueError):
            call()


def test_parts_are_written_to_as_their_whole_may_be():
    whole = np.ones((2, 3))
    kernels.unstack(whole, 0)[1][...] = 2
    assert whole[1].tolist() == [2, 2, 2]
    whole.flags.writeable = False
    assert not any(part.flags.writeable for part in kernels.unstack(whole, 1))


@each("widths", [0, 2, (1, 0), ((0, 2), (3, 1)), [[1, 2]]])
@each("value", [0, 2.5, -1, float("nan")])
def test_constants_around_an_array_are_numpys(widths, value):
    for x in (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.ones((2, 3), np.float32)), np.ones((0, 3)), np.ones((2, 3), "F")):
        found, expected = kernels.pad(x, widths, "constant", value), np.pad(x, widths, constant_values=value)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@each(("shape", "sections", "axis"), [((6, 4), 3, 0), ((6, 4), np.int64(2), -1), ((5,), [1, 3], 0), ((3, 5), (0, 2, 9), 1), ((3, 5), np.array([-2]), -1),
                                      ((4, 3), [], 0), ((0, 3), 2, 0), ((2, 3), np.array(3), 1), ((4,), [3, 1], 0)])  # fmt: skip
def test_parts_are_numpys_views(shape, sections, axis):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    found, wanted = kernels.split(x, sections, axis), np.split(x, sections, axis)
    assert len(found) == len(wanted) and all(np.array_equal(a, b) and a.shape == b.shape for a, b in zip(found, wanted))
    assert all(part.base is not None for part in found) and all(np.array_equal(a, b) for a, b in zip(kernels.split_copies(x, sections, axis), wanted))


@each(("sections", "error", "says"), [(5, ValueError, "does not result in an equal division"), (0, ValueError, "must be larger than 0"),
                                      (1.5, TypeError, "integer"), ([0.5], TypeError, "integer")])  # fmt: skip
def test_parts_that_there_are_not(sections, error, says):
    with pytest.raises(error, match=says):
        kernels.split(np.zeros((4, 3)), sections, 0)


def test_what_pad_copied_goes_back_to_where_it_came_from():
    """The adjoint of NumPy's padding, which is linear."""
    rng = np.random.default_rng(0)
    x, widths = rng.normal(size=(3, 4)), ((1, 2), (0, 3))
    for mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
        padded = np.pad(x, widths, mode)
        g = rng.normal(size=padded.shape)
        back = kernels.pad_backward(g, x.shape, widths, mode)
        assert back.shape == x.shape
        np.testing.assert_allclose(np.sum(padded * g), np.sum(x * back), rtol=1e-12)

"""Copies into parts of arrays: what NumPy's assignment does, for any layout, size and number of threads."""

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from gradspec.kernels.loops.copying import copy_into, copy_of, zeros_of
from tests.asked import each

DTYPES = ("float32", "float64", "complex64", "complex128", "int64", "bool", "float16", ">f8")
# shape of the target, its part, and the shape of the source
COPIES = [
    ((), ..., ()),
    ((0, 3), ..., (0, 3)),
    ((5, 7), (slice(1, 4), slice(2, 6)), (3, 4)),
    ((300, 1000), (slice(1, -1), slice(3, -4)), (298, 993)),
    ((300, 1000), (slice(None, None, 2),), (150, 1000)),
    ((300, 1000), (slice(None, None, -1),), (300, 1000)),
    ((300, 1000), (slice(None), slice(None, None, -1)), (300, 1000)),
    ((1000, 300), ..., (300,)),
    ((1000, 300, 3), ..., (1000, 300, 1)),
    ((1000, 300, 5), (..., slice(1, 4)), (1000, 300, 3)),
    ((300, 1000), (slice(None), slice(None, None, 3)), (300, 334)),
    ((40, 50, 60, 2), (slice(None, None, -1), ..., slice(None, None, -1)), (40, 50, 1, 2)),
    ((3, 400, 5, 200), ..., (400, 1, 200)),
    ((4, 1, 100_000), ..., (100_000,)),
    ((262_145,), slice(1, None), (262_144,)),
    ((262_145,), ..., ()),
]


@pytest.fixture(autouse=True)
def threads():
    before = gs.get_num_threads()
    yield
    gs.set_num_threads(before)


@each("dtype", DTYPES)
@each("number", (1, 3))
def test_a_copy_is_numpys(dtype, number):
    gs.set_num_threads(number)
    rng = np.random.default_rng(number)
    for shape, part, given in COPIES:
        source = rng.normal(size=given).round(2).astype(dtype)
        for value in (source, source.T.copy().T, np.repeat(source, 2, -1)[..., ::2] if given else source, source.real.astype("float64")):
            found, expected = (np.full(shape, 7, dtype) for _ in range(2))
            copy_into(found[part], value)
            expected[part] = value
            assert np.array_equal(found, expected), (shape, part)
        copied = np.empty(shape[::-1], dtype).T
        assert np.array_equal(copy_into(copied, expected), expected), shape
        assert np.array_equal(copy_of(copied), expected) and copy_of(copied).flags.c_contiguous, shape
        copy_into(found[part], 1.0)
        expected[part] = 1
        assert np.array_equal(found, expected), (shape, part)


@each("dtype", DTYPES)
def test_zeros_are_numpys(dtype):
    for shape in ((), (0, 3), (5, 7), (300, 1000)):
        x = np.ones(shape, dtype)
        for like in (x, x.T, np.broadcast_to(x[..., :1], shape) if shape else x):
            assert np.array_equal(zeros_of(shape, like), np.zeros(shape, dtype))
            assert zeros_of(shape, like).dtype == like.dtype
        with pytest.raises(ValueError):
            zeros_of((-1, 3), x)


@each("dtype", DTYPES)
def test_a_number_is_copied_to_an_array(dtype):
    number = np.ones((), dtype)[()]  # as an index gives it
    found, expected = copy_of(number), np.array(number)
    assert type(found) is np.ndarray and found.dtype == expected.dtype and np.array_equal(found, expected)


@each("axis", (None, 0, 1, -1, 2))
def test_repeated_slices_are_numpys(axis):
    for shape in ((3, 4, 5), (30, 40, 50)):
        x = np.random.default_rng(0).normal(size=shape)
        for repeats in (0, 1, 2, 3, [2], np.arange(x.size if axis is None else shape[axis]) % 3):
            assert np.array_equal(kernels.repeat(x, repeats, axis), np.repeat(x, repeats, axis))


def test_refusals_are_numpys():
    fixed = np.zeros((300, 1000))
    fixed.flags.writeable = False
    for target, source in ((fixed, np.ones(1000)), (np.zeros((300, 1000)), np.ones((299, 1000))), (np.zeros(3), np.ones((2, 3)))):
        with pytest.raises(ValueError):
            copy_into(target, source)


@each("dtype", ("float32", "float64", "int64"))
def test_large_arrays_are_joined_padded_rolled_and_tiled_as_numpys(dtype):
    x, other = (np.random.default_rng(i).normal(size=(300, 500)).round(2).astype(dtype) for i in range(2))
    for axis in (0, 1, -1):
        assert np.array_equal(kernels.concatenate([x, other, x], axis), np.concatenate([x, other, x], axis))
        assert np.array_equal(kernels.stack([x, other], axis), np.stack([x, other], axis))
        assert np.array_equal(kernels.roll(x, 7, axis), np.roll(x, 7, axis))
    for widths in (1, ((0, 2), (3, 0))):
        assert np.array_equal(kernels.pad(x, widths, "constant", 2), np.pad(x, widths, constant_values=2))
    for reps in ((2,), (2, 3), (3, 1, 2), (1, 0), (0,)):
        assert np.array_equal(kernels.tile(x, reps), np.tile(x, reps))
    for small in (np.array(3.0), np.zeros((2, 0)), np.arange(3)):
        for reps in ((), (2,), (2, 1, 3)):
            assert np.array_equal(kernels.tile(small, reps), np.tile(small, reps))
            assert kernels.tile(small, reps).shape == np.tile(small, reps).shape
    with pytest.raises(ValueError):
        kernels.tile(x, (-1, 2))


@each("dtype", DTYPES)
@each("number", (1, 3))
@each("shape", ((), (0, 3), (7, 5), (300, 1001)), ids=str)
def test_a_fill_is_numpys(dtype, number, shape):
    gs.set_num_threads(number)
    plain = np.zeros(shape, dtype)
    for x in (plain, plain.T, plain[..., ::2] if shape else plain, np.broadcast_to(np.zeros((), dtype), shape)):
        for value in (0, 1, -0.0, 2.5, np.nan) if plain.dtype.kind in "fc" else (0, 1):
            for found, expected in (
                (kernels.full_like(x, value, None), np.full_like(x, value)),
                (kernels.full_like(x, value, np.dtype("c16")), np.full_like(x, value, "c16")),
                (kernels.full(x.shape, value, np.dtype(dtype)), np.full(x.shape, value, dtype)),
            ):
                assert found.dtype == expected.dtype and found.strides == expected.strides, (x.strides, value)
                assert found.tobytes() == expected.tobytes() and found.flags.writeable, (x.strides, value)


@each("dtype", DTYPES)
@each("shape", ((), (0, 3), (7, 5), (300, 1001)), ids=str)
def test_memory_without_values_has_the_layout_of_numpys(dtype, shape):
    """And begins, if it is large, at a page, as results do: a loop takes twice the time for an `out=` that does not."""
    plain = np.zeros(shape, dtype)
    for x in (plain, plain.T, plain[..., ::2] if shape else plain, np.broadcast_to(np.zeros((), dtype), shape)):
        for found, expected in (
            (kernels.empty_like(x, None), np.empty_like(x)),
            (kernels.empty_like(x, np.dtype("c16")), np.empty_like(x, "c16")),
            (gs.empty_like(gs.asarray(x)).numpy(), np.empty_like(x)),
            (gs.empty(shape, dtype=dtype).numpy(), np.empty(shape, dtype)),
        ):
            assert (found.dtype, found.shape, found.strides) == (expected.dtype, expected.shape, expected.strides)
            assert found.flags.writeable and not np.may_share_memory(found, x)
    if plain.nbytes > 100_000 and plain.dtype.char in "fdFD" and plain.dtype.isnative:
        assert all(gs.empty_like(gs.asarray(plain)).numpy().ctypes.data % 4096 == 0 for _ in range(3))


@each("dtype", DTYPES)
@each("number", (1, 3))
def test_a_new_leaf_is_a_copy_in_the_layout_of_its_data(dtype, number):
    gs.set_num_threads(number)
    data = (np.arange(300_300) % 251).reshape(300, 1001).astype(dtype)
    for x in (data, data.T, data[::2], data[:, ::-1], np.broadcast_to(data[:1], data.shape), data[:3]):
        for found in (gs.tensor(x), gs.asarray(x, copy=True), gs.tensor(gs.asarray(x))):
            array, expected = found.numpy(), np.array(x)
            assert array.strides == expected.strides and array.dtype == expected.dtype, x.strides
            assert array.tobytes() == expected.tobytes() and not np.shares_memory(array, x), x.strides

"""One of two values element by element: NumPy's bits, whatever is one number for all, and NumPy's warnings."""

import itertools

import numpy as np
import pytest

from gradspec import kernels
from gradspec.kernels.elementwise import choice
from tests.asked import each


def some(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else 4 * x).astype(dtype)


def same(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


@each("dtype", ["f4", "f8", "c8", "c16", "f2", "i4", ">f8", "?"])
@each("size", [0, 1, 7, 40, 20000])
def test_where_is_numpys(size, dtype):
    a, b, mask = some(size, dtype, 0), some(size, dtype, 1), some(size, "f4", 2) > 0
    for left, right in itertools.product((a, np.array(3, dtype)), (b, np.array(0, dtype))):
        for chosen in (mask, np.array(True), np.array(False)):
            same(kernels.where(chosen, left, right), np.where(chosen, left, right))
    same(kernels.where(mask[::-1], a[::-1], b), np.where(mask[::-1], a[::-1], b))


@each("dtype", ["f4", "f8", "c8", "c16", "f2", "i4", ">f8", "?"])
@each("size", [0, 1, 7, 40, 200_000])
def test_an_array_is_filled_in_place_as_numpys(size, dtype):
    x, mask = some(size, dtype, 0), some(size, "f4", 2) > 0
    for array in (x, x[::-1]):
        for chosen in (mask, mask[::-1], np.array(True), mask[:1]):
            for value in (True, np.array(3, dtype), *([] if dtype == "?" else [2])):
                found, expected = array.copy(), array.copy()
                assert kernels.masked_fill_(found, chosen, value) is found
                np.copyto(expected, value, where=chosen)
                same(found, expected)


def test_an_array_that_cannot_be_filled_in_place_is_refused():
    x = np.zeros(200_000, "f4")
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        kernels.masked_fill_(x, x == 0, 1.0)
    with pytest.raises(TypeError):
        kernels.masked_fill_(np.zeros(200_000, "f4"), x == 0, 1j)


@each("dtype", ["f4", "f8", "i4"])
@each("size", [0, 7, 40, 20000, 200_000])
def test_clip_is_numpys(size, dtype):
    x = some(size, dtype, 0)
    if x.dtype.kind == "f":
        x[::5], x[1::7] = np.nan, np.inf
    bounds = (None, -1, some(size, dtype, 1))
    for low, high in itertools.product(bounds, (None, 2, some(size, dtype, 2))):
        if low is not None or high is not None:
            same(kernels.clip(x, low, high), np.clip(x, low, high))
    copy = kernels.clip(x, None, None)
    same(copy, x)
    assert not size or not np.shares_memory(copy, x)


@each("dtype", ["f4", "f8", "c8", "f2", "i4"])
@each("size", [1, 40, 20000])
def test_a_quotient_is_zero_where_the_divisor_is(size, dtype):
    a, b = some(size, dtype, 0), some(size, dtype, 1)
    b[::3] = 0
    with np.errstate(all="raise"):
        for left, right in itertools.product((a, np.array(a[0])), (b, np.array(b[0]), np.array(b[-1]))):
            same(kernels.divide_or_zero(left, right), choice.divide_or_zero(left, right))
            same(kernels.divide_or_nan(left, right), choice.divide_or_nan(left, right))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        kernels.divide_or_zero(np.full(40, 1e308), np.full(40, 1e-10))


def test_a_quotient_that_is_not_known_is_no_number():
    for dtype in ("f2", "f4", "f8", "c16"):
        found = kernels.divide_or_nan(np.array([3, 0, 2, 0], dtype), np.array([2, 0, 0, 5], dtype))
        assert found.dtype == dtype and np.isnan(found[2]) and found[[0, 1, 3]].tolist() == [1.5, 0, 0]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("length", [1, 7, 1000])
@pytest.mark.parametrize("name", ["leaky_relu", "hardswish", "hardswish_slope", "huber"])
def test_functions_in_pieces_are_their_expressions_to_the_bit(name, length, dtype):
    special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 3, -3, np.nextafter(np.float32(3), 0), -1.5, 6, 60000, -60000]
    x = np.resize(np.concatenate([special, np.random.default_rng(0).normal(size=length) * 3]), length).astype(dtype)
    numbers = {"leaky_relu": [(0.01,), (-2.0,)], "huber": [(1.5, 2.0), (np.zeros_like(x), 0.25), (0.0, np.full_like(x, 0.5))]}
    for slopes in numbers.get(name, [()]):
        with np.errstate(all="ignore"):
            expected = getattr(choice, name)(x, *slopes)
        with np.errstate(all="ignore" if dtype == "f2" else "raise"):  # float16 overflows here
            found = np.asarray(getattr(kernels, name)(x, *slopes))
        assert found.dtype == expected.dtype == dtype
        np.testing.assert_array_equal(found, expected)
        assert (np.signbit(found) == np.signbit(expected))[~np.isnan(found)].all()

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


@each("dtype", ["f4", "f8", "i4"])
@each("size", [0, 7, 40, 20000])
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
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        kernels.divide_or_zero(np.full(40, 1e308), np.full(40, 1e-10))

"""Triangles and Hermitian parts against the NumPy expressions: dtypes, layouts, diagonals, and what NumPy warns of."""

import numpy as np
import pytest

from gradspec import kernels
from tests.asked import each

SHAPES = [(3, 3), (4, 7), (7, 4), (1, 1), (2, 3, 3), (70, 70), (2, 0, 3, 3), (3, 0), (0, 0)]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128, np.float16, np.longdouble, np.int32, np.uint8, bool, ">f8"]


def matrices(shape, dtype):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape) * 9 + (1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else 0)
    return x.astype(dtype)


def layouts(x):
    """The same numbers, laid out in every way that an array may come in."""
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, -1)[..., ::2]
    yield np.flip(np.ascontiguousarray(np.flip(x)))
    frozen = x.copy()
    frozen.flags.writeable = False
    yield frozen


def same(found, expected):
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@each("dtype", DTYPES)
@each("shape", SHAPES)
def test_triangles(shape, dtype):
    x = matrices(shape, dtype)
    for laid in layouts(x):
        for k in (0, 1, -1, 2, -3, 10**9, -(10**9)):
            same(kernels.tril(laid, k), np.tril(x, max(min(k, 99), -99)))
            same(kernels.triu(laid, k), np.triu(x, max(min(k, 99), -99)))


@each("dtype", [dtype for dtype in DTYPES if dtype is not bool])
@each("shape", SHAPES)
def test_halves(shape, dtype):
    x = matrices(shape, dtype)
    for laid in layouts(x):
        same(kernels.lower_half(laid), (np.tril(x) + np.tril(x, -1)) / 2)
        if shape[-1] == shape[-2]:
            same(kernels.hermitian_part(laid), (x + np.conjugate(np.swapaxes(x, -1, -2))) / 2)


def test_the_other_half_is_not_read():
    x = np.full((3, 3), np.nan)
    x[np.tril_indices(3)] = 1.0
    np.testing.assert_array_equal(kernels.lower_half(x), [[0.5, 0, 0], [1, 0.5, 0], [1, 1, 0.5]])


def test_overflow_is_told():
    x = np.full((3, 3), np.finfo(np.float32).max)
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert np.isinf(kernels.hermitian_part(x.astype(np.float32))).all()


def test_shapes_that_do_not_fit_are_numpys_to_refuse():
    with pytest.raises(ValueError):
        kernels.hermitian_part(np.ones((3, 4)))
    same(kernels.tril(np.arange(3.0), 0), np.tril(np.arange(3.0)))

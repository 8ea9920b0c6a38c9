"""Cholesky factors against NumPy's and gradients against their differences: sizes around that of a part, stacks, layouts, dtypes."""

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from tests.asked import each


def adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


def hermitian(random, shape, dtype):
    x = random.normal(size=shape) + (1j * random.normal(size=shape) if dtype.kind == "c" else 0)
    return (x + adjoint(x)) / 2


@each("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@each("shape", [(3, 3), (64, 64), (65, 65), (130, 130), (256, 256), (2, 2, 70, 70), (0, 90, 90)])
def test_gradients(shape, dtype):
    random, dtype, n = np.random.default_rng(0), np.dtype(dtype), shape[-1]
    x = hermitian(random, shape, dtype) / np.sqrt(n) + 3 * np.eye(n)
    along = hermitian(random, shape, dtype)
    grad = random.normal(size=shape) + (1j * random.normal(size=shape) if dtype.kind == "c" else 0)
    grad = grad.astype(dtype)
    step = 1e-5
    difference = (np.linalg.cholesky(x + step * along) - np.linalg.cholesky(x - step * along)) / (2 * step)
    expected = (adjoint(grad) @ difference).trace(axis1=-2, axis2=-1).real
    factor = np.linalg.cholesky(x).astype(dtype)
    for lower in (factor, np.asfortranarray(factor), np.repeat(factor, 2, -1)[..., ::2]):
        found = kernels.cholesky_backward(lower, grad)
        assert found.shape == shape and found.dtype == dtype
        scale = np.linalg.norm(found, axis=(-2, -1)) * np.linalg.norm(along, axis=(-2, -1))
        error = np.abs((adjoint(found) @ along).trace(axis1=-2, axis2=-1).real - expected)
        assert (error <= scale * (1e-6 if dtype.char in "fF" else 1e-9)).all()
        np.testing.assert_allclose(found, adjoint(found), rtol=0, atol=100 * np.finfo(dtype).eps * np.abs(found).max(initial=0))


@pytest.mark.parametrize("n", [10, 100])
def test_the_other_half_is_not_read(n):
    random = np.random.default_rng(1)
    lower, grad = (np.tril(random.normal(size=(n, n))) + k * np.eye(n) for k in (2 * n, 0))
    expected = kernels.cholesky_backward(lower, grad)
    above = np.triu(np.full((n, n), 7.0), 1)
    np.testing.assert_array_equal(kernels.cholesky_backward(lower, grad + above), expected)


@each("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@each("n", [100, 101, 128, 203, 256])
def test_factors(n, dtype):
    """They have the bits of those of a stack, zeros above, and the product that was given; the upper half is not read."""
    x = hermitian(np.random.default_rng(2), (n, n), np.dtype(dtype)) / np.sqrt(n) + 3 * np.eye(n)
    given = (x + np.triu(np.full((n, n), np.nan), 1)).astype(dtype)
    kept = given.copy()
    found = kernels.cholesky(given)
    np.testing.assert_array_equal(given, kept)
    assert found.dtype == dtype and found.flags.c_contiguous
    np.testing.assert_array_equal(found, np.tril(found))
    np.testing.assert_allclose(found @ adjoint(found), x, rtol=0, atol=30 * np.finfo(dtype).eps)
    np.testing.assert_allclose(found, np.linalg.cholesky(x), rtol=0, atol=100 * np.finfo(dtype).eps)
    stack = kernels.cholesky(np.broadcast_to(given, (2, 1, n, n)).copy())
    assert stack.shape == (2, 1, n, n)
    for factor in stack[:, 0]:
        np.testing.assert_array_equal(factor, found)
    for other in (np.asfortranarray(given), np.repeat(given, 2, -1)[..., ::2], given.astype(given.dtype.newbyteorder())):
        np.testing.assert_allclose(kernels.cholesky(other), found, rtol=0, atol=30 * np.finfo(dtype).eps)


def outcome(function, x):
    try:
        return np.isfinite(function(x)).all(axis=-1)
    except np.linalg.LinAlgError as error:
        return str(error)


@each("place", [0, 60, 130, 199, 259])
def test_a_missing_pivot_is_refused_in_each_quarter(place):
    x = 3 * np.eye(260)
    for pivot in (0.0, -1.0):
        x[place, place] = pivot
        for given in (x, np.stack([np.eye(260), x])):
            with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
                kernels.cholesky(given)
    x[place, place] = np.nan
    np.testing.assert_array_equal(outcome(kernels.cholesky, x), outcome(np.linalg.cholesky, x))


@each("bad", [np.inf, 1e300, np.nan])
@each("place", [(50, 3), (200, 3), (200, 150)])
def test_numbers_out_of_range_are_as_numpy_has_them(bad, place):
    x = np.eye(260)
    x[place] = bad
    found, expected = outcome(kernels.cholesky, x), outcome(np.linalg.cholesky, x)
    assert isinstance(found, str) or not found[place[0]]
    np.testing.assert_array_equal(found, expected)


def test_no_bit_depends_on_the_number_of_threads():
    x, before, found = hermitian(np.random.default_rng(3), (300, 300), np.dtype("f8")) + 30 * np.eye(300), gs.get_num_threads(), set()
    try:
        for number in (1, 2, 5):
            gs.set_num_threads(number)
            found.add(kernels.cholesky(x).tobytes())
    finally:
        gs.set_num_threads(before)
    assert len(found) == 1

"""Gradients of Cholesky factors against differences of NumPy's factors: sizes around that of a part, stacks, layouts, dtypes."""

import numpy as np
import pytest

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
@each("n", [100, 128, 136, 256])
def test_factors_whose_columns_are_copied(n, dtype):
    """They have the bits of a stack's, which NumPy copies itself."""
    x = hermitian(np.random.default_rng(2), (n, n), np.dtype(dtype)) / np.sqrt(n) + 3 * np.eye(n)
    x = (x + np.triu(np.full((n, n), np.nan), 1)).astype(dtype)
    found = kernels.cholesky(x)
    np.testing.assert_array_equal(found, kernels.cholesky(x[None])[0])
    np.testing.assert_array_equal(found, np.tril(found))
    with pytest.raises(np.linalg.LinAlgError):
        kernels.cholesky(-x)

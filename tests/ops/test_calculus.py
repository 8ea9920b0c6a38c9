"""Sampled functions: interpolation, differences and convolution agree with NumPy's, quantiles with every method of NumPy's."""

import numpy as np
import pytest

import gradspec as gs

RANDOM = np.random.default_rng(0)
A, B = RANDOM.normal(size=9), RANDOM.normal(size=5)
CUBE = RANDOM.normal(size=(4, 5, 6))
METHODS = ("linear", "hazen", "weibull", "median_unbiased", "normal_unbiased", "interpolated_inverted_cdf", "lower", "higher",
           "nearest", "midpoint")  # fmt: skip


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_convolution(name, mode):
    for a, b in ((A, B), (A + 1j * A[::-1], B - 2j), (A[:4], B[:4])):
        np.testing.assert_allclose(getattr(gs, name)(a, b, mode).numpy(), getattr(np, name)(a, b, mode), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="mode must be 'full', 'same' or 'valid', got 'half'"):
        getattr(gs, name)(A, B, "half")


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient(edge_order):
    places = np.sort(A)
    for spacing in (1.0, 0.25, places):
        expected = np.gradient(places**3, spacing, edge_order=edge_order)
        np.testing.assert_allclose(gs.gradient(places**3, spacing, edge_order=edge_order).numpy(), expected, rtol=1e-10)
    for axis in (0, 1, -1):
        expected = np.gradient(CUBE, 0.5, axis=axis, edge_order=edge_order)
        np.testing.assert_allclose(gs.gradient(CUBE, 0.5, axis=axis, edge_order=edge_order).numpy(), expected, rtol=1e-10)
    for ours, expected in zip(gs.gradient(CUBE, edge_order=edge_order), np.gradient(CUBE, edge_order=edge_order), strict=True):
        np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-10)


def test_interp():
    places = np.sort(A)
    x = np.linspace(-3, 3, 41)
    np.testing.assert_allclose(gs.interp(x, places, places**2).numpy(), np.interp(x, places, places**2), rtol=1e-12)
    expected = np.interp(x, places, places**2, -1.0, 7.0)
    np.testing.assert_allclose(gs.interp(x, places, places**2, -1.0, 7.0).numpy(), expected, rtol=1e-12)


def test_polynomials():
    np.testing.assert_allclose(gs.polyval(B, A).numpy(), np.polyval(B, A), rtol=1e-12)
    np.testing.assert_allclose(gs.polyfit(A, A**3, 4).numpy(), np.polyfit(A, A**3, 4), rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_quantile(method):
    for q in (0.0, 0.3, 0.5, 1.0, [0.1, 0.7], [[0.2], [0.9]]):
        for axis in (None, 1, (0, 2)):
            for keepdims in (False, True):
                found = gs.quantile(CUBE, q, axis, keepdims, method=method).numpy()
                expected = np.quantile(CUBE, q, axis, keepdims=keepdims, method=method)
                assert found.shape == expected.shape
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["nanmedian", "nanmax", "nanmin", "nanprod", "nanstd", "nanvar"])
def test_without_nan(name):
    x = np.where(CUBE > 1, np.nan, CUBE)
    for axis in (None, 1, (0, 2)):
        np.testing.assert_allclose(getattr(gs, name)(x, axis).numpy(), getattr(np, name)(x, axis), rtol=1e-12)


def test_names_of_pytorch_for_what_becomes_a_tensor():
    assert np.shares_memory(gs.from_numpy(A).numpy(), A) and np.shares_memory(gs.as_tensor(A).numpy(), A)
    assert gs.as_tensor([1, 2], gs.float32).dtype == gs.float32
    with pytest.raises(TypeError, match="^from_numpy: argument 'array' must be a numpy.ndarray, got list"):
        gs.from_numpy([1.0])
    assert gs.is_complex(A * 1j) and not gs.is_complex(A)
    assert gs.is_floating_point(A) and not gs.is_floating_point(A * 1j) and not gs.is_floating_point([1])

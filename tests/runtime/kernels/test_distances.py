"""Distances of rows against differences in quadruple precision: near and far, large and small, with what is no number."""

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from tests.asked import each


@each("dtype", [np.float32, np.float64])
@each("spread", [1.0, 1e-3, 1e-7, 0.0])
@each("shift", [0.0, 1e4])
def test_distances_keep_their_digits(shift, spread, dtype):
    """Rows in clusters of a width: however close, and however far from 0."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(8, 20))
    a, b = (
        (shift + centres[rng.integers(0, 8, n)] + spread * rng.normal(size=(n, 20))).astype(dtype) for n in (150, 130)
    )
    exact = np.sqrt(((a[:, None].astype(np.longdouble) - b) ** 2).sum(-1))
    found = kernels.row_distances(np.concatenate([a, b]), len(a))
    assert found.dtype == dtype and found.shape == (150, 130)
    np.testing.assert_allclose(found, exact, rtol=60 * np.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hard_numbers(dtype):
    rng, limits = np.random.default_rng(0), np.finfo(dtype)
    a, b = rng.normal(size=(100, 30)).astype(dtype), rng.normal(size=(90, 30)).astype(dtype)
    a[0, 0], a[1, 0], a[2] = np.nan, np.inf, limits.max / 10
    b[3, 0], b[4] = -np.inf, limits.tiny
    a[5] = 0
    found = kernels.row_distances(np.concatenate([a, b]), len(a))
    expected = np.empty((100, 90), dtype)
    for i in range(100):
        expected[i] = kernels.euclidean_norm(a[i] - b, -1, False)
    np.testing.assert_allclose(found, expected, rtol=60 * limits.eps)


def test_derivatives_of_close_rows_keep_their_digits():
    """The direction from a row to one at a distance of 1e-9, which products would lose."""
    rng = np.random.default_rng(0)
    rows, aside = rng.normal(size=(60, 20)), rng.normal(size=20)
    a, b = gs.tensor(rows, requires_grad=True), gs.tensor(rows + 1e-9 * aside, requires_grad=True)
    gs.diagonal(gs.cdist(a, b)).sum().backward()
    direction = (rows - (rows + 1e-9 * aside)) / np.linalg.norm(rows - (rows + 1e-9 * aside), axis=1)[:, None]
    np.testing.assert_allclose(a.grad.numpy(), direction, rtol=1e-12)
    np.testing.assert_allclose(b.grad.numpy(), -direction, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_of_any_size_keep_their_digits(dtype):
    """Two rows that differ in their small component only, and a weight that makes up for it, beside ordinary rows."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(40, 3)).astype(dtype), rng.normal(size=(50, 3)).astype(dtype)
    weight = rng.normal(size=(40, 50)).astype(dtype)
    a[0], b[0], weight[0] = (1e6, 1e-6, 1), (1e6, 2e-6, 1), 0
    weight[0, 0], weight[1] = 1e6, 0
    exact = (weight[..., None].astype(np.longdouble) * (a[:, None].astype(np.longdouble) - b)).sum(1)
    found = kernels.weighted_rows(weight, np.concatenate([a, b]))[: len(a)]
    assert found.dtype == dtype and not found[1].any()
    sizes = (np.abs(weight[..., None]) * np.abs(a[:, None] - b)).sum(1)
    assert (np.abs(found - exact) <= 60 * np.finfo(dtype).eps * sizes).all()


def test_no_array_of_all_differences():
    import tracemalloc

    a, b = (gs.tensor(np.random.default_rng(n).normal(size=(600, 64)), requires_grad=True) for n in (0, 1))
    gs.cdist(a[:2], b[:2]).sum().backward()
    tracemalloc.start()
    try:
        gs.cdist(a, b).sum().backward()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 600 * 600 * 8  # some arrays of m x n; all differences are 64

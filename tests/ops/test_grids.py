"""grid_sample against its definition, one place at a time, at the edges and beyond them; affine_grid with it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.autograd import grad
from tests.asked import each


def tap(plane, place, padding, aligned):
    """The pixel at integer places, or what the padding has there."""
    found = []
    for k, n in zip(place, plane.shape):
        if padding == "zeros" and not 0 <= k < n:
            return 0.0
        found.append(int(moved(k, n, padding, aligned)))
    return plane[tuple(found)]


def moved(p, n, padding, aligned):
    """A place where the padding takes it; reflection turns back at an edge until it is inside."""
    if padding == "reflection":
        low, high = (0, n - 1) if aligned else (-0.5, n - 0.5)
        if low == high:
            return 0
        while not low <= p <= high:
            p = 2 * low - p if p < low else 2 * high - p
    return p if padding == "zeros" else min(max(p, 0), n - 1)


def keys(t):
    t = abs(t)
    if t <= 1:
        return 1.25 * t**3 - 2.25 * t**2 + 1
    return -0.75 * (t**3 - 5 * t**2 + 8 * t - 4) if t < 2 else 0.0


def sampled(plane, at, mode, padding, aligned):
    """One plane at one place, whose coordinates are given the last axis first."""
    pixels = [(g + 1) / 2 * (n - 1) if aligned else ((g + 1) * n - 1) / 2 for g, n in zip(at[::-1], plane.shape)]
    if mode != "bicubic":
        pixels = [moved(p, n, padding, aligned) for p, n in zip(pixels, plane.shape)]
    if mode == "nearest":
        return tap(plane, [round(p) for p in pixels], padding, aligned)
    reach, weight = (2, keys) if mode == "bicubic" else (1, lambda t: max(0.0, 1 - abs(t)))
    total = 0.0
    for place in itertools.product(*(range(math.floor(p) + 1 - reach, math.floor(p) + 1 + reach) for p in pixels)):
        total += math.prod(weight(p - k) for p, k in zip(pixels, place)) * tap(plane, place, padding, aligned)
    return total


CASES = [(shape, *words) for shape in [(2, 2, 3, 4), (1, 1, 1, 3), (2, 1, 2, 3, 2)]
         for words in itertools.product(["bilinear", "nearest", "bicubic"], ["zeros", "border", "reflection"], [True, False])
         if not (words[0] == "bicubic" and len(shape) == 5)]  # fmt: skip


@each(("shape", "mode", "padding", "aligned"), CASES)
def test_it_is_its_definition(shape, mode, padding, aligned):
    random = np.random.default_rng(0)
    x = random.normal(size=shape)
    grid = random.uniform(-2.5, 2.5, (shape[0], *(2, 5, 3)[: len(shape) - 2], len(shape) - 2))
    grid[0].flat[:4] = [-1, 1, 0, -1]  # corners
    y = nn.grid_sample(x, grid, mode, padding, aligned).numpy()
    assert y.shape == (*shape[:2], *grid.shape[1:-1])
    for n, c, *place in np.ndindex(*y.shape):
        wanted = sampled(x[n, c], grid[(n, *place)].tolist(), mode, padding, aligned)
        assert y[(n, c, *place)] == pytest.approx(wanted, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_far_away_and_nan(padding):
    x, grid = gs.tensor(np.ones((1, 1, 3, 4)), requires_grad=True), np.array([[[[1e300, 0.0], [0.0, -1e300], [np.nan, 0.0]]]])
    at = gs.tensor(grid, requires_grad=True)
    y = nn.grid_sample(x, at, "bilinear", padding)
    assert y[0, 0, 0, :2].tolist() == ([0, 0] if padding == "zeros" else [1, 1]) and math.isnan(y[0, 0, 0, 2].item())
    by_x, by_grid = grad(nn.grid_sample(x, at[:, :, :2], "bilinear", padding).sum(), [x, at])
    assert np.isfinite(by_x.numpy()).all() and (by_grid.numpy() == 0).all()
    if padding != "reflection":  # an infinity has no mirror image
        infinite = nn.grid_sample(x, np.where(np.abs(grid) == 1e300, np.copysign(np.inf, grid), grid), "bilinear", padding)
        np.testing.assert_array_equal(infinite.detach().numpy(), y.detach().numpy())
    assert math.isnan(nn.grid_sample(x, grid, "nearest", padding)[0, 0, 0, 2].item())


def test_nearest_has_no_slope_in_the_grid():
    x, grid = gs.tensor(np.ones((1, 1, 2, 2)), requires_grad=True), gs.tensor(np.zeros((1, 1, 1, 2)), requires_grad=True)
    by_x, by_grid = grad(nn.grid_sample(x, grid, "nearest").sum(), [x, grid])
    assert by_x.numpy().sum() == 1 and by_grid.tolist() == [[[[0, 0]]]]


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 1, 2, 1, 3)])
def test_the_identity_gives_the_image(size, aligned):
    x = np.random.default_rng(0).normal(size=size).astype(np.float32)
    axes = len(size) - 2
    grid = nn.affine_grid(np.broadcast_to(np.eye(axes, axes + 1, dtype=np.float32), (2, axes, axes + 1)), size, aligned)
    y = nn.grid_sample(x, grid, align_corners=aligned)
    assert grid.dtype == y.dtype == np.float32
    np.testing.assert_allclose(y.numpy(), x, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("shape", "grid", "words"), [
    ((1, 1, 2, 2), (1, 1, 1, 2), {"mode": "cubic"}), ((1, 1, 2, 2), (1, 1, 1, 2), {"padding_mode": "wrap"}),
    ((1, 1, 2, 2), (2, 1, 1, 2), {}), ((1, 1, 2, 2), (1, 1, 1, 3), {}), ((1, 2, 2), (1, 1, 2), {}),
    ((1, 1, 2, 2, 2), (1, 1, 1, 1, 3), {"mode": "bicubic"}), ((1, 1, 0, 2), (1, 1, 1, 2), {}), ((1, 1, 2, 2), (1, 1, 2), {}),
])  # fmt: skip
def test_refusals(shape, grid, words):
    with pytest.raises(ValueError):
        nn.grid_sample(np.ones(shape), np.zeros(grid), **words)


@pytest.mark.parametrize(("theta", "size"), [((1, 2, 3), (2, 1, 3, 3)), ((1, 3, 3), (1, 1, 3, 3)), ((1, 2, 3), (1, 3, 3)),
                                             ((1, 2, 3), (1, 1, 2, 3, 3))])  # fmt: skip
def test_affine_grid_refuses(theta, size):
    with pytest.raises(ValueError):
        nn.affine_grid(np.ones(theta), size)


def test_nothing_to_sample():
    assert nn.grid_sample(np.ones((0, 2, 3, 3)), np.zeros((0, 4, 5, 2))).shape == (0, 2, 4, 5)
    assert nn.grid_sample(np.ones((2, 0, 3, 3)), np.zeros((2, 4, 5, 2))).shape == (2, 0, 4, 5)
    assert nn.grid_sample(np.ones((2, 1, 3, 3)), np.zeros((2, 0, 5, 2))).shape == (2, 1, 0, 5)

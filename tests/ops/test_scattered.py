"""Scattering with indices that are shorter than the source: what stands first in the source, as PyTorch has it."""

from __future__ import annotations

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import grad

from .calls import array

SEEDS = range(12)
KINDS = ("scatter", "scatter_add", "sum", "prod", "mean", "amax", "amin")


def made(seed):
    """An array, an axis, indices without repetition along it, and a source that is longer along any axes."""
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 4))
    shape, axis = tuple(map(int, rng.integers(2, 6, ndim))), int(rng.integers(ndim))
    short = tuple(int(rng.integers(1, n + 1)) for n in shape)
    longer = tuple(n + int(rng.integers(0, 3)) for n in short)
    indices = np.argsort(rng.random(short[:axis] + (shape[axis],) + short[axis + 1 :]), axis)
    indices = np.ascontiguousarray(np.take(indices, range(short[axis]), axis))
    return rng.uniform(0.5, 2, shape), axis, indices, rng.uniform(0.5, 2, longer)


def call(library, kind, x, axis, indices, source):
    if kind.startswith("scatter"):
        return getattr(library, kind)(x, axis, indices, source)
    return library.scatter_reduce(x, axis, indices, source, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_leading_corner_of_the_source_is_taken(kind, seed):
    x, axis, indices, source = made(seed)
    corner = source[tuple(map(slice, indices.shape))]
    weight = np.cos(np.arange(x.size)).reshape(x.shape)

    def gradients(given):
        leaves = [gs.tensor(value, requires_grad=True) for value in (x, given)]
        y = call(gs, kind, leaves[0], axis, indices, leaves[1])
        return [array(y), *map(array, grad((y * weight).sum(), leaves))]

    found, wanted = gradients(source), gradients(corner)
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])
    np.testing.assert_array_equal(found[2][tuple(map(slice, indices.shape))], wanted[2])
    assert found[2].shape == source.shape and np.count_nonzero(found[2]) <= corner.size


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_values_are_those_of_pytorch(kind, seed):
    """Its gradients are not asked: with a source that is longer it refuses them."""
    torch = pytest.importorskip("torch")
    x, axis, indices, source = made(seed)
    wanted = call(torch, kind, torch.tensor(x), axis, torch.tensor(indices), torch.tensor(source))
    np.testing.assert_allclose(array(call(gs, kind, x, axis, indices, source)), wanted.numpy(), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_by_differences(kind):
    x, axis, indices, source = made(3)
    leaves = [gs.tensor(value, requires_grad=True) for value in (x, source)]
    assert gs.autograd.gradcheck(lambda x, source: call(gs, kind, x, axis, indices, source), leaves)


@pytest.mark.parametrize("function", [gs.scatter_reduce, gs.index_reduce])
def test_second_derivatives_of_a_product_of_two_zeros(function):
    """y = x * s0 * s1 at s0 = s1 = 0; PyTorch refuses these."""
    x, source = gs.tensor([3.0], requires_grad=True), gs.tensor([0.0, 0.0], requires_grad=True)
    y = function(x, 0, np.array([0, 0]), source, "prod")
    by_x, by_source = grad(y.sum(), (x, source), create_graph=True)
    assert by_x.tolist() == [0] and by_source.tolist() == [0, 0]
    for i, row in enumerate([[0, 3], [3, 0]]):
        again = grad(by_source[i], (x, source), retain_graph=True)
        assert again[0].tolist() == [0] and again[1].tolist() == row


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_its_rows(kind):
    x, axis, indices, source = made(5)
    sources = np.stack([source, source[::-1], 2 * source])
    together = array(gs.vmap(lambda part: call(gs, kind, x, axis, indices, part))(sources))
    for row, part in zip(together, sources):
        np.testing.assert_allclose(row, array(call(gs, kind, x, axis, indices, part)), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (4, 3, 2)])
def test_a_source_that_is_too_short_is_refused(kind, shape):
    with pytest.raises(ValueError, match=r"source of shape .* does not go with indices of shape \(3, 3\)"):
        call(gs, kind, gs.zeros((3, 4)), 1, np.array([[0, 1, 2]] * 3), gs.ones(shape))

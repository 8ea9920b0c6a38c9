"""embedding with PyTorch's arguments for training: a row without a gradient, rows that are shortened, gradients by frequency."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.core.leaf_gradient import rows_of_gradient
from gradspec.nn import lookup

WEIGHT = np.arange(1.0, 9.0).reshape(4, 2)
INDICES = np.array([[1, 3], [3, 3]])


def gradient(**options):
    weight = gs.tensor(WEIGHT, requires_grad=True)
    y = gs.nn.embedding(INDICES, weight, **options)
    np.testing.assert_array_equal(y.detach().numpy(), WEIGHT[INDICES])
    return grad(y.sum(), weight)[0].numpy()[:, 0].tolist()


@pytest.mark.parametrize("options, expected", [
    ({}, [0, 1, 0, 3]), ({"padding_idx": 3}, [0, 1, 0, 0]), ({"padding_idx": -3}, [0, 0, 0, 3]), ({"scale_grad_by_freq": True}, [0, 1, 0, 1]),
    ({"padding_idx": 1, "scale_grad_by_freq": True}, [0, 0, 0, 1]),
])  # fmt: skip
def test_gradients(options, expected):
    assert gradient(**options) == expected


def test_negative_indices_are_the_same_rows():
    weight = gs.tensor(WEIGHT, requires_grad=True)
    y = gs.nn.embedding([-1, 3], weight, padding_idx=3)
    assert grad(y.sum(), weight)[0].numpy().any() == np.False_


def test_tangents_are_those_of_the_gradient():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor(WEIGHT), gs.ones_like(gs.tensor(WEIGHT)))
        y = gs.nn.embedding(INDICES, dual, padding_idx=1, scale_grad_by_freq=True)
        tangent = forward_ad.unpack_dual(y).tangent.numpy()
    np.testing.assert_allclose(tangent[..., 0], [[0, 1 / 3], [1 / 3, 1 / 3]])


def test_rows_that_are_taken_are_shortened_in_place():
    weight = gs.tensor(WEIGHT, requires_grad=True)
    y = gs.nn.embedding([0, 2], weight, max_norm=5.0)
    lengths = np.linalg.norm(weight.detach().numpy(), axis=1)
    np.testing.assert_allclose(lengths, [5**0.5, 5, 5, 113**0.5], rtol=1e-6)
    np.testing.assert_array_equal(y.detach().numpy(), weight.detach().numpy()[[0, 2]])
    assert grad(y.sum(), weight)[0].numpy()[:, 0].tolist() == [1, 0, 1, 0] and weight.is_leaf


def test_of_another_norm():
    weight = gs.tensor(WEIGHT)
    gs.nn.embedding([1], weight, max_norm=3.5, norm_type=1.0)
    np.testing.assert_allclose(np.abs(weight.numpy()).sum(1), [3, 3.5, 11, 15], rtol=1e-6)


def test_a_row_that_is_not_there():
    with pytest.raises(ValueError, match="padding_idx 4 is not one of the 4 rows"):
        gs.nn.embedding([0], WEIGHT, padding_idx=4)


def test_tables_of_a_vmap():
    tables = gs.asarray(np.random.default_rng(0).normal(size=(2, 4, 3)))
    slope = gs.grad(lambda w: (gs.nn.embedding(INDICES, w, padding_idx=1, scale_grad_by_freq=True) ** 2).sum())
    np.testing.assert_allclose(gs.vmap(slope)(tables).numpy(), gs.stack([slope(w) for w in tables]).numpy())


def test_bags_divide_gradients_by_how_often_an_index_stands_there():
    """PyTorch's, on the CPU, divides by the counts of other rows."""
    places, weight = [[3, 1, 4], [2, 2, 2]], gs.tensor(np.ones((5, 2)), requires_grad=True)
    layer = gs.nn.EmbeddingBag(5, 2, mode="sum", scale_grad_by_freq=True, _weight=weight.detach())
    function = gs.nn.embedding_bag(places, weight, mode="sum", scale_grad_by_freq=True)
    for found, leaf in ((function, weight), (layer(gs.asarray(places)), layer.weight)):
        assert np.array_equal(found.detach(), gs.nn.embedding_bag(places, weight.detach(), mode="sum"))
        (slope,) = gs.autograd.grad((found * [[1.0], [5.0]]).sum(), leaf)
        assert slope[:, 0].tolist() == [0, 1, 5, 1, 1]
    with pytest.raises(ValueError, match="does not support scaling the gradient by the frequency if mode is 'max'"):
        gs.nn.embedding_bag(places, weight, mode="max", scale_grad_by_freq=True)


def test_rows_wait_only_where_it_is_asked_for():
    for options, waits in (({}, False), ({"sparse": True}, True)):
        weight = gs.tensor(WEIGHT, requires_grad=True)
        gs.nn.embedding(INDICES, weight, **options).sum().backward()
        assert (rows_of_gradient(weight) is not None) is waits
        assert weight.grad.numpy()[:, 0].tolist() == [0, 1, 0, 3]


def test_the_module_shows_its_function_alone():
    assert dir(lookup) == ["embedding"]

"""The ways in which operators take batches: one call for all rows where a way fits, also of kernels, weights and indices."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Listener
from gradspec.generated.batching import BATCHING
from tests.asked import each

RANDOM = np.random.default_rng(11)


def rand(*shape):
    return gs.asarray(RANDOM.normal(size=shape))


class Calls(Listener):
    """The operators that run, and the shapes that they get."""

    def __init__(self):
        self.seen = []

    def begin(self, event):
        if event.kind == "operator":
            self.seen.append((event.name, tuple(getattr(arg, "shape", None) for arg in event.inputs)))

    def count(self, name):
        return sum(seen == name for seen, _ in self.seen)


def test_few_operators_go_row_by_row():
    rows = [name for name, (way, *_) in BATCHING.items() if way == "rows"]
    assert len(rows) <= 0.05 * len(BATCHING), rows


def conv(x, weight, bias):
    return gs.nn.functional.conv2d(x, weight, bias, stride=2, padding=1)


CASES = {
    "kernels": (conv, (rand(2, 4, 6, 6), rand(5, 3, 4, 3, 3), rand(3)), (None, 0, None), "_convolve"),
    "kernels and images": (conv, (rand(5, 2, 4, 6, 6), rand(5, 3, 4, 3, 3), rand(5, 3)), (0, 0, 0), "_convolve"),
    "images": (conv, (rand(5, 2, 4, 6, 6), rand(3, 4, 3, 3), rand(3)), (0, None, None), "_convolve"),
    "images alone": (conv, (rand(5, 4, 6, 6), rand(3, 4, 3, 3), None), (0, None, None), "_convolve"),
    "biases": (conv, (rand(2, 4, 6, 6), rand(3, 4, 3, 3), rand(5, 3)), (None, None, 0), "_convolve"),
    "models": (lambda x, w, b: gs.nn.functional.linear(x, w, b), (rand(7, 4), rand(5, 3, 4), rand(5, 3)), (None, 0, 0), "matmul"),
    "layers": (lambda x, w: gs.nn.functional.linear(x, w), (rand(5, 4), rand(3, 4)), (0, None), "matmul"),
    "outer": (gs.outer, (rand(5, 4), rand(5, 3)), (0, 0), "multiply"),
    "tensordot": (lambda a, b: gs.tensordot(a, b, ((0, 2), (2, 1))), (rand(5, 2, 3, 4), rand(5, 5, 4, 2)), (0, 0), "_einsum_pair"),
    "searchsorted": (lambda x: gs.searchsorted(gs.asarray([-1.0, 0.0, 1.0]), x), (rand(5, 3),), (0,), "searchsorted"),
    "broadcast_arrays": (lambda a, b: gs.broadcast_arrays(a, b)[1], (rand(5, 1, 3), rand(2, 1)), (0, None), "broadcast_arrays"),
    "index_add": (lambda x, y: gs.index_add(x, 0, [1, 0, 1], y), (rand(5, 2), rand(5, 3)), (0, 0), "_take_backward"),
    "classes": (gs.nn.functional.cross_entropy, (rand(5, 4, 3), gs.asarray(RANDOM.integers(0, 3, (5, 4)))), (0, 0), "_cross_entropies"),
}  # fmt: skip


@each("name", CASES)
def test_one_call_serves_all_rows(name):
    function, args, in_dims, operator = CASES[name]
    with Calls() as calls:
        found = gs.vmap(function, in_dims=in_dims)(*args)
    assert calls.count(operator) == 1, calls.seen
    rows = [function(*[arg if dim is None else arg[i] for arg, dim in zip(args, in_dims)]) for i in range(5)]
    np.testing.assert_allclose(found, gs.stack(rows), rtol=1e-12, atol=1e-13)


@each("in_dims", [(0, None, None), (None, 0, None), (0, 0, 0), (0, 0, None)])
@pytest.mark.parametrize("groups", [1, 2])
def test_gradients_of_each_example_through_a_convolution(in_dims, groups):
    def loss(x, weight, bias):
        return (gs.nn.functional.conv1d(x, weight, bias, padding=1, dilation=2, groups=groups) ** 3).sum()

    shapes = (2, 4, 9), (6, 4 // groups, 3), (6,)
    args = [rand(*shape) if dim is None else rand(3, *shape) for shape, dim in zip(shapes, in_dims)]
    found = gs.vmap(gs.grad(loss, argnums=(0, 1, 2)), in_dims=in_dims)(*args)
    for i in range(3):
        row = [arg if dim is None else arg[i] for arg, dim in zip(args, in_dims)]
        for got, expected in zip(found, gs.grad(loss, argnums=(0, 1, 2))(*row)):
            np.testing.assert_allclose(got[i], expected, rtol=1e-11, atol=1e-11)


def test_pullbacks_of_a_convolution_for_many_cotangents():
    x, weight = rand(2, 4, 9), rand(6, 4, 3)
    value, pull = gs.vjp(lambda x, weight: gs.nn.functional.conv1d(x, weight), x, weight)
    grads = rand(5, *value.shape)
    with Calls() as calls:
        found = gs.vmap(pull)(grads)
    assert calls.count("_convolve_weight") <= 1 and calls.count("_convolve_input") <= 1
    for i in range(5):
        for got, expected in zip(found, pull(grads[i])):
            np.testing.assert_allclose(got[i], expected, rtol=1e-11, atol=1e-11)


def test_rows_of_vectors_are_one_product_of_matrices():
    x, w = rand(5, 4), rand(4, 3)
    with Calls() as calls:
        gs.vmap(lambda x: x @ w)(x)
        gs.vmap(gs.vmap(lambda x: x @ w))(x[None])
        gs.vmap(lambda x: x @ w[:, 0])(x)
    products = [shapes for name, shapes in calls.seen if name == "matmul"]
    assert products == [((5, 4), (4, 3)), ((1, 5, 4), (4, 3)), ((5, 4), (4,))]


def test_indices_and_axes_in_ranges_at_several_levels():
    x, places = rand(2, 3, 4, 5), gs.asarray(RANDOM.integers(0, 5, (2, 3, 2)))
    found = gs.vmap(gs.vmap(lambda x, i: gs.moveaxis(x[:, i], range(2), range(2)[::-1])))(x, places)
    rows = [gs.stack([gs.moveaxis(x[a, b][:, places[a, b]], (0, 1), (1, 0)) for b in range(3)]) for a in range(2)]
    assert (found == gs.stack(rows)).all()

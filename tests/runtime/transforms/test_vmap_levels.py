"""What a vmap makes of draws, of writes and of fresh tensors."""

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each

RANDOM = np.random.default_rng(11)


def rand(*shape):
    return gs.asarray(RANDOM.normal(size=shape))


def is_the_loop(function, *batches):
    found = gs.vmap(function)(*[batch.copy() for batch in batches])
    rows = [function(*[batch[i].copy() for batch in batches]) for i in range(len(batches[0]))]
    np.testing.assert_allclose(found, np.stack([row.detach() for row in rows]), rtol=1e-12)


# Draws.


def drawn(x):
    return x + gs.random.normal(size=x.shape) * gs.random.uniform() + gs.nn.dropout(gs.ones(x.shape), 0.5)


@each("chunk_size", [1, 2, 3, 5, 7])
def test_one_draw_for_all_rows_is_one_for_those_of_all_chunks(chunk_size):
    x = gs.zeros((7, 4))
    found = gs.vmap(drawn, randomness="same", chunk_size=chunk_size)(x)
    np.testing.assert_array_equal(found, np.broadcast_to(found[0].numpy(), (7, 4)))
    gs.random.manual_seed(3)
    whole, after = gs.vmap(drawn, randomness="same")(x), gs.random.uniform()
    gs.random.manual_seed(3)
    np.testing.assert_array_equal(gs.vmap(drawn, randomness="same", chunk_size=chunk_size)(x), whole)
    assert gs.random.uniform() == after


def test_chunks_draw_the_same_from_each_generator_and_in_each_nest():
    one, other = gs.random.Generator(0), gs.random.Generator(1)

    def function(x):
        return x + one.normal(size=3) + other.normal(size=3) * one.uniform()

    found = gs.vmap(function, randomness="same", chunk_size=2)(gs.zeros((5, 3)))
    np.testing.assert_array_equal(found, np.broadcast_to(found[0].numpy(), (5, 3)))
    inner = gs.vmap(function, randomness="different", chunk_size=2)
    found = gs.vmap(inner, randomness="same", chunk_size=2)(gs.zeros((5, 4, 3))).numpy()
    np.testing.assert_array_equal(found, np.broadcast_to(found[:1], (5, 4, 3)))
    assert len({*found[0, :, 0]}) == 4
    inner = gs.vmap(function, randomness="same", chunk_size=3)
    found = gs.vmap(inner, randomness="different", chunk_size=2)(gs.zeros((5, 4, 3))).numpy()
    np.testing.assert_array_equal(found, np.broadcast_to(found[:, :1], (5, 4, 3)))
    assert len({*found[:, 0, 0]}) == 5
    both = gs.vmap(gs.vmap(function, randomness="same", chunk_size=3), randomness="same", chunk_size=2)(gs.zeros((5, 4, 3))).numpy()
    np.testing.assert_array_equal(both, np.broadcast_to(both[0, 0], (5, 4, 3)))


def test_draws_by_weights():
    weights = gs.asarray(RANDOM.uniform(size=(5, 9)))
    found = gs.vmap(lambda w: gs.multinomial(w, 6), randomness="different")(weights)
    assert found.shape == (5, 6) and all(len({*row}) == 6 for row in found.tolist())
    shared = gs.vmap(lambda x: gs.multinomial(weights[0], 30, True) + 0 * x, randomness="different")(gs.arange(5))
    assert len({tuple(row) for row in shared.tolist()}) == 5
    shared = gs.vmap(lambda x: gs.multinomial(weights[0], 30, True) + 0 * x, randomness="same")(gs.arange(5))
    assert len({tuple(row) for row in shared.tolist()}) == 1
    with pytest.raises(RuntimeError, match="randomness error mode: multinomial"):
        gs.vmap(lambda x: gs.multinomial(weights[0], 2))(weights)


def test_different_rows_of_chunks_draw_on():
    found = gs.vmap(drawn, randomness="different", chunk_size=2)(gs.zeros((7, 4)))
    assert len({*found[:, 0].tolist()}) == 7


def test_a_refused_draw_is_named():
    for function, name in ((lambda x: gs.random.uniform(size=3), "uniform"), (lambda x: gs.nn.dropout(x, 0.5), "dropout")):
        with pytest.raises(RuntimeError, match="called random operation while in randomness error mode") as error:
            gs.vmap(function)(rand(2, 3))
        assert name in str(error.value) and "_dropout" not in str(error.value)


# Fresh tensors and their memory.


def filled(make):
    def function(x):
        y = make(x)
        y.copy_(x[:2])
        y[0] += x[2]
        return y * x.sum()

    return function


FRESH = {
    "new_zeros": lambda x: x.new_zeros(2),
    "new_ones": lambda x: x.new_ones((2,)),
    "new_full": lambda x: x.new_full((2,), 3.0),
    "new_empty": lambda x: x.new_empty((2,)),
    "in a nest": lambda x: gs.vmap(lambda y: y.new_zeros(()) + 0 * y.sum())(x[:2]),
}


@each("name", FRESH)
def test_fresh_tensors_may_be_written_to(name):
    is_the_loop(filled(FRESH[name]), rand(4, 3))
    is_the_loop(gs.vmap(filled(FRESH[name])), rand(4, 2, 3))
    is_the_loop(gs.grad(lambda x: filled(FRESH[name])(x).sum()), rand(4, 3))


def test_memory_of_a_row():
    seen = []

    def function(x):
        seen.append((x.stride(), x.stride(0), x.strides, x.is_contiguous(), gs.result_type(x, 1), gs.result_type(x, gs.float32)))
        return x

    for batch, dim in ((gs.zeros((2, 3, 4)), 0), (gs.zeros((3, 2, 4)), 1), (gs.zeros((3, 4, 2)), 2)):
        seen.clear()
        gs.vmap(function, in_dims=dim)(batch)
        row = batch.moveaxis(dim, 0)[0]
        assert seen == [(row.stride(), row.stride(0), row.strides, row.is_contiguous(), np.float64, np.float64)]


def test_what_a_row_says_of_its_dtype():
    def function(x, n):
        assert x.is_floating_point() and not x.is_complex() and not n.is_floating_point() and not x.is_cuda
        return n.type_as(x) * x

    x, n = rand(3, 2), gs.arange(3)
    found = gs.vmap(function)(x, n)
    np.testing.assert_array_equal(found, x * np.arange(3)[:, None])
    assert (x + 1j).is_complex() and x.type_as(x) is x and (n > 0).type_as(x.astype(gs.float32)).dtype == np.float32


# In-place operators that change the shape.


def squeezed(x):
    y = x * 2
    first = y[0]
    y.squeeze_(1)
    y[0] *= 3
    return y.sum(axis=1) + first.sum()


def exchanged(x):
    y = x.clone()
    look = y[0]
    y.swapaxes_(-1, -2)  # the numbers stay where they are: what looks at them sees what it saw
    y[..., 0] *= x.sum()
    return (y * 2).sum() + (look**2).sum() * y[0, 0, -1]


def put_in(x):
    y = x + 1
    y.expand_dims_(1)
    y.permute_dims_((1, 0, 3, 2))
    y.mul_(x.sum())
    return y


@each("function", [squeezed, exchanged, put_in])
def test_in_place_operators_on_shapes(function):
    for shape in ((3, 1, 2), (2, 1, 3)) if function is squeezed else ((2, 3, 3), (3, 2, 2)):
        is_the_loop(function, rand(4, *shape))
        is_the_loop(gs.vmap(function), rand(2, 4, *shape))
        is_the_loop(gs.grad(lambda x: (function(x) ** 2).sum()), rand(4, *shape))
        is_the_loop(lambda x: gs.jvp(function, (x,), (gs.cos(x),))[1], rand(4, *shape))


def test_the_batch_outside_keeps_its_shape():
    x = rand(4, 1, 3)
    found = gs.vmap(lambda row: row.squeeze_(0) * 2)(x)
    assert x.shape == (4, 1, 3) and found.shape == (4, 3)
    np.testing.assert_array_equal(found, 2 * x[:, 0])
    with pytest.raises(RuntimeError, match="add_ would give a row the shape"):
        gs.vmap(lambda row: row[0, 0].clone().add_(row))(x)


# Running statistics.


def test_batch_norm_moves_statistics_that_are_mapped_too():
    x, mean, var = rand(4, 5, 3, 2), rand(4, 3), gs.exp(rand(4, 3))
    means, variances = mean.copy(), var.copy()

    def norm(x, mean, var):
        return gs.nn.batch_norm(x, mean, var, training=True, momentum=0.3)

    found = gs.vmap(norm)(x, mean, var)
    for i in range(4):
        np.testing.assert_allclose(found[i], norm(x[i], means[i], variances[i]))
    np.testing.assert_allclose(mean, means)
    np.testing.assert_allclose(var, variances)
    shared = gs.zeros(3)
    with pytest.raises(RuntimeError, match="batch_norm: inside of vmap .* running_var is the same for all of them"):
        gs.vmap(lambda x, mean: norm(x, mean, shared))(x, mean)
    np.testing.assert_allclose(mean, means)  # neither was written to


# Axes.


def test_axes_under_the_names_of_jax():
    x = rand(3, 2)
    with pytest.raises(ValueError, match="at least one Tensor"):
        gs.vmap(lambda x: x, in_axes=None)(x)
    with pytest.raises(ValueError, match="can not return a BatchedTensor when out_dim is None"):
        gs.vmap(lambda x: x, out_axes=None)(x)
    np.testing.assert_array_equal(gs.vmap(lambda x: x.sum(), in_axes=None, out_axes=0, axis_size=2)(x), [x.sum()] * 2)
    np.testing.assert_array_equal(gs.vmap(lambda: x[0], axis_size=4, out_axes=1)(), np.stack([x[0]] * 4, 1))
    assert gs.vmap(lambda: gs.random.normal(size=2), axis_size=3, randomness="different", chunk_size=2)().shape == (3, 2)

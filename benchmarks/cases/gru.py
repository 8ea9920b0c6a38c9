"""A gated recurrent unit over fifty steps, differentiated by its weights: many small products and a few functions of each."""

import numpy as np

title = "GRU of 50 steps, batch 16, 8 inputs, 32 hidden, gradients, float32"
tolerance = 1e-3
steps, batch, inner, hidden = 50, 16, 8, 32


def inputs():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(steps, batch, inner))
    weights = [rng.normal(size=(rows, hidden)) / rows**0.5 for rows in (inner, hidden) for _ in range(3)]
    shifts = [0.1 * rng.normal(size=hidden) for _ in range(3)]
    return tuple(array.astype(np.float32) for array in (x, *weights, *shifts))


def cell(sigmoid, tanh, state, x, weights):
    reset_x, update_x, new_x, reset_h, update_h, new_h, reset_0, update_0, new_0 = weights
    reset = sigmoid(x @ reset_x + state @ reset_h + reset_0)
    update = sigmoid(x @ update_x + state @ update_h + update_0)
    new = tanh(x @ new_x + reset * (state @ new_h) + new_0)
    return (1 - update) * new + update * state


def loss(sigmoid, tanh, state, x, weights):
    for i in range(steps):
        state = cell(sigmoid, tanh, state, x[i], weights)
    return (state * state).sum()


def with_gradspec(x, *weights):
    import gradspec as gs

    x, state = gs.tensor(x), gs.zeros((batch, hidden), dtype="float32")
    weights = [gs.tensor(array, requires_grad=True) for array in weights]

    def step():
        value = loss(gs.sigmoid, gs.tanh, state, x, weights)
        return value, *gs.autograd.grad(value, weights)

    return step


def with_torch(x, *weights):
    import torch

    x, state = torch.tensor(x), torch.zeros((batch, hidden))
    weights = [torch.tensor(array, requires_grad=True) for array in weights]

    def step():
        value = loss(torch.sigmoid, torch.tanh, state, x, weights)
        return value, *torch.autograd.grad(value, weights)

    return step


def with_jax(x, *weights):
    import jax
    import jax.numpy as jnp

    def scanned(weights, x):
        def one(state, x):
            return cell(jax.nn.sigmoid, jnp.tanh, state, x, weights), None

        state, _ = jax.lax.scan(one, jnp.zeros((batch, hidden), x.dtype), x)
        return (state * state).sum()

    x, weights = jax.device_put((x, weights))
    gradient = jax.jit(jax.value_and_grad(scanned))

    def step():
        value, gradients = jax.block_until_ready(gradient(weights, x))
        return value, *gradients

    return step


def with_autograd(x, *weights):
    import autograd.numpy as np
    from autograd import value_and_grad

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    state = np.zeros((batch, hidden), np.float32)
    gradient = value_and_grad(lambda weights: loss(sigmoid, np.tanh, state, x, weights))

    def step():
        value, gradients = gradient(list(weights))
        return value, *gradients

    return step

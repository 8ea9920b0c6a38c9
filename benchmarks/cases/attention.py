"""An attention block from primitives: batched products, a softmax, and the gradients of the projections."""

import numpy as np

title = "attention block, 4 heads, batch 8, length 32, width 64, and gradients, float32"
HEADS = 4


def inputs():
    rng = np.random.default_rng(0)
    return rng.normal(size=(8, 32, 64)).astype(np.float32), *(rng.normal(size=(4, 64, 64)) / 8).astype(np.float32)


def loss(xp, softmax, x, query, key, value, output):
    batch, length, width = x.shape

    def heads(weight):
        return xp.swapaxes(xp.reshape(x @ weight, (batch, length, HEADS, width // HEADS)), 1, 2)

    scores = heads(query) @ xp.swapaxes(heads(key), -2, -1) / (width // HEADS) ** 0.5
    mixed = xp.swapaxes(softmax(scores) @ heads(value), 1, 2)
    y = xp.reshape(mixed, (batch, length, width)) @ output + x
    return xp.mean(y * y)


def with_gradspec(*arrays):
    import gradspec as gs

    wanted = [gs.tensor(array, requires_grad=True) for array in arrays]

    def step():
        value = loss(gs, lambda s: gs.nn.softmax(s, -1), *wanted)
        return value, *gs.autograd.grad(value, wanted)

    return step


def with_torch(*arrays):
    import torch

    wanted = [torch.tensor(array, requires_grad=True) for array in arrays]

    def step():
        value = loss(torch, lambda s: torch.softmax(s, -1), *wanted)
        return value, *torch.autograd.grad(value, wanted)

    return step


def with_jax(*arrays):
    import jax

    gradient = jax.jit(jax.value_and_grad(lambda *arrays: loss(jax.numpy, jax.nn.softmax, *arrays), argnums=(0, 1, 2, 3, 4)))
    arrays = jax.device_put(arrays)

    def step():
        value, gradients = jax.block_until_ready(gradient(*arrays))
        return value, *gradients

    return step


def with_autograd(*arrays):
    import autograd.numpy as np
    from autograd import value_and_grad

    def softmax(scores):
        powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        return powers / np.sum(powers, axis=-1, keepdims=True)

    gradient = value_and_grad(lambda arrays: loss(np, softmax, *arrays))

    def step():
        value, gradients = gradient(arrays)
        return value, *gradients

    return step


def with_numpy(x, *weights):
    """Only the matrix products: one forward and two backward."""
    rows, heads = x.reshape(-1, x.shape[-1]), np.ascontiguousarray(x.reshape(8, 32, HEADS, 16).swapaxes(1, 2))
    projected, mixed = np.empty_like(rows), np.empty_like(heads)
    scores, by_weight = np.empty((8, HEADS, 32, 32), x.dtype), np.empty_like(weights[0])

    def step():
        for w in weights:
            np.matmul(rows, w, projected)
            np.matmul(rows, w.T, projected)
            np.matmul(rows.T, projected, by_weight)
        for _ in range(3):
            np.matmul(heads, heads.swapaxes(-2, -1), scores)
            np.matmul(scores, heads, mixed)
        return projected, mixed

    return step

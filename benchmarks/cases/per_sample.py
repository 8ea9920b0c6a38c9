"""The gradient of each of 128 examples by the weights of two layers, by vmap of grad."""

import numpy as np

title = "per-sample gradients of an MLP, batch 128, 64-64-10, float32"
tolerance = 1e-4
not_comparable = {"autograd": "it has no vmap"}


def inputs():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(64, 64)) / 8, rng.normal(size=(10, 64)) / 8
    return [value.astype(np.float32) for value in (*weights, rng.normal(size=(128, 64)), rng.normal(size=(128, 10)))]


def loss(xp, a, b, x, y):
    return xp.sum((b @ xp.tanh(a @ x) - y) ** 2)


def with_gradspec(a, b, x, y):
    import gradspec as gs

    a, b, x, y = map(gs.tensor, (a, b, x, y))
    each = gs.vmap(gs.grad(lambda *args: loss(gs, *args), argnums=(0, 1)), in_dims=(None, None, 0, 0))
    return lambda: each(a, b, x, y)


def with_torch(a, b, x, y):
    import torch
    from torch.func import grad, vmap

    a, b, x, y = map(torch.tensor, (a, b, x, y))
    each = vmap(grad(lambda *args: loss(torch, *args), argnums=(0, 1)), in_dims=(None, None, 0, 0))
    return lambda: each(a, b, x, y)


def with_jax(a, b, x, y):
    import jax

    a, b, x, y = jax.device_put((a, b, x, y))
    each = jax.jit(jax.vmap(jax.grad(lambda *args: loss(jax.numpy, *args), argnums=(0, 1)), in_axes=(None, None, 0, 0)))
    return lambda: jax.block_until_ready(each(a, b, x, y))

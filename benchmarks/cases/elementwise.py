"""Elementwise work on arrays far larger than the cache: memory traffic, loop fusion and fast transcendentals."""

import numpy as np

title = "sum(tanh(x*y + z) * sigmoid(x)) and gradients, 1 000 000 float32"
tolerance = 1e-3  # of a float32 sum of a million terms


def inputs():
    return tuple(np.random.default_rng(0).normal(size=(3, 1_000_000)).astype(np.float32))


def with_gradspec(*arrays):
    import gradspec as gs

    x, y, z = (gs.tensor(array, requires_grad=True) for array in arrays)

    def step():
        value = gs.sum(gs.tanh(x * y + z) * gs.sigmoid(x))
        return value, *gs.autograd.grad(value, [x, y, z])

    return step


def with_torch(*arrays):
    import torch

    x, y, z = (torch.tensor(array, requires_grad=True) for array in arrays)

    def step():
        value = torch.sum(torch.tanh(x * y + z) * torch.sigmoid(x))
        return value, *torch.autograd.grad(value, [x, y, z])

    return step


def with_jax(*arrays):
    import jax
    import jax.numpy as jnp

    def loss(x, y, z):
        return jnp.sum(jnp.tanh(x * y + z) * jax.nn.sigmoid(x))

    arrays = jax.device_put(arrays)
    gradient = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2)))

    def step():
        value, gradients = jax.block_until_ready(gradient(*arrays))
        return value, *gradients

    return step


def with_autograd(*arrays):
    import autograd.numpy as np
    from autograd import value_and_grad

    gradient = value_and_grad(lambda xyz: np.sum(np.tanh(xyz[0] * xyz[1] + xyz[2]) / (1 + np.exp(-xyz[0]))))

    def step():
        value, gradients = gradient(arrays)
        return value, *gradients

    return step


def with_numpy(x, y, z):
    """Only the memory traffic: three arrays are read and three written, by copies."""
    outs = [np.empty_like(x) for _ in range(3)]

    def step():
        for array, out in zip((x, y, z), outs):
            np.copyto(out, array)
        return outs

    return step

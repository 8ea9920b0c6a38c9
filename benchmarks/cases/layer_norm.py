"""Layer normalisation from primitives: reductions, broadcasting and a few elementwise passes over one array."""

import numpy as np

title = "layer normalisation from primitives, and gradients, 128 x 512 float32"


def inputs():
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(2, 128, 512)).astype(np.float32)
    scale, shift = rng.normal(size=(2, 512)).astype(np.float32)
    return x, scale, shift, weights


def loss(xp, x, scale, shift, weights):
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    variance = xp.mean(centred * centred, axis=-1, keepdims=True)
    y = centred / xp.sqrt(variance + 1e-5) * scale + shift
    return xp.sum(y * weights)


def with_gradspec(*arrays):
    import gradspec as gs

    *arrays, weights = arrays
    wanted, weights = [gs.tensor(array, requires_grad=True) for array in arrays], gs.tensor(weights)

    def step():
        value = loss(gs, *wanted, weights)
        return value, *gs.autograd.grad(value, wanted)

    return step


def with_torch(*arrays):
    import torch

    *arrays, weights = arrays
    wanted, weights = [torch.tensor(array, requires_grad=True) for array in arrays], torch.tensor(weights)

    def step():
        value = loss(torch, *wanted, weights)
        return value, *torch.autograd.grad(value, wanted)

    return step


def with_jax(*arrays):
    import jax

    arrays = jax.device_put(arrays)
    gradient = jax.jit(jax.value_and_grad(lambda *arrays: loss(jax.numpy, *arrays), argnums=(0, 1, 2)))

    def step():
        value, gradients = jax.block_until_ready(gradient(*arrays))
        return value, *gradients

    return step


def with_autograd(*arrays):
    import autograd.numpy as np
    from autograd import value_and_grad

    *wanted, weights = arrays
    gradient = value_and_grad(lambda wanted: loss(np, *wanted, weights))

    def step():
        value, gradients = gradient(tuple(wanted))
        return value, *gradients

    return step


def with_numpy(x, scale, shift, weights):
    """Only the memory traffic: two arrays are read, the result and a gradient are written, by copies."""
    outs = [np.empty_like(x) for _ in range(2)]

    def step():
        np.copyto(outs[0], x)
        np.copyto(outs[1], weights)
        return outs

    return step

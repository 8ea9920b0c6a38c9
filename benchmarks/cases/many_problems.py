"""Gradients of Rosenbrock's function at a thousand points of eight unknowns, by vmap of grad."""

import numpy as np

title = "vmap(grad) of 1000 problems of 8 unknowns, float64"
tolerance = 1e-9
not_comparable = {"autograd": "it has no vmap"}


def inputs():
    return (np.random.default_rng(0).normal(size=(1000, 8)),)


def function(xp, x):
    return xp.sum((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2)


def with_gradspec(x):
    import gradspec as gs

    x = gs.tensor(x)
    each = gs.vmap(gs.grad(lambda x: function(gs, x)))
    return lambda: (each(x),)


def with_torch(x):
    import torch

    x = torch.tensor(x)
    each = torch.func.vmap(torch.func.grad(lambda x: function(torch, x)))
    return lambda: (each(x),)


def with_jax(x):
    import jax

    x = jax.device_put(x)
    each = jax.jit(jax.vmap(jax.grad(lambda x: function(jax.numpy, x))))
    return lambda: (jax.block_until_ready(each(x)),)

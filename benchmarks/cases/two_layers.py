"""A function whose derivatives the following cases measure: two layers of 64, summed, without any gradient."""

import numpy as np

title = "f: two layers of 64, summed, float64, without gradients"
tolerance = 1e-9


def inputs():
    rng = np.random.default_rng(0)
    return rng.normal(size=64), rng.normal(size=64), rng.normal(size=(64, 64)) / 8, rng.normal(size=(64, 64)) / 8


def outputs(xp, x, a, b):
    return xp.tanh(b @ xp.tanh(a @ x))


def function(xp, x, a, b):
    return xp.sum(xp.log(1 + xp.exp(b @ xp.tanh(a @ x))))


def with_gradspec(x, v, a, b):
    import gradspec as gs

    x, a, b = map(gs.tensor, (x, a, b))
    return lambda: (function(gs, x, a, b),)


def with_torch(x, v, a, b):
    import torch

    x, a, b = map(torch.tensor, (x, a, b))
    return lambda: (function(torch, x, a, b),)


def with_jax(x, v, a, b):
    import jax

    x, a, b = jax.device_put((x, a, b))
    f = jax.jit(lambda x: function(jax.numpy, x, a, b))
    return lambda: (jax.block_until_ready(f(x)),)


def with_autograd(x, v, a, b):
    import autograd.numpy as np

    return lambda: (function(np, x, a, b),)

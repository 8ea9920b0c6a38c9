"""The Laplacian of a network of three layers by its sixteen inputs, at many points: forward Laplacian against Hessians."""

import numpy as np

title = "Laplacian of an MLP 16-64-64-64-1, 256 points, float64"
tolerance = 1e-9
not_comparable = {"autograd": "it has no vmap"}


def inputs():
    rng = np.random.default_rng(0)
    sizes = (16, 64, 64, 64, 1)
    return rng.normal(size=(256, 16)), *(rng.normal(size=pair) / pair[0] ** 0.5 for pair in zip(sizes, sizes[1:]))


def function(xp, x, weights):
    *hidden, last = weights
    for weight in hidden:
        x = xp.tanh(x @ weight)
    return (x @ last)[0]


def with_gradspec(x, *weights):
    import gradspec as gs

    x, weights = gs.tensor(x), [gs.tensor(weight) for weight in weights]
    each = gs.vmap(gs.func.laplacian(lambda x: function(gs, x, weights)))
    return lambda: (each(x),)


def with_torch(x, *weights):
    import torch

    x, weights = torch.tensor(x), [torch.tensor(weight) for weight in weights]
    each = torch.func.vmap(lambda x: torch.trace(torch.func.hessian(lambda x: function(torch, x, weights))(x)))
    return lambda: (each(x),)


def with_jax(x, *weights):
    import jax

    x, weights = jax.device_put(x), [jax.device_put(weight) for weight in weights]
    each = jax.jit(jax.vmap(lambda x: jax.numpy.trace(jax.hessian(lambda x: function(jax.numpy, x, weights))(x))))
    return lambda: (jax.block_until_ready(each(x)),)

"""The Hessian of the function of `two_layers`; PyTorch uses its fastest method."""

from .two_layers import function, inputs  # noqa: F401 (the harness asks for them)

title = "Hessian of f, 64 by 64"
multiple_of = "two_layers"
tolerance = 1e-9


def with_gradspec(x, v, a, b):
    import gradspec as gs

    x, v, a, b = map(gs.tensor, (x, v, a, b))
    return lambda: (gs.autograd.functional.hessian(lambda x: function(gs, x, a, b), x),)


def with_torch(x, v, a, b):
    import torch

    x, v, a, b = map(torch.tensor, (x, v, a, b))
    return lambda: (torch.autograd.functional.hessian(lambda x: function(torch, x, a, b), x, vectorize=True),)


def with_jax(x, v, a, b):
    import jax

    x, v, a, b = jax.device_put((x, v, a, b))
    whole = jax.jit(jax.hessian(lambda x: function(jax.numpy, x, a, b)))
    return lambda: (jax.block_until_ready(whole(x)),)


def with_autograd(x, v, a, b):
    import autograd.numpy as np
    from autograd import hessian

    whole = hessian(lambda x: function(np, x, a, b))
    return lambda: (whole(x),)

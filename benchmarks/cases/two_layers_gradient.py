"""The gradient of the function of `two_layers`, recorded anew in each step."""

from .two_layers import function, inputs  # noqa: F401 (the harness asks for them)

title = "gradient of f"
multiple_of = "two_layers"
tolerance = 1e-9


def with_gradspec(x, v, a, b):
    import gradspec as gs

    x, v, a, b = map(gs.tensor, (x, v, a, b))
    x.requires_grad_()
    return lambda: gs.autograd.grad(function(gs, x, a, b), [x])


def with_torch(x, v, a, b):
    import torch

    x, v, a, b = map(torch.tensor, (x, v, a, b))
    x.requires_grad_()
    return lambda: torch.autograd.grad(function(torch, x, a, b), [x])


def with_jax(x, v, a, b):
    import jax

    x, v, a, b = jax.device_put((x, v, a, b))
    gradient = jax.jit(jax.grad(lambda x: function(jax.numpy, x, a, b)))
    return lambda: (jax.block_until_ready(gradient(x)),)


def with_autograd(x, v, a, b):
    import autograd.numpy as np
    from autograd import grad

    gradient = grad(lambda x: function(np, x, a, b))
    return lambda: (gradient(x),)

"""The Hessian of the function of `two_layers` times a vector; PyTorch uses the faster of its two methods."""

from .two_layers import function, inputs  # noqa: F401 (the harness asks for them)

title = "Hessian-vector product of f"
multiple_of = "two_layers"
tolerance = 1e-9


def with_gradspec(x, v, a, b):
    import gradspec as gs

    x, v, a, b = map(gs.tensor, (x, v, a, b))
    return lambda: gs.autograd.functional.hvp(lambda x: function(gs, x, a, b), x, v)[1:]


def with_torch(x, v, a, b):
    import torch

    x, v, a, b = map(torch.tensor, (x, v, a, b))
    return lambda: torch.autograd.functional.vhp(lambda x: function(torch, x, a, b), x, v)[1:]


def with_jax(x, v, a, b):
    import jax

    x, v, a, b = jax.device_put((x, v, a, b))
    gradient = jax.grad(lambda x: function(jax.numpy, x, a, b))
    product = jax.jit(lambda x, v: jax.jvp(gradient, (x,), (v,))[1])
    return lambda: (jax.block_until_ready(product(x, v)),)


def with_autograd(x, v, a, b):
    import autograd.numpy as np
    from autograd import hessian_vector_product

    product = hessian_vector_product(lambda x: function(np, x, a, b))
    return lambda: (product(x, v),)

"""A tangent through the function of `two_layers`: one pass in forward mode."""

from .two_layers import function, inputs  # noqa: F401 (the harness asks for them)

title = "jvp of f"
multiple_of = "two_layers"
tolerance = 1e-9


def with_gradspec(x, v, a, b):
    import gradspec as gs

    x, v, a, b = map(gs.tensor, (x, v, a, b))
    return lambda: gs.autograd.functional.jvp(lambda x: function(gs, x, a, b), x, v)


def with_torch(x, v, a, b):
    import torch

    x, v, a, b = map(torch.tensor, (x, v, a, b))
    return lambda: torch.autograd.functional.jvp(lambda x: function(torch, x, a, b), x, v)


def with_jax(x, v, a, b):
    import jax

    x, v, a, b = jax.device_put((x, v, a, b))
    push = jax.jit(lambda x, v: jax.jvp(lambda x: function(jax.numpy, x, a, b), (x,), (v,)))
    return lambda: jax.block_until_ready(push(x, v))


def with_autograd(x, v, a, b):
    import autograd.numpy as np
    from autograd import make_jvp

    push = make_jvp(lambda x: function(np, x, a, b))
    return lambda: push(x)(v)

"""The Jacobian of two layers, 64 rows; PyTorch uses its fastest method."""

from .two_layers import inputs, outputs  # noqa: F401 (the harness asks for them)

title = "Jacobian of two layers, 64 by 64"
multiple_of = "two_layers"
tolerance = 1e-9


def with_gradspec(x, v, a, b):
    import gradspec as gs

    x, v, a, b = map(gs.tensor, (x, v, a, b))
    return lambda: (gs.autograd.functional.jacobian(lambda x: outputs(gs, x, a, b), x),)


def with_torch(x, v, a, b):
    import torch

    x, v, a, b = map(torch.tensor, (x, v, a, b))
    rows = torch.func.jacrev(lambda x: outputs(torch, x, a, b))
    return lambda: (rows(x),)


def with_jax(x, v, a, b):
    import jax

    x, v, a, b = jax.device_put((x, v, a, b))
    rows = jax.jit(jax.jacrev(lambda x: outputs(jax.numpy, x, a, b)))
    return lambda: (jax.block_until_ready(rows(x)),)


def with_autograd(x, v, a, b):
    import autograd.numpy as np
    from autograd import jacobian

    rows = jacobian(lambda x: outputs(np, x, a, b))
    return lambda: (rows(x),)

"""A tangent through fifty small layers in forward mode: the cost of a dual operation."""

import numpy as np

title = "jvp through 50 layers of 16, float64"
tolerance = 1e-9


def inputs():
    rng = np.random.default_rng(0)
    return rng.normal(size=16), rng.normal(size=16), rng.normal(size=(50, 16, 16)) / 4, rng.normal(size=(50, 16)) / 4


def network(xp, x, weights, biases):
    for w, b in zip(weights, biases):
        x = xp.tanh(w @ x + b)
    return x


def with_gradspec(x, v, weights, biases):
    import gradspec as gs
    from gradspec.autograd import forward_ad

    x, v = gs.tensor(x), gs.tensor(v)
    weights, biases = [gs.tensor(w) for w in weights], [gs.tensor(b) for b in biases]

    def step():
        with forward_ad.dual_level():
            return tuple(forward_ad.unpack_dual(network(gs, forward_ad.make_dual(x, v), weights, biases)))

    return step


def with_torch(x, v, weights, biases):
    import torch
    from torch.autograd import forward_ad

    x, v = torch.tensor(x), torch.tensor(v)
    weights, biases = [torch.tensor(w) for w in weights], [torch.tensor(b) for b in biases]

    def step():
        with forward_ad.dual_level():
            return tuple(forward_ad.unpack_dual(network(torch, forward_ad.make_dual(x, v), weights, biases)))

    return step


def with_jax(x, v, weights, biases):
    import jax

    x, v, weights, biases = jax.device_put((x, v, list(weights), list(biases)))
    push = jax.jit(lambda x, v: jax.jvp(lambda x: network(jax.numpy, x, weights, biases), (x,), (v,)))
    return lambda: jax.block_until_ready(push(x, v))


def with_autograd(x, v, weights, biases):
    import autograd.numpy as np
    from autograd import make_jvp

    push = make_jvp(lambda x: network(np, x, weights, biases))
    return lambda: push(x)(v)

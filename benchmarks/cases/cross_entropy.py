"""Softmax cross entropy of a batch, value and gradient."""

import numpy as np

title = "softmax cross entropy and gradient, 128 x 1000 float32"


def inputs():
    rng = np.random.default_rng(0)
    return rng.normal(size=(128, 1000)).astype(np.float32), rng.integers(1000, size=128)


def with_gradspec(z, targets):
    import gradspec as gs

    z, targets = gs.tensor(z, requires_grad=True), gs.tensor(targets)

    def step():
        loss = gs.nn.cross_entropy(z, targets)
        return loss, *gs.autograd.grad(loss, [z])

    return step


def with_torch(z, targets):
    import torch

    z, targets = torch.tensor(z, requires_grad=True), torch.tensor(targets)

    def step():
        loss = torch.nn.functional.cross_entropy(z, targets)
        return loss, *torch.autograd.grad(loss, [z])

    return step


def with_jax(z, targets):
    import jax
    import jax.numpy as jnp

    def loss(z, targets):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(z), targets[:, None], axis=1))

    z, targets = jax.device_put((z, targets))
    gradient = jax.jit(jax.value_and_grad(loss))
    return lambda: jax.block_until_ready(gradient(z, targets))


def with_autograd(z, targets):
    import autograd.numpy as np
    from autograd import value_and_grad
    from autograd.scipy.special import logsumexp

    rows = np.arange(len(targets))
    gradient = value_and_grad(lambda z: np.mean(logsumexp(z, axis=1) - z[rows, targets]))
    return lambda: gradient(z)


def with_numpy(z, targets):
    """One exponential and one product for each element, which the gradient cannot avoid."""
    out = np.empty_like(z)

    def step():
        np.exp(z, out)
        np.multiply(out, 0.1, out)
        return (out,)

    return step

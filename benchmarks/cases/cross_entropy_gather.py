"""Softmax cross entropy as programs write it out: log_softmax, one element of each row, their mean."""

import numpy as np

title = "cross entropy by log_softmax and a gather, and gradient, 512 x 1024 float32"


def inputs():
    rng = np.random.default_rng(0)
    return rng.normal(size=(512, 1024)).astype(np.float32), rng.integers(1024, size=512)


def with_gradspec(z, targets):
    import gradspec as gs

    z, places = gs.tensor(z, requires_grad=True), gs.tensor(targets[:, None])

    def step():
        loss = -gs.gather(gs.nn.log_softmax(z, 1), 1, places).mean()
        return loss, *gs.autograd.grad(loss, [z])

    return step


def with_torch(z, targets):
    import torch

    z, places = torch.tensor(z, requires_grad=True), torch.tensor(targets[:, None])

    def step():
        loss = -torch.gather(torch.nn.functional.log_softmax(z, 1), 1, places).mean()
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

    def loss(z):
        scores = z - logsumexp(z, axis=1, keepdims=True)
        return -np.mean(scores[rows, targets])

    gradient = value_and_grad(loss)
    return lambda: gradient(z)


def with_numpy(z, targets):
    """Two exponentials an element, one for the sum and one for the gradient, and an array that is written twice."""
    out = np.empty_like(z)

    def step():
        np.exp(z, out)
        np.exp(out, out)
        return (out,)

    return step

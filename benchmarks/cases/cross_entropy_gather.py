"""Softmax cross entropy from primitives, as in many programs: log_softmax, one element of each row, their mean."""

import numpy as np

from .cross_entropy import with_autograd, with_jax  # from primitives as well

__all__ = ["inputs", "title", "with_autograd", "with_gradspec", "with_jax", "with_numpy", "with_torch"]

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


def with_numpy(z, targets):
    """Two exponentials for each element, one for the sum and one for the gradient, and an array that is written twice."""
    out = np.empty_like(z)

    def step():
        np.exp(z, out)
        np.exp(out, out)
        return (out,)

    return step

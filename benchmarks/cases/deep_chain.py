"""A graph of depth 200 000, built, run backward and freed: the cost of a node must not grow with the graph."""

import numpy as np

title = "chain of 200 000 nodes: build, backward, free"
not_comparable = {"jax": "XLA does not compile 200 000 unrolled ops, and a scan has no graph"}


def inputs():
    return np.linspace(0.5, 1.5, 8, dtype=np.float32), np.float32(0.99999)


def chain(x, w):
    for _ in range(200_000):
        x = x * w
    return x


def with_gradspec(x, w):
    import gradspec as gs

    x, w = gs.tensor(x, requires_grad=True), gs.tensor(w)

    def step():
        x.grad = None
        gs.sum(chain(x, w)).backward()
        return (x.grad,)

    return step


def with_torch(x, w):
    import torch

    x, w = torch.tensor(x, requires_grad=True), torch.tensor(w)

    def step():
        x.grad = None
        torch.sum(chain(x, w)).backward()
        return (x.grad,)

    return step


def with_autograd(x, w):
    import autograd.numpy as np
    from autograd import grad

    gradient = grad(lambda x: np.sum(chain(x, w)))
    return lambda: (gradient(x),)


def with_numpy(x, w):
    forward, backward = np.empty_like(x), np.ones_like(x)

    def step():
        np.multiply(x, w, forward)
        backward[:] = 1
        for _ in range(200_000):
            np.multiply(forward, w, forward)
        for _ in range(200_000):
            np.multiply(backward, w, backward)
        return (backward,)

    return step

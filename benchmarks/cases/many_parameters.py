"""A step of Adam on two hundred small parameters with existing gradients; PyTorch's with `foreach=True`."""

import numpy as np

title = "Adam step, 200 parameters of shape (8, 4), float32"
not_comparable = dict.fromkeys(("jax", "autograd"), "has no optimisers of its own")


def inputs():
    rng = np.random.default_rng(0)
    parameters = [rng.normal(size=(8, 4)).astype(np.float32) for _ in range(200)]
    return parameters, [rng.normal(size=(8, 4)).astype(np.float32) for _ in parameters]


def with_gradspec(parameters, gradients):
    import gradspec as gs

    parameters = [gs.tensor(p, requires_grad=True) for p in parameters]
    for p, g in zip(parameters, gradients):
        p.grad = gs.tensor(g)
    optimizer = gs.optim.Adam(parameters, lr=0.01)

    def step():
        optimizer.step()
        return parameters

    return step


def with_torch(parameters, gradients):
    import torch

    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]
    for p, g in zip(parameters, gradients):
        p.grad = torch.tensor(g)
    optimizer = torch.optim.Adam(parameters, lr=0.01, foreach=True)

    def step():
        optimizer.step()
        return parameters

    return step

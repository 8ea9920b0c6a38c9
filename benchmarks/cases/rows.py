"""A loop that fills a buffer row by row, as NumPy programs do: 64 rows of 8, forward and backward."""

import numpy as np

title = "64 rows written into a buffer, forward and backward, per row"
units = 64
not_comparable = {"jax": "arrays cannot be written to", "autograd": "arrays cannot be written to"}


def inputs():
    return (np.linspace(0.5, 1.5, 64 * 8).reshape(64, 8),)


def with_gradspec(p):
    import gradspec as gs

    p = gs.tensor(p, requires_grad=True)

    def step():
        p.grad = None
        buffer = gs.zeros((units, 8))
        for i in range(units):
            buffer[i] = p[i] * 2
        buffer.sum().backward()
        return p.grad

    return step


def with_torch(p):
    import torch

    p = torch.tensor(p, requires_grad=True)

    def step():
        p.grad = None
        buffer = torch.zeros(units, 8, dtype=torch.float64)
        for i in range(units):
            buffer[i] = p[i] * 2
        buffer.sum().backward()
        return p.grad

    return step

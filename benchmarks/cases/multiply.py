"""The smallest recorded operation: one product of two 8-element arrays."""

import numpy as np

title = "one recorded multiply, 8 float32"
units = 1000
not_comparable = {"jax": "jitted code records nothing at run time"}


def inputs():
    rng = np.random.default_rng(0)
    return rng.normal(size=8).astype(np.float32), rng.normal(size=8).astype(np.float32)


def multiply(a, b):
    for _ in range(units):
        y = a * b
    return (y,)


def with_gradspec(a, b):
    import gradspec as gs

    a, b = gs.tensor(a, requires_grad=True), gs.tensor(b, requires_grad=True)
    return lambda: multiply(a, b)


def with_torch(a, b):
    import torch

    a, b = torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)
    return lambda: multiply(a, b)


def with_autograd(a, b):
    from autograd.core import VJPNode
    from autograd.tracer import new_box, trace_stack

    def step():
        with trace_stack.new_trace() as trace:
            (y,) = multiply(new_box(a, trace, VJPNode.new_root()), new_box(b, trace, VJPNode.new_root()))
        return (y._value,)

    return step

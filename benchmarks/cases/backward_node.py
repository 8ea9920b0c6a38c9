"""The cost of one node in backward: many passes over a chain of products that is recorded once, both operands differentiated."""

import numpy as np

title = "one node of backward (multiply, both gradients), 8 float32"
units = 1000
not_comparable = {"jax": "jitted code has no nodes"}


def inputs():
    x = np.linspace(0.5, 1.5, 8, dtype=np.float32)
    w = np.linspace(0.999, 1.001, 8, dtype=np.float32)
    return x, w, np.ones(8, np.float32)


def chain(x, w):
    for _ in range(units):
        x = x * w
    return x


def with_gradspec(x, w, ones):
    import gradspec as gs

    x, w, ones = gs.tensor(x, requires_grad=True), gs.tensor(w, requires_grad=True), gs.tensor(ones)
    y = chain(x, w)

    def step():
        x.grad = w.grad = None
        y.backward(ones, retain_graph=True)
        return x.grad, w.grad

    return step


def with_torch(x, w, ones):
    import torch

    x, w, ones = torch.tensor(x, requires_grad=True), torch.tensor(w, requires_grad=True), torch.tensor(ones)
    y = chain(x, w)

    def step():
        x.grad = w.grad = None
        y.backward(ones, retain_graph=True)
        return x.grad, w.grad

    return step


def with_autograd(x, w, ones):
    from autograd import make_vjp
    from autograd.builtins import tuple as boxed_tuple

    backward, _ = make_vjp(lambda both: chain(both[0], both[1]))(boxed_tuple((x, w)))
    return lambda: backward(ones)

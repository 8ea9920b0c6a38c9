"""A Hessian-vector product: the derivative of the gradient along one direction."""

import numpy as np

title = "Hessian-vector product of Rosenbrock, n = 100, float64"
tolerance = 1e-9


def inputs():
    rng = np.random.default_rng(0)
    return rng.normal(size=100), rng.normal(size=100)


def rosenbrock(xp, x):
    head, tail = x[:-1], x[1:]
    return xp.sum(100 * (tail - head**2) ** 2 + (1 - head) ** 2)


def with_gradspec(x, v):
    import gradspec as gs

    x, v = gs.tensor(x, requires_grad=True), gs.tensor(v)

    def step():
        (gradient,) = gs.autograd.grad(rosenbrock(gs, x), [x], create_graph=True)
        return gs.autograd.grad(gradient, [x], [v])

    return step


def with_torch(x, v):
    import torch

    x, v = torch.tensor(x, requires_grad=True), torch.tensor(v)

    def step():
        (gradient,) = torch.autograd.grad(rosenbrock(torch, x), [x], create_graph=True)
        return torch.autograd.grad(gradient, [x], [v])

    return step


def with_jax(x, v):
    import jax

    x, v = jax.device_put((x, v))
    gradient = jax.grad(lambda x: rosenbrock(jax.numpy, x))
    product = jax.jit(lambda x, v: jax.jvp(gradient, (x,), (v,))[1])
    return lambda: (jax.block_until_ready(product(x, v)),)


def with_autograd(x, v):
    import autograd.numpy as np
    from autograd import hessian_vector_product

    product = hessian_vector_product(lambda x: rosenbrock(np, x))
    return lambda: (product(x, v),)

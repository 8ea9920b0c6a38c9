"""A thousand small operations recorded and differentiated: only the overhead of an operation."""

import numpy as np

title = "chain of 1000 small ops, forward and backward, 8 float32"


def inputs():
    x = np.linspace(0.5, 1.5, 8, dtype=np.float32)
    w = np.linspace(0.99, 1.01, 8, dtype=np.float32)
    b = np.linspace(-0.01, 0.01, 8, dtype=np.float32)
    return x, w, b


def chain(x, w, b):
    for _ in range(500):
        x = x * w
        x = x + b
    return x


def with_gradspec(*arrays):
    import gradspec as gs

    x, w, b = (gs.tensor(array, requires_grad=True) for array in arrays)

    def step():
        x.grad = w.grad = b.grad = None
        gs.sum(chain(x, w, b)).backward()
        return x.grad, w.grad, b.grad

    return step


def with_torch(*arrays):
    import torch

    x, w, b = (torch.tensor(array, requires_grad=True) for array in arrays)

    def step():
        x.grad = w.grad = b.grad = None
        torch.sum(chain(x, w, b)).backward()
        return x.grad, w.grad, b.grad

    return step


def with_jax(*arrays):
    import jax

    x, w, b = jax.device_put(arrays)
    gradient = jax.jit(jax.grad(lambda x, w, b: jax.numpy.sum(chain(x, w, b)), argnums=(0, 1, 2)))
    return lambda: jax.block_until_ready(gradient(x, w, b))


def with_numpy(x, w, b):
    values = [np.empty(8, np.float32) for _ in range(1001)]
    grad, total, out = np.ones(8, np.float32), np.zeros(8, np.float32), np.empty(8, np.float32)

    def step():
        values[0][:], grad[:], total[:] = x, 1, 0
        for i in range(0, 1000, 2):
            np.multiply(values[i], w, values[i + 1])
            np.add(values[i + 1], b, values[i + 2])
        for i in range(998, -1, -2):
            np.add(total, grad, total)
            np.multiply(grad, values[i], out)
            np.add(total, out, total)
            np.multiply(grad, w, grad)
        return (total,)

    return step


def with_autograd(x, w, b):
    import autograd.numpy as np
    from autograd import grad

    gradient = grad(lambda arrays: np.sum(chain(*arrays)))
    return lambda: gradient((x, w, b))


def with_casadi(x, w, b):
    import casadi

    names = [casadi.SX.sym(name, 8) for name in "xwb"]
    loss = casadi.sum1(chain(*names))
    gradient = casadi.Function("gradient", names, [casadi.gradient(loss, name) for name in names])
    arrays = [casadi.DM(array) for array in (x, w, b)]
    return lambda: gradient(*arrays)

"""A Gaussian process: negative log marginal likelihood and its gradient in the hyper-parameters, through LAPACK."""

import numpy as np

title = "Gaussian-process likelihood and gradient, n = 100, float64"
tolerance = 1e-7


def inputs(points=100):
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, size=points))
    y = np.sin(2 * x) + 0.1 * rng.normal(size=points)
    return np.log([0.7, 1.2, 0.2]), (x[:, None] - x) ** 2, np.eye(points), y[:, None]


def negative_log_likelihood(xp, solve_triangular, diagonal, theta, squared_distance, eye, y):
    length, amplitude, noise = xp.exp(2 * theta)
    covariance = amplitude * xp.exp(-0.5 / length * squared_distance) + noise * eye
    factor = xp.linalg.cholesky(covariance)
    whitened = solve_triangular(factor, y)
    return 0.5 * xp.sum(whitened**2) + xp.sum(xp.log(diagonal(factor))) + 0.5 * len(y) * np.log(2 * np.pi)


def with_gradspec(*arrays):
    import gradspec as gs

    theta, *data = (gs.tensor(array) for array in arrays)
    theta.requires_grad = True

    def solve(a, b):
        return gs.linalg.solve_triangular(a, b, lower=True)

    def step():
        value = negative_log_likelihood(gs, solve, gs.diagonal, theta, *data)
        return value, *gs.autograd.grad(value, [theta])

    return step


def with_torch(*arrays):
    import torch

    theta, *data = (torch.tensor(array) for array in arrays)
    theta.requires_grad = True

    def solve(a, b):
        return torch.linalg.solve_triangular(a, b, upper=False)

    def step():
        value = negative_log_likelihood(torch, solve, torch.diagonal, theta, *data)
        return value, *torch.autograd.grad(value, [theta])

    return step


def with_jax(*arrays):
    import jax
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    def solve(a, b):
        return solve_triangular(a, b, lower=True)

    def loss(theta, *data):
        return negative_log_likelihood(jnp, solve, jnp.diagonal, theta, *data)

    arrays = jax.device_put(arrays)
    gradient = jax.jit(jax.value_and_grad(loss))
    return lambda: jax.block_until_ready(gradient(*arrays))


def with_autograd(theta, *data):
    import autograd.numpy as np
    from autograd import value_and_grad
    from autograd.scipy.linalg import solve_triangular

    def solve(a, b):
        return solve_triangular(a, b, lower=True)

    # Its `diagonal` differentiates only the last two axes, counted from the end; its `diag` works here.
    gradient = value_and_grad(lambda theta: negative_log_likelihood(np, solve, np.diag, theta, *data))
    return lambda: gradient(theta)


def with_numpy(theta, squared_distance, eye, y):
    """An exponential of the matrix, its factorisation, and one product of such matrices for backward."""
    covariance = np.exp(-0.5 * squared_distance) + 0.1 * eye

    def step():
        np.exp(squared_distance)
        factor = np.linalg.cholesky(covariance)
        return (factor @ factor,)

    return step

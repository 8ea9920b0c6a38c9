"""A proposal of Hamiltonian Monte Carlo for a logistic regression: sequential gradients of one small function."""

import numpy as np

title = "HMC proposal, logistic regression 200 x 10, 20 leapfrog steps, float64"
tolerance = 1e-7
steps, size = 20, 0.02


def inputs():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 10))
    signs = np.sign(x @ rng.normal(size=10) + rng.normal(size=200))
    return 0.1 * rng.normal(size=10), rng.normal(size=10), x, signs, np.array(np.log(0.7))


def potential(xp, logaddexp, weights, x, signs):
    return xp.sum(logaddexp(0 * signs, -signs * (x @ weights))) + 0.5 * xp.sum(weights * weights)


def proposal(xp, energy, gradient, weights, momentum, threshold):
    """The position of the chain after the proposal, and the change of the energy."""
    start, q, p = energy(weights) + 0.5 * xp.sum(momentum * momentum), weights, momentum
    p = p - 0.5 * size * gradient(q)
    for _ in range(steps - 1):
        q = q + size * p
        p = p - size * gradient(q)
    q = q + size * p
    p = p - 0.5 * size * gradient(q)
    change = energy(q) + 0.5 * xp.sum(p * p) - start
    return xp.where(threshold < -change, q, weights), change


def with_gradspec(*arrays):
    import gradspec as gs

    weights, momentum, x, signs, threshold = (gs.tensor(array) for array in arrays)

    def energy(weights):
        return potential(gs, gs.logaddexp, weights, x, signs)

    return lambda: proposal(gs, energy, gs.grad(energy), weights, momentum, threshold)


def with_torch(*arrays):
    import torch

    weights, momentum, x, signs, threshold = (torch.tensor(array) for array in arrays)

    def energy(weights):
        return potential(torch, torch.logaddexp, weights, x, signs)

    def gradient(weights):
        weights = weights.detach().requires_grad_()
        return torch.autograd.grad(energy(weights), weights)[0]

    return lambda: proposal(torch, energy, gradient, weights, momentum, threshold)


def with_jax(*arrays):
    import jax
    import jax.numpy as jnp

    def step(weights, momentum, x, signs, threshold):
        def energy(weights):
            return potential(jnp, jnp.logaddexp, weights, x, signs)

        return proposal(jnp, energy, jax.grad(energy), weights, momentum, threshold)

    arrays = jax.device_put(arrays)
    compiled = jax.jit(step)
    return lambda: jax.block_until_ready(compiled(*arrays))


def with_autograd(weights, momentum, x, signs, threshold):
    import autograd.numpy as np
    from autograd import grad

    def energy(weights):
        return potential(np, np.logaddexp, weights, x, signs)

    return lambda: proposal(np, energy, grad(energy), weights, momentum, threshold)

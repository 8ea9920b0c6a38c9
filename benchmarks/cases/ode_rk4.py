"""Lotka-Volterra by the Runge-Kutta method, differentiated by its initial values and its rates: a loop over tiny arrays."""

import numpy as np

title = "RK4 of Lotka-Volterra, 200 steps, gradient, float64"
tolerance = 1e-7
steps, dt = 200, 0.05


def inputs():
    return np.array([1.0, 1.5]), np.array([1.1, 0.4, 0.4, 0.1])


def rk4_step(stack, state, rates):
    a, b, c, d = rates

    def field(state):
        prey, predator = state[0], state[1]
        return stack([a * prey - b * prey * predator, d * prey * predator - c * predator])

    k1 = field(state)
    k2 = field(state + 0.5 * dt * k1)
    k3 = field(state + 0.5 * dt * k2)
    k4 = field(state + dt * k3)
    return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(stack, state, rates):
    rates = tuple(rates[i] for i in range(4))
    for _ in range(steps):
        state = rk4_step(stack, state, rates)
    return state


def with_gradspec(start, rates):
    import gradspec as gs

    start, rates = gs.tensor(start, requires_grad=True), gs.tensor(rates, requires_grad=True)

    def step():
        value = gs.sum(integrate(gs.stack, start, rates) ** 2)
        return value, *gs.autograd.grad(value, [start, rates])

    return step


def with_torch(start, rates):
    import torch

    start, rates = torch.tensor(start, requires_grad=True), torch.tensor(rates, requires_grad=True)

    def step():
        value = torch.sum(integrate(torch.stack, start, rates) ** 2)
        return value, *torch.autograd.grad(value, [start, rates])

    return step


def with_jax(start, rates):
    import jax
    import jax.numpy as jnp

    def loss(start, rates):
        final, _ = jax.lax.scan(lambda state, _: (rk4_step(jnp.stack, state, rates), None), start, length=steps)
        return jnp.sum(final**2)

    start, rates = jax.device_put((start, rates))
    gradient = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))

    def step():
        value, gradients = jax.block_until_ready(gradient(start, rates))
        return value, *gradients

    return step


def with_autograd(start, rates):
    import autograd.numpy as np
    from autograd import value_and_grad

    gradient = value_and_grad(lambda both: np.sum(integrate(np.stack, *both) ** 2))

    def step():
        value, gradients = gradient((start, rates))
        return value, *gradients

    return step


def with_casadi(start, rates):
    import casadi

    names = casadi.SX.sym("start", 2), casadi.SX.sym("rates", 4)
    value = casadi.sumsqr(integrate(lambda parts: casadi.vertcat(*parts), *names))
    gradient = casadi.Function("gradient", names, [value, *(casadi.gradient(value, name) for name in names)])
    arrays = [casadi.DM(array) for array in (start, rates)]
    return lambda: gradient(*arrays)

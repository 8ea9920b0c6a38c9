"""Iterative LQR parks a car: Jacobians by jacfwd under vmap, the Riccati recursion by a reversed scan."""

from functools import partial

import gradspec as jax
import gradspec.numpy as jnp
from gradspec import lax
from gradspec.numpy.linalg import norm, solve

dt, horizon = 0.1, 40
goal = jnp.array([2.0, 1.0, 0.0, 0.0])


def dynamics(x, u):
    px, py, th, v = x
    a, w = u
    return x + dt * jnp.array([v * jnp.cos(th), v * jnp.sin(th), w, a])


def stage(x, u):
    return 0.5 * 0.05 * jnp.dot(u, u) + 0.005 * jnp.sum(jnp.square(x - goal))


def final(x):
    return 20.0 * jnp.sum((x - goal) ** 2)


def rollout(us, x0):
    def f(x, u):
        return dynamics(x, u), x
    xT, xs = lax.scan(f, x0, us)
    return jnp.vstack([xs, xT])


def total(us, x0):
    xs = rollout(us, x0)
    return jax.vmap(stage)(xs[:-1], us).sum() + final(xs[-1])


@jax.jit
def backward(xs, us):
    A, B = jax.vmap(jax.jacfwd(dynamics, argnums=(0, 1)))(xs[:-1], us)
    lx, lu = jax.vmap(jax.grad(stage, (0, 1)))(xs[:-1], us)
    (lxx, lxu), (lux, luu) = jax.vmap(jax.hessian(stage, argnums=(0, 1)))(xs[:-1], us)

    def step(carry, t):
        V, v = carry
        A, B, lx, lu, lxx, luu, lux = t
        Qx, Qu = lx + A.T @ v, lu + B.T @ v
        Qxx, Quu, Qux = lxx + A.T @ V @ A, luu + B.T @ V @ B, lux + B.T @ V @ A
        K = -solve(Quu + 1e-6 * jnp.eye(2), Qux)
        k = -solve(Quu + 1e-6 * jnp.eye(2), Qu)
        return (Qxx + Qux.T @ K, Qx + Qux.T @ k), (K, k)

    init = jax.hessian(final)(xs[-1]), jax.grad(final)(xs[-1])
    _, gains = lax.scan(step, init, (A, B, lx, lu, lxx, luu, lux), reverse=True)
    return gains


@partial(jax.jit, static_argnums=())
def forward(xs, us, gains, alpha):
    def step(x, t):
        x_ref, u_ref, K, k = t
        u = u_ref + alpha * k + K @ (x - x_ref)
        return dynamics(x, u), u
    return lax.scan(step, xs[0], (xs[:-1], us, *gains))[1]


x0 = jnp.zeros(4)
us = 0.1 * jnp.ones((horizon, 2))
start = total(us, x0)
for _ in range(25):
    xs = rollout(us, x0)
    gains = backward(xs, us)
    alphas = 0.5 ** jnp.arange(8.0)
    trials = jax.vmap(forward, in_axes=(None, None, None, 0))(xs, us, gains, alphas)
    costs = jax.vmap(total, in_axes=(0, None))(trials, x0)
    us = lax.cond(costs.min() < total(us, x0), lambda: trials[jnp.argmin(costs)], lambda: us)

xs = rollout(us, x0)
assert norm(xs[-1] - goal) < 0.1, xs[-1]
assert total(us, x0) < 0.05 * start
assert jnp.max(jnp.abs(jax.grad(total)(us, x0))) < 1e-2

"""Robertson's stiff reaction: implicit Euler with Newton, differentiated by the implicit function theorem."""

import gradspec as jax
import gradspec.numpy as jnp
from gradspec import jit, jvp, lax, vjp

jax.config.update("jax_enable_x64", True)


def rhs(c, k):
    a, b, d = c
    r1, r2, r3 = k[0] * a, k[1] * b * d, k[2] * b**2
    return jnp.stack([-r1 + r2, r1 - r2 - r3, r3])


def newton(f, x0):
    def cond(val):
        i, x, fx = val
        return jnp.logical_and(i < 20, jnp.linalg.norm(fx, ord=jnp.inf) > 1e-13)

    def body(val):
        i, x, fx = val
        x = x - jnp.linalg.solve(jax.jacfwd(f)(x), fx)
        return i + 1, x, f(x)

    return lax.while_loop(cond, body, (0, x0, f(x0)))[1]


def tangent_solve(g, y):
    return jnp.linalg.solve(jax.jacobian(g)(y), y)


def implicit_step(c, k, dt):
    return lax.custom_root(lambda z: z - c - dt * rhs(z, k), c, newton, tangent_solve)


@jit
def simulate(logk):
    k = jnp.exp(logk)
    dts = jnp.geomspace(1e-4, 10.0, 60)

    def step(c, dt):
        c = implicit_step(c, k, dt)
        return c, c

    return lax.scan(step, jnp.array([1.0, 0.0, 0.0]), dts)


logk = jnp.log(jnp.array([0.04, 1e4, 3e7]))
c_end, traj = simulate(logk)
assert jnp.allclose(traj.sum(axis=1), 1.0)
assert 0.5 < c_end[0] < 0.95

f = lambda lk: simulate(lk)[0]
v = jnp.array([0.3, -0.2, 0.1])
_, forward = jvp(f, (logk,), (v,))
_, pull = vjp(f, logk)
w = jnp.array([1.0, 1e4, -1.0])
(back,) = pull(w)
eps = 1e-5
numeric = (f(logk + eps * v) - f(logk - eps * v)) / (2 * eps)
assert jnp.allclose(forward, numeric, rtol=1e-5, atol=1e-10), (forward, numeric)
assert jnp.allclose(jnp.dot(w, forward), back @ v, rtol=1e-8)
J = jax.jacrev(f)(logk)
assert J.shape == (3, 3) and jnp.allclose(J.sum(0), 0.0, atol=1e-9)
y, f_lin = jax.linearize(f, logk)
assert jnp.allclose(f_lin(v), forward)

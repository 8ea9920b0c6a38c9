"""Optimal transport by Sinkhorn's iteration, its gradient by the envelope theorem in a custom_vjp."""

from functools import partial

import gradspec as jax
import gradspec.numpy as jnp
from gradspec.scipy.special import logsumexp

jax.config.update("jax_enable_x64", True)


def cost_matrix(x, y):
    return jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)


def solve(C, eps, tol=1e-9, max_iter=200):
    n, m = C.shape
    loga, logb = -jnp.log(n) * jnp.ones(n), -jnp.log(m) * jnp.ones(m)

    def cond(state):
        f, g, err, it = state
        return (err > tol) & (it < max_iter)

    def body(state):
        f, g, _, it = state
        f_new = eps * (loga - logsumexp((g[None, :] - C) / eps, axis=1))
        g_new = eps * (logb - logsumexp((f_new[:, None] - C) / eps, axis=0))
        return f_new, g_new, jnp.max(jnp.abs(f_new - f)), it + 1

    f, g, err, its = jax.lax.while_loop(cond, body, (jnp.zeros(n), jnp.zeros(m), jnp.inf, 0))
    return f, g


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def ot(C, eps):
    f, g = solve(C, eps)
    P = jnp.exp((f[:, None] + g[None, :] - C) / eps)
    return jnp.vdot(P, C) + eps * jnp.sum(jax.scipy.special.xlogy(P, P))


def ot_fwd(C, eps):
    f, g = solve(C, eps)
    return ot(C, eps), jnp.exp((f[:, None] + g[None, :] - C) / eps)


def ot_bwd(eps, P, ct):
    return (ct * P,)


ot.defvjp(ot_fwd, ot_bwd)


@jax.jit
def divergence(x, y):
    e = 0.1
    return ot(cost_matrix(x, y), e) - 0.5 * (ot(cost_matrix(x, x), e) + ot(cost_matrix(y, y), e))


key = jax.random.PRNGKey(0)
kx, ky = jax.random.split(key)
x = jax.random.normal(kx, (12, 2))
y = jax.random.uniform(ky, (15, 2), minval=-1.0, maxval=1.0) + 1.0
before = divergence(x, y)
g = jax.grad(divergence)(x, y)
v = jnp.ones_like(x).at[::2].multiply(-0.5)
h = 1e-5
fd = (divergence(x + h * v, y) - divergence(x - h * v, y)) / (2 * h)
assert jnp.allclose(jnp.vdot(g, v), fd, rtol=1e-5)
for _ in range(5):
    x = x - 3.0 * jax.grad(divergence)(x, y)
assert divergence(x, y) < 0.2 * before

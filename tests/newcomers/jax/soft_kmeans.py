"""Soft k-means by Newton steps with hessian and vmap."""
import gradspec as jax
import gradspec.numpy as jnp
import numpy as onp

rng = onp.random.RandomState(0)
X = jnp.array(onp.concatenate([rng.randn(50, 2) + m for m in ([0, 0], [5, 5], [0, 5])]))
def loss(centers):
    d2 = jnp.sum((X[:, None, :] - centers[None, :, :]) ** 2, axis=-1)
    return -jnp.sum(jax.nn.logsumexp(-d2, axis=1))
c = X[jnp.array([0, 60, 120])]
@jax.jit
def step(c):
    g = jax.grad(loss)(c)
    H = jax.hessian(loss)(c).reshape(c.size, c.size)
    return c - jnp.linalg.solve(H + 1e-3 * jnp.eye(c.size), g.ravel()).reshape(c.shape)
for _ in range(5):
    c = step(c)
labels = jnp.argmin(jax.vmap(lambda x: jnp.sum((c - x) ** 2, axis=1))(X), axis=1)
print(c, jnp.bincount(labels))

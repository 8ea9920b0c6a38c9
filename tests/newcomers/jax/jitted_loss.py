import gradspec as jax
import gradspec.numpy as jnp
from gradspec import grad, jit


@jit
def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)


x = jnp.ones((8, 3))
y = jnp.zeros(8)
w = jnp.zeros(3)
for _ in range(10):
    w = w - 0.1 * grad(loss)(w, x, y)

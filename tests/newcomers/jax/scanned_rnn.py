import gradspec.numpy as jnp
from gradspec import grad, lax


def loss(w, xs):
    def step(h, x):
        h = jnp.tanh(w * h + x)
        return h, h

    last, hs = lax.scan(step, 0.0, xs)
    return jnp.sum(hs**2)


print(grad(loss)(0.5, jnp.arange(5.0)))

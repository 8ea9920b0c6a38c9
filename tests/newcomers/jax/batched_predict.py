import gradspec.numpy as jnp
from gradspec import vmap


def predict(w, b, x):
    return jnp.dot(w, x) + b


w, b = jnp.ones((2, 3)), jnp.zeros(2)
batch = jnp.arange(12.0).reshape(4, 3)
out = vmap(predict, in_axes=(None, None, 0))(w, b, batch)
assert out.shape == (4, 2)

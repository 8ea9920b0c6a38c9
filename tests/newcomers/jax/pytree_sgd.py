import gradspec as jax
import gradspec.numpy as jnp


def loss_fn(params, x, y):
    hidden = jax.nn.relu(x @ params["w1"] + params["b1"])
    return jnp.mean((hidden @ params["w2"] - y) ** 2)


params = {"w1": 0.1 * jnp.ones((3, 4)), "b1": jnp.zeros(4), "w2": 0.1 * jnp.ones(4)}
x, y = jnp.arange(15.0).reshape(5, 3), jnp.ones(5)
for step in range(10):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    params = jax.tree_util.tree_map(lambda p, g: p - 0.01 * g, params, grads)

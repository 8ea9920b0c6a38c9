from functools import partial
from typing import NamedTuple

import gradspec as jax
import gradspec.numpy as jnp
from gradspec import random


class AdamState(NamedTuple):
    count: jnp.ndarray
    mu: dict
    nu: dict


def adam(learning_rate, b1=0.9, b2=0.999, eps=1e-8):
    def init(params):
        return AdamState(jnp.zeros([], jnp.int32), jax.tree_util.tree_map(jnp.zeros_like, params), jax.tree_util.tree_map(jnp.zeros_like, params))

    def update(grads, state, params=None):
        count = state.count + 1
        mu = jax.tree_util.tree_map(lambda g, m: b1 * m + (1 - b1) * g, grads, state.mu)
        nu = jax.tree_util.tree_map(lambda g, v: b2 * v + (1 - b2) * g**2, grads, state.nu)
        mhat = jax.tree_util.tree_map(lambda m: m / (1 - b1**count), mu)
        vhat = jax.tree_util.tree_map(lambda v: v / (1 - b2**count), nu)
        updates = jax.tree_util.tree_map(lambda m, v: -learning_rate * m / (jnp.sqrt(v) + eps), mhat, vhat)
        return updates, AdamState(count, mu, nu)

    return init, update


def dense_init(key, n_in, n_out):
    return {"kernel": jax.nn.initializers.lecun_normal()(key, (n_in, n_out)), "bias": jnp.zeros((n_out,))}


def init_params(key):
    k1, k2 = random.split(key)
    return {"Dense_0": dense_init(k1, 2, 32), "Dense_1": dense_init(k2, 32, 2)}


def apply(params, x):
    x = jax.nn.relu(jnp.dot(x, params["Dense_0"]["kernel"]) + params["Dense_0"]["bias"])
    return jnp.dot(x, params["Dense_1"]["kernel"]) + params["Dense_1"]["bias"]


def cross_entropy(params, batch):
    logits = apply(params, batch["x"])
    onehot = jax.nn.one_hot(batch["y"], 2)
    loss = -jnp.mean(jnp.sum(onehot * jax.nn.log_softmax(logits), axis=-1))
    return loss, {"accuracy": jnp.mean(jnp.argmax(logits, -1) == batch["y"])}


opt_init, opt_update = adam(1e-2)


@jax.jit
def train_step(params, opt_state, batch):
    (loss, aux), grads = jax.value_and_grad(cross_entropy, has_aux=True)(params, batch)
    updates, opt_state = opt_update(grads, opt_state, params)
    params = jax.tree_util.tree_map(lambda p, u: p + u, params, updates)
    return params, opt_state, loss, aux


key = random.PRNGKey(0)
key, kx, kp = random.split(key, 3)
x = random.normal(kx, (200, 2))
y = (x[:, 0] * x[:, 1] > 0).astype(jnp.int32)
params = init_params(kp)
opt_state = opt_init(params)
for step in range(200):
    params, opt_state, loss, metrics = train_step(params, opt_state, {"x": x, "y": y})
print(f"loss {loss:.4f} accuracy {metrics['accuracy']:.3f} after {opt_state.count} steps")
assert metrics["accuracy"] > 0.93
shapes = jax.tree_util.tree_map(jnp.shape, params)
assert shapes["Dense_0"]["kernel"] == (2, 32)
n = sum(p.size for p in jax.tree_util.tree_leaves(params))
assert n == 2 * 32 + 32 + 32 * 2 + 2
flat, unravel = jax.flatten_util.ravel_pytree(params)
assert flat.shape == (n,) and jnp.allclose(unravel(flat)["Dense_1"]["bias"], params["Dense_1"]["bias"])

import gradspec as jax
import gradspec.numpy as jnp
from gradspec import grad, jit, random, tree_util


def init(sizes, key):
    keys = random.split(key, len(sizes))
    return [{"w": random.normal(k, (m, n)) * jnp.sqrt(2 / m), "b": jnp.zeros(n)} for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


params = init([2, 16, 1], random.PRNGKey(0))

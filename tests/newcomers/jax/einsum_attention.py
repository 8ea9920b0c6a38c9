import gradspec as jax
import gradspec.numpy as jnp
from gradspec import nn


def attention(params, x):
    q = jnp.einsum("btd,dhk->bthk", x, params["q"])
    k = jnp.einsum("btd,dhk->bthk", x, params["k"])
    v = jnp.einsum("btd,dhk->bthk", x, params["v"])
    logits = jnp.einsum("bthk,bshk->bhts", q, k) / jnp.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), dtype=bool))
    logits = jnp.where(mask[None, None], logits, -jnp.inf)
    weights = nn.softmax(logits, axis=-1)
    return jnp.einsum("bhts,bshk->bthk", weights, v).reshape(*x.shape[:2], -1)


rng = jax.random.default_rng(0)
params = {name: jnp.asarray(rng.normal(size=(8, 2, 4))) for name in "qkv"}
x = jnp.asarray(rng.normal(size=(3, 5, 8)))
loss = lambda params: jnp.mean(attention(params, x) ** 2)
grads = jax.grad(loss)(params)
print(jax.tree_util.tree_map(lambda g: g.shape, grads))
print({k: float(jnp.linalg.norm(g)) for k, g in grads.items()})

import gradspec as jax
import gradspec.numpy as jnp
import numpy as onp

rng = onp.random.default_rng(0)
x = rng.uniform(-1, 1, size=(80, 1))
y = onp.where(rng.random((80, 1)) < 0.5, x**2, -x) + 0.05 * rng.normal(size=(80, 1))
params = {"w1": 0.5 * rng.normal(size=(1, 12)), "b1": onp.zeros(12), "w2": 0.5 * rng.normal(size=(12, 6)), "b2": onp.zeros(6)}


def forward(params, x):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.split(h @ params["w2"] + params["b2"], 3, axis=-1)


@jax.jit
def loss(params, x, y):
    logits, mu, log_sigma = forward(params, x)
    log_p = -0.5 * ((y - mu) / jnp.exp(log_sigma)) ** 2 - log_sigma - 0.5 * jnp.log(2 * jnp.pi)
    return -jnp.mean(jax.nn.logsumexp(jax.nn.log_softmax(logits, axis=-1) + log_p, axis=-1))


step = lambda params: jax.tree_util.tree_map(lambda p, g: p - 0.05 * g, params, jax.grad(loss)(params, x, y))
before = loss(params, x, y)
for i in range(30):
    params = step(params)
assert loss(params, x, y) < before

"""A Kalman filter by lax.scan, log likelihood by value_and_grad over a dict of parameters."""
import gradspec as jax
import gradspec.numpy as jnp
from gradspec import lax
import numpy as np

ys = np.cumsum(np.random.RandomState(0).randn(50)) + np.random.RandomState(1).randn(50)
def nll(params):
    q, r = jnp.exp(params["log_q"]), jnp.exp(params["log_r"])
    def body(carry, y):
        m, P = carry
        P = P + q
        S = P + r
        e = y - m
        K = P / S
        return (m + K * e, (1 - K) * P), 0.5 * (jnp.log(2 * jnp.pi * S) + e**2 / S)
    _, terms = lax.scan(body, (jnp.array(0.0), jnp.array(1.0)), jnp.asarray(ys))
    return terms.sum()
params = {"log_q": 0.0, "log_r": 0.0}
for _ in range(20):
    v, g = jax.value_and_grad(nll)(params)
    params = jax.tree_util.tree_map(lambda p, d: p - 0.02 * d, params, g)
print(v, params)

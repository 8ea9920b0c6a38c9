import gradspec.numpy as jnp
from gradspec import value_and_grad


def kernel(x1, x2, params):
    d = (x1[:, None, :] - x2[None, :, :]) / jnp.exp(params["lengthscale"])
    return jnp.exp(params["variance"]) * jnp.exp(-0.5 * jnp.sum(d**2, axis=-1))


def nll(params, x, y):
    K = kernel(x, x, params) + jnp.exp(params["noise"]) * jnp.eye(x.shape[0])
    L = jnp.linalg.cholesky(K)
    alpha = jnp.linalg.solve(K, y)
    return 0.5 * jnp.dot(y, alpha) + jnp.sum(jnp.log(jnp.diag(L))) + 0.5 * x.shape[0] * jnp.log(2 * jnp.pi)


x = jnp.linspace(0, 5, 20)[:, None]
y = jnp.sin(x[:, 0])
params = {"lengthscale": 0.0, "variance": 0.0, "noise": -2.0}
for i in range(20):
    value, g = value_and_grad(nll)(params, x, y)
    params = {k: p - 0.01 * g[k] for k, p in params.items()}
print(value, params)

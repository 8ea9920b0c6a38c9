"""Eight schools by automatic differentiation variational inference, the parameters in one flat vector."""

import gradspec as jax
import gradspec.numpy as jnp
import gradspec.scipy as jsp
from gradspec import lax, random
from gradspec.flatten_util import ravel_pytree

y = jnp.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
sigma = jnp.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
template = {"mu": jnp.zeros(()), "log_tau": jnp.zeros(()), "theta": jnp.zeros(8)}
flat0, unravel = ravel_pytree(template)
dim = flat0.size


def log_joint(flat):
    p = unravel(flat)
    tau = jnp.exp(p["log_tau"])
    lp = jsp.stats.norm.logpdf(p["mu"], loc=0.0, scale=5.0)
    lp += jsp.stats.cauchy.logpdf(tau, 0.0, 5.0) + jnp.log(2.0) + p["log_tau"]
    lp += jnp.sum(jsp.stats.norm.logpdf(p["theta"]))
    lp += jsp.stats.norm.logpdf(y, p["mu"] + tau * p["theta"], sigma).sum()
    return lp


def elbo(phi, key, num=16):
    mean, rho = jnp.split(phi, 2)
    scale = jax.nn.softplus(rho)
    eps = random.normal(key, (num, dim))
    z = mean + scale * eps
    entropy = jnp.sum(jnp.log(scale)) + 0.5 * dim * (1 + jnp.log(2 * jnp.pi))
    return jnp.mean(jax.vmap(log_joint)(z)) + entropy


@jax.jit
def step(carry, key):
    phi, m, v, t = carry
    value, g = jax.value_and_grad(elbo)(phi, key)
    t = t + 1
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g**2
    phi = phi + 0.05 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return (phi, m, v, t), value


key = random.PRNGKey(42)
phi0 = jnp.concatenate([flat0, -1.0 * jnp.ones(dim)])
carry, trace = lax.scan(step, (phi0, jnp.zeros_like(phi0), jnp.zeros_like(phi0), 0.0), random.split(key, 600))
phi = carry[0]
mean = unravel(phi[:dim])
assert trace.shape == (600,)
assert trace[-100:].mean() > trace[:20].mean()
assert 2.0 < mean["mu"] < 7.0, mean
assert jnp.argmax(mean["theta"]) in (0, 6)
H = jax.hessian(log_joint)(phi[:dim])
assert H.shape == (dim, dim) and jnp.allclose(H, H.T, atol=1e-4)
theta_prec = -jnp.diag(H)[-8:]
assert (theta_prec > 0.9).all()

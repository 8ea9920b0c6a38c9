"""Hamiltonian Monte Carlo of a correlated normal."""
import gradspec as jax
import gradspec.numpy as jnp
import numpy as np
from gradspec import grad, jit

prec = jnp.array([[2.0, 0.6], [0.6, 1.0]])
def logp(x):
    return -0.5 * x @ prec @ x
dlogp = jit(grad(logp))
rng = np.random.default_rng(0)
def leapfrog(q, p, eps=0.15, n=20):
    p = p + 0.5 * eps * dlogp(q)
    for i in range(n):
        q = q + eps * p
        if i < n - 1:
            p = p + eps * dlogp(q)
    return q, p + 0.5 * eps * dlogp(q)
q, samples = jnp.zeros(2), []
for _ in range(200):
    p = jnp.asarray(rng.normal(size=2))
    qn, pn = leapfrog(q, p)
    if np.log(rng.uniform()) < logp(qn) - 0.5 * pn @ pn - logp(q) + 0.5 * p @ p:
        q = qn
    samples.append(q)
print(jnp.cov(jnp.stack(samples).T))

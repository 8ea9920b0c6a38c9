from functools import partial

import gradspec as jax
import gradspec.numpy as jnp
from gradspec import grad, jit, lax, random
from gradspec.scipy import stats

jax.config.update("jax_enable_x64", True)
key = random.key(0)
key, k1, k2 = random.split(key, 3)
X = jnp.concatenate([jnp.ones((60, 1)), random.normal(k1, (60, 2))], axis=1)
beta_true = jnp.array([0.5, -1.0, 2.0])
y = X @ beta_true + 0.5 * random.normal(k2, shape=(60,))


def log_prob(q):
    return stats.norm.logpdf(q, 0.0, 10.0).sum() + stats.norm.logpdf(y, X @ q, 0.5).sum()


potential = lambda q: -log_prob(q)


@partial(jit, static_argnums=(3,))
def leapfrog(q, p, eps, n):
    p = p - 0.5 * eps * grad(potential)(q)

    def body(i, qp):
        q, p = qp
        q = q + eps * p
        p = p - eps * grad(potential)(q)
        return q, p

    q, p = lax.fori_loop(0, n - 1, body, (q, p))
    q = q + eps * p
    p = p - 0.5 * eps * grad(potential)(q)
    return q, -p


@jit
def hmc_kernel(carry, key):
    q, accepted = carry
    kp, ka = random.split(key)
    p = random.normal(kp, q.shape)
    q_new, p_new = leapfrog(q, p, 0.04, 7)
    dH = potential(q) + 0.5 * jnp.sum(p**2) - potential(q_new) - 0.5 * jnp.dot(p_new, p_new)
    accept = jnp.log(random.uniform(ka)) < dH
    q = lax.cond(accept, lambda _: q_new, lambda _: q, None)
    return (q, accepted + accept), q


(q, accepted), samples = lax.scan(hmc_kernel, (jnp.zeros(3), 0), random.split(key, 600))
samples = samples[100:]
mean, std = samples.mean(0), samples.std(axis=0)
precision = X.T @ X / 0.25 + jnp.eye(3) / 100
exact = jnp.linalg.solve(precision, X.T @ y / 0.25)
print("rate", accepted / 600, "mean", mean, "exact", exact, sep="\n")
assert accepted / 600 > 0.8
assert jnp.all(jnp.abs(mean - exact) < 0.05)
assert jnp.allclose(std, jnp.sqrt(jnp.diag(jnp.linalg.inv(precision))), rtol=0.3)

# reversible: go and come back
q0, p0 = jnp.array([0.1, 0.2, 0.3]), jnp.array([1.0, -1.0, 0.5])
q1, p1 = leapfrog(q0, p0, 0.04, 10)
q2, p2 = leapfrog(q1, p1, 0.04, 10)
assert jnp.allclose(q2, q0) and jnp.allclose(p2, p0)
assert jnp.allclose(jax.hessian(potential)(q0), precision)

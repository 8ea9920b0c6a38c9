import gradspec as jax
import gradspec.numpy as jnp
import numpy as onp
from gradspec import lax
from gradspec.scipy.stats import multivariate_normal as mvn

jax.config.update("jax_enable_x64", True)
dt, g = 0.05, 9.8
Q = jnp.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]]) * 0.1
R = jnp.array([[0.05]])


def f(x):
    return jnp.array([x[0] + dt * x[1], x[1] - dt * g * jnp.sin(x[0])])


def h(x):
    return jnp.sin(x[:1])


def predict(m, P):
    F = jax.jacfwd(f)(m)
    return f(m), F @ P @ F.T + Q


def update(m, P, y):
    H = jax.jacrev(h)(m)
    S = H @ P @ H.T + R
    K = jax.scipy.linalg.solve(S, H @ P, assume_a="pos").T
    ll = mvn.logpdf(y, h(m), S)
    return m + K @ (y - h(m)), P - K @ S @ K.T, ll


def ekf(m0, P0, ys):
    def step(carry, y):
        m, P, ll = carry
        m, P, l = update(*predict(m, P), y)
        return (m, P, ll + l), (m, P)

    (_, _, ll), (ms, Ps) = lax.scan(step, (m0, P0, 0.0), ys)
    return ll, ms, Ps


rng = onp.random.default_rng(0)
x = onp.array([1.0, 0.0])
xs, ys = [], []
for _ in range(120):
    x = onp.array([x[0] + dt * x[1], x[1] - dt * g * onp.sin(x[0])]) + onp.linalg.cholesky(onp.asarray(Q)) @ rng.normal(size=2)
    xs.append(x)
    ys.append(onp.sin(x[:1]) + onp.sqrt(0.05) * rng.normal(size=1))
xs, ys = jnp.stack(jnp.asarray(xs)), jnp.array(ys)
ll, ms, Ps = jax.jit(ekf)(jnp.array([1.0, 0.0]), jnp.eye(2) * 0.1, ys)
rmse_filter = jnp.sqrt(jnp.mean((jnp.sin(ms[:, 0]) - jnp.sin(xs[:, 0])) ** 2))
rmse_raw = jnp.sqrt(jnp.mean((ys[:, 0] - jnp.sin(xs[:, 0])) ** 2))
print(f"log likelihood {ll:.2f}; rmse {rmse_filter:.3f} against {rmse_raw:.3f}")
assert rmse_filter < rmse_raw
assert jnp.allclose(Ps, jnp.swapaxes(Ps, 1, 2), atol=1e-10)
assert (jnp.linalg.eigvalsh(Ps) > 0).all()

value, score = jax.value_and_grad(lambda m0: ekf(m0, jnp.eye(2) * 0.1, ys[:20])[0])(jnp.array([1.0, 0.0]))
e = 1e-5 * jnp.array([1.0, 0.0])
numeric = (ekf(jnp.array([1.0, 0.0]) + e, jnp.eye(2) * 0.1, ys[:20])[0] - ekf(jnp.array([1.0, 0.0]) - e, jnp.eye(2) * 0.1, ys[:20])[0]) / 2e-5
onp.testing.assert_allclose(score[0], numeric, rtol=1e-5)

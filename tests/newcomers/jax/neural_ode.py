import gradspec as jax
import gradspec.numpy as jnp
from gradspec import jit, lax, random, vmap
from gradspec.experimental.ode import odeint

jax.config.update("jax_enable_x64", True)


def lotka_volterra(y, t, theta):
    prey, predator = y
    alpha, beta, gamma, delta = theta
    return jnp.array([alpha * prey - beta * prey * predator, -gamma * predator + delta * prey * predator])


theta_true = jnp.array([1.1, 0.4, 0.4, 0.1])
y0 = jnp.array([10.0, 5.0])
ts = jnp.linspace(0.0, 5.0, 20)


def rk4_solve(theta, y0, ts, n_sub=20):
    def step(y, t_pair):
        t0, t1 = t_pair
        h = (t1 - t0) / n_sub

        def body(i, y):
            t = t0 + i * h
            k1 = lotka_volterra(y, t, theta)
            k2 = lotka_volterra(y + h / 2 * k1, t + h / 2, theta)
            k3 = lotka_volterra(y + h / 2 * k2, t + h / 2, theta)
            k4 = lotka_volterra(y + h * k3, t + h, theta)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        y = lax.fori_loop(0, n_sub, body, y)
        return y, y

    _, ys = lax.scan(step, y0, (ts[:-1], ts[1:]))
    return jnp.concatenate([y0[None], ys])


data = rk4_solve(theta_true, y0, ts)


# the invariant of the system
def energy(y, theta):
    a, b, c, d = theta
    return d * y[..., 0] - c * jnp.log(y[..., 0]) + b * y[..., 1] - a * jnp.log(y[..., 1])


E = energy(data, theta_true)
assert jnp.max(jnp.abs(E - E[0])) < 1e-4
adaptive = odeint(lotka_volterra, y0, ts, theta_true, rtol=1e-8, atol=1e-8)
assert jnp.allclose(adaptive, data, atol=1e-3)


@jit
def residuals(log_theta):
    return (rk4_solve(jnp.exp(log_theta), y0, ts) - data).ravel()


# Gauss-Newton with damping
log_theta = jnp.log(theta_true * jnp.array([1.05, 0.95, 1.05, 0.95]))
lam = 1e-3
for it in range(10):
    r = residuals(log_theta)
    J = jax.jacfwd(residuals)(log_theta)
    delta = jnp.linalg.solve(J.T @ J + lam * jnp.eye(4), J.T @ r)
    log_theta = log_theta - delta
    lam *= 0.1
print("theta", jnp.exp(log_theta), "residual", float(jnp.sum(residuals(log_theta) ** 2)))
assert jnp.allclose(jnp.exp(log_theta), theta_true, rtol=1e-3)

starts = y0 + 0.1 * random.normal(random.PRNGKey(1), (3, 2))
many = vmap(rk4_solve, in_axes=(None, 0, None))(theta_true, starts, ts)
assert many.shape == (3, 20, 2)
g = jax.grad(lambda th: odeint(lotka_volterra, y0, ts, th, rtol=1e-8, atol=1e-8)[-1, 0])(theta_true)
h = jax.grad(lambda th: rk4_solve(th, y0, ts)[-1, 0])(theta_true)
assert jnp.allclose(g, h, rtol=1e-2)

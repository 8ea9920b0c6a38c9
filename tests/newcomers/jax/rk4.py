import gradspec as jax
import gradspec.numpy as jnp


def lotka_volterra(y, t, theta):
    prey, predator = y
    a, b, c, d = theta
    return jnp.array([a * prey - b * prey * predator, -c * predator + d * prey * predator])


def rk4(f, y0, ts, theta):
    ys = [y0]
    for t0, t1 in zip(ts[:-1], ts[1:]):
        h, y = t1 - t0, ys[-1]
        k1 = f(y, t0, theta)
        k2 = f(y + h / 2 * k1, t0 + h / 2, theta)
        k3 = f(y + h / 2 * k2, t0 + h / 2, theta)
        k4 = f(y + h * k3, t1, theta)
        ys.append(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return jnp.stack(ys)


ts = jnp.linspace(0.0, 2.0, 21)
true_theta = jnp.array([1.5, 1.0, 3.0, 1.0])
data = rk4(lotka_volterra, jnp.array([1.0, 1.0]), ts, true_theta)
loss = lambda theta: jnp.mean((rk4(lotka_volterra, jnp.array([1.0, 1.0]), ts, theta) - data) ** 2)
theta = jnp.ones(4)
print(jax.value_and_grad(loss)(theta))
print(jax.jacfwd(lambda theta: rk4(lotka_volterra, jnp.array([1.0, 1.0]), ts, theta)[-1])(theta).shape)
assert jnp.abs(jax.grad(loss)(true_theta)).max() < 1e-8

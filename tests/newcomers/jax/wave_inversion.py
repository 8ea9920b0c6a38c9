from functools import partial

import gradspec as jax
import gradspec.numpy as jnp
from gradspec import lax

jax.config.update("jax_enable_x64", True)
nx, nt, dx, dt = 80, 200, 10.0, 0.001


def ricker(t, f0=15.0):
    a = (jnp.pi * f0 * (t - 1 / f0)) ** 2
    return (1 - 2 * a) * jnp.exp(-a)


source = ricker(jnp.arange(nt) * dt)


def laplacian(u):
    return jnp.pad(u[2:] - 2 * u[1:-1] + u[:-2], 1) / dx**2


@jax.checkpoint
def step(c2, carry, s):
    u, u_prev = carry
    u_next = 2 * u - u_prev + dt**2 * c2 * laplacian(u)
    u_next = u_next.at[nx // 4].add(dt**2 * s * 1e4)
    u_next = u_next.at[jnp.array([0, -1])].set(0.0)
    return (u_next, u), u_next[jnp.array([10, 40, 70])]


@jax.jit
def forward(c):
    return lax.scan(partial(step, c**2), (jnp.zeros(nx), jnp.zeros(nx)), source)[1]


c_true = jnp.full(nx, 2000.0).at[40:60].set(2300.0)
data = forward(c_true)
assert data.shape == (nt, 3) and bool(jnp.isfinite(data).all())


def misfit(p):
    c = 2000.0 + 300.0 * jax.nn.sigmoid(p)
    return 0.5 * jnp.sum((forward(c) - data) ** 2) / jnp.sum(data**2)


p = jnp.full(nx, -3.0)
m = v = jnp.zeros(nx)
value_and_grad = jax.jit(jax.value_and_grad(misfit))
history = []
for i in range(1, 41):
    val, g = value_and_grad(p)
    m = 0.9 * m + 0.1 * g
    v = 0.99 * v + 0.01 * g**2
    p = p - 0.3 * (m / (1 - 0.9**i)) / (jnp.sqrt(v / (1 - 0.99**i)) + 1e-12)
    history.append(float(val))
print(f"misfit {history[0]:.4f} -> {history[-1]:.4f}")
assert history[-1] < 0.2 * history[0]
c = 2000.0 + 300.0 * jax.nn.sigmoid(p)
assert 40 <= jnp.argmax(c) < 60

# gradient against finite differences, Born modelling against the adjoint
q = jnp.linspace(-2.0, 1.0, nx)
e = jnp.zeros(nx).at[45].set(1e-4)
numeric = (misfit(q + e) - misfit(q - e)) / 2e-4
assert jnp.isclose(jax.grad(misfit)(q)[45], numeric, rtol=1e-5)
dc = jnp.sin(jnp.arange(nx) / 5.0)
_, born = jax.jvp(forward, (c,), (dc,))
adjoint = jax.vjp(forward, c)[1](data)[0]
assert jnp.isclose(jnp.sum(born * data), jnp.dot(dc, adjoint), rtol=1e-9)
spectrum = jnp.abs(jnp.fft.rfft(source))
freqs = jnp.fft.rfftfreq(nt, d=dt)
assert abs(freqs[jnp.argmax(spectrum)] - 15.0) <= 5.0

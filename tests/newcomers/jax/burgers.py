"""Burgers' equation by FFT; sensitivity of the energy to the viscosity, forward and reverse."""
import gradspec as jax
import gradspec.numpy as jnp

N = 64
x = jnp.linspace(0, 2 * jnp.pi, N, endpoint=False)
k = jnp.fft.fftfreq(N, 1.0 / N)
def energy(nu):
    u_hat = jnp.fft.fft(jnp.sin(x))
    dt = 1e-2
    for _ in range(50):
        u = jnp.fft.ifft(u_hat).real
        ux = jnp.fft.ifft(1j * k * u_hat).real
        u_hat = (u_hat - dt * jnp.fft.fft(u * ux)) / (1 + dt * nu * k**2)
    return jnp.sum(jnp.abs(u_hat) ** 2) / N**2
print(energy(0.1), jax.grad(energy)(0.1), jax.jvp(energy, (0.1,), (1.0,))[1], jax.jacfwd(jax.grad(energy))(0.1))

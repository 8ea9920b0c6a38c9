import gradspec as jax
import gradspec.numpy as jnp


def newton(f, x0, steps=10):
    x = x0
    for _ in range(steps):
        x = x - jnp.linalg.solve(jax.jacfwd(f)(x), f(x))
    return x


def equilibrium(theta):
    return newton(lambda z: z - jnp.tanh(theta * z + jnp.array([0.5, -0.2])), jnp.zeros(2))


theta = jnp.array([0.3, 0.7])
z = equilibrium(theta)
J = jax.jacobian(equilibrium)(theta)
F = lambda theta, z: z - jnp.tanh(theta * z + jnp.array([0.5, -0.2]))
expected = -jnp.linalg.inv(jax.jacfwd(F, argnums=1)(theta, z)) @ jax.jacfwd(F, argnums=0)(theta, z)
assert jnp.allclose(J, expected, atol=1e-6)
(primal, tangent) = jax.jvp(equilibrium, (theta,), (jnp.ones_like(theta),))
print(primal, tangent, jax.vmap(equilibrium)(jnp.stack([theta, theta / 2])).shape)

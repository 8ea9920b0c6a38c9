import gradspec as jax
import gradspec.numpy as jnp
from gradspec import grad, jit, lax, random, vmap

jax.config.update("jax_enable_x64", True)
N, box = 16, 6.0
key = random.PRNGKey(42)
grid = jnp.stack(jnp.meshgrid(jnp.arange(4), jnp.arange(4)), -1).reshape(-1, 2) * 1.5
R0 = grid + 0.05 * random.uniform(key, grid.shape, minval=-1.0, maxval=1.0)
V0 = 0.3 * random.normal(key, (N, 2))
V0 = V0 - V0.mean(0, keepdims=True)


def displacement(a, b):
    d = a - b
    return jnp.mod(d + box / 2, box) - box / 2


def pair_energy(r2):
    s6 = (1.0 / r2) ** 3
    return 4.0 * (s6**2 - s6)


def potential(R):
    d = vmap(vmap(displacement, (None, 0)), (0, None))(R, R)
    r2 = jnp.sum(d**2, axis=-1)
    mask = ~jnp.eye(N, dtype=bool)
    r2 = jnp.where(mask, r2, 1.0)
    return 0.5 * jnp.sum(jnp.where(mask & (r2 < 9.0), pair_energy(r2) - pair_energy(9.0), 0.0))


force = jit(lambda R: -grad(potential)(R))


def kinetic(V):
    return 0.5 * jnp.sum(V**2)


@jit
def simulate(R, V):
    def step(state, i):
        R, V, F = state
        V = V + 0.5 * 0.001 * F
        R = jnp.mod(R + 0.001 * V, box)
        F = force(R)
        V = V + 0.5 * 0.001 * F
        return (R, V, F), jnp.array([potential(R), kinetic(V)])

    return lax.scan(step, (R, V, force(R)), jnp.arange(300))


(R, V, F), log = simulate(R0, V0)
total = log[:, 0] + log[:, 1]
print("energy %.5f drift %.2e" % (total[0], jnp.ptp(total)))
assert jnp.ptp(total) < 1e-2 * abs(total[0])
assert jnp.abs(V.sum(0)).max() < 1e-9
assert jnp.allclose(F.sum(axis=0), 0.0, atol=1e-8)

# FIRE-less relaxation by gradient descent: forces shrink
relaxed = lax.while_loop(lambda s: (jnp.linalg.norm(force(s[0])) > 1e-2) & (s[1] < 3000), lambda s: (s[0] + 2e-3 * jnp.clip(force(s[0]), -10, 10), s[1] + 1), (R0, 0))
print("steps", relaxed[1], "energy", potential(relaxed[0]))
assert potential(relaxed[0]) <= potential(R0)
# one pair at the minimum 2**(1/6)
assert jnp.isclose(grad(pair_energy)(2.0 ** (1 / 3)), 0.0, atol=1e-12)
assert jnp.isclose(vmap(pair_energy)(jnp.array([2.0 ** (1 / 3)]))[0], -1.0)
i, j = jnp.triu_indices(N, k=1)
r = jnp.linalg.norm(displacement(R[i], R[j]), axis=1)
hist, edges = jnp.histogram(r, bins=10, range=(0, 3))
assert hist.sum() <= len(r) and edges.shape == (11,)

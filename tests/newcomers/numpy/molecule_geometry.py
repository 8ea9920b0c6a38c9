"""Chemistry: a molecule's harmonic force field, its minimum, its vibrations and its moments of inertia."""

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist, squareform

import gradspec as gs

# hydrogen peroxide: H O O H
masses = np.array([1.008, 15.999, 15.999, 1.008])
bonds = [(0, 1, 0.97, 500.0), (1, 2, 1.47, 300.0), (2, 3, 0.97, 500.0)]
angles = [(0, 1, 2, 1.74, 60.0), (1, 2, 3, 1.74, 60.0)]


def angle(a, b, c):
    u, v = a - b, c - b
    cosine = np.dot(u, v) / (np.linalg.norm(u) * np.linalg.norm(v))
    return np.arccos(np.clip(cosine, -1.0, 1.0))


def dihedral(p):
    b1, b2, b3 = np.diff(p, axis=0)
    n1, n2 = np.cross(b1, b2), np.cross(b2, b3)
    return np.arctan2(np.dot(np.cross(n1, n2), b2 / np.linalg.norm(b2)), n1 @ n2)


def energy(flat):
    p = flat.reshape(-1, 3)
    e = sum(0.5 * k * (np.linalg.norm(p[i] - p[j]) - r) ** 2 for i, j, r, k in bonds)
    e += sum(0.5 * k * (angle(p[i], p[j], p[m]) - t) ** 2 for i, j, m, t, k in angles)
    return e + 1.5 * (1 + np.cos(2 * dihedral(p)))


def fun(x):
    x = gs.tensor(x, requires_grad=True)
    e = energy(x)
    e.backward()
    return float(e), np.array(x.grad)


x0 = np.array([[1.0, 0.8, 0.1], [0.7, 0.0, 0.0], [-0.7, 0.0, 0.0], [-1.0, 0.3, 0.8]])
res = minimize(fun, x0.ravel(), jac=True, method="CG", options={"maxiter": 2000, "gtol": 1e-8})
geometry = res.x.reshape(4, 3)
assert abs(abs(dihedral(geometry)) - np.pi / 2) < 1e-3
assert np.isclose(squareform(pdist(geometry))[1, 2], 1.47, atol=1e-4)

H = np.asarray(gs.autograd.functional.hessian(energy, gs.tensor(res.x)))
M = np.diag(np.repeat(masses, 3))
lam, modes = eigh(H, M)
assert np.sum(np.abs(lam) < 1e-4) == 6 and (lam[6:] > 0.1).all(), lam

t = gs.tensor(geometry, requires_grad=True)
centre = np.average(t, axis=0, weights=masses)
r = t - centre
inertia = np.einsum("i,ij,ij->", masses, r, r) * np.eye(3) - np.einsum("i,ij,ik->jk", masses, r, r)
moments = np.linalg.eigvalsh(inertia)
moments[0].backward()
assert abs(t.grad.sum(axis=0)).max() < 1e-10

q = gs.tensor(geometry, requires_grad=True)
d = cdist(q, geometry + 0.5)
coulomb = np.sum(1 / d[np.triu_indices(4, k=1)])
coulomb.backward()
assert q.grad.shape == (4, 3)
h = np.zeros((4, 3))
h[1, 2] = 1e-6
up, down = (np.sum(1 / cdist(geometry + s * h, geometry + 0.5)[np.triu_indices(4, k=1)]) for s in (1, -1))
assert np.isclose(q.grad[1, 2], (up - down) / 2e-6, rtol=1e-5)

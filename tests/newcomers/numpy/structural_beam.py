import numpy as np

import gradspec as gs

np.set_printoptions(precision=4, suppress=True)
E, L, n = 210e9, 2.0, 8
h = L / n


def element(I):
    k = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2], [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]])
    return E * I / h**3 * k


def assemble(depth):
    I = 0.05 * depth**3 / 12
    K = gs.zeros((2 * n + 2, 2 * n + 2))
    for e in range(n):
        dof = slice(2 * e, 2 * e + 4)
        K[dof, dof] += element(I[e])
    return K


def tip(depth, P=1000.0):
    K = assemble(depth)[2:, 2:]
    f = np.zeros(2 * n)
    f[-2] = P
    u = gs.linalg.solve(K, f)
    return u[-2]


d0 = 0.1 * np.ones(n)
exact = 1000.0 * L**3 / (3 * E * 0.05 * 0.1**3 / 12)
print("tip deflection", tip(d0), "exact", exact)
np.testing.assert_allclose(tip(d0), exact, rtol=1e-6)
g = gs.grad(tip)(d0)
# scaling: depth^-3, so the gradient's projection on depth is -3 tip
np.testing.assert_allclose(np.dot(g, d0), -3 * exact, rtol=1e-6)

# fully stressed: minimise deflection for a fixed volume
d = d0.copy()
for it in range(60):
    g = np.asarray(gs.grad(tip)(d))
    d = d * (-g / -g.mean()) ** 0.2
    d *= 0.1 * n / d.sum()
print("depths", d, "tip", float(tip(d)))
assert tip(d) < exact
assert np.all(np.diff(d) < 0)

# modes of vibration: generalised eigenproblem
M = np.eye(2 * n)
w, v = gs.scipy.linalg.eigh(assemble(d0)[2:, 2:], M)
assert np.all(np.diff(w) >= 0) and w[0] > 0
dw = gs.grad(lambda d: gs.scipy.linalg.eigh(assemble(d)[2:, 2:], M, eigvals_only=True)[0])(d0)
np.testing.assert_allclose(dw @ d0, 3 * w[0], rtol=1e-5)
cond = np.linalg.cond(assemble(d0)[2:, 2:])
assert cond > 1

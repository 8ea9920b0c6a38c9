import gradspec.numpy as np
import gradspec.numpy.random as npr
from gradspec import elementwise_grad as egrad
from gradspec import grad, jacobian
from gradspec.builtins import tuple as atuple
from gradspec.test_util import check_grads

mu = 1.0


def kepler(M, e, n_iter=10):
    E = M + e * np.sin(M)
    for _ in range(n_iter):
        E = E - (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
    return E


def position(elements, t):
    a, e, omega, M0 = elements
    E = kepler(M0 + np.sqrt(mu / a**3) * t, e)
    x = a * (np.cos(E) - e)
    y = a * np.sqrt(1 - e**2) * np.sin(E)
    c, s = np.cos(omega), np.sin(omega)
    return np.array([c * x - s * y, s * x + c * y]).T


def predict(elements, t):
    observer = np.stack((np.cos(t), np.sin(t)), axis=1)
    d = position(elements, t) - observer
    return np.arctan2(d[:, 1], d[:, 0])


truth = np.array([1.6, 0.2, 0.7, 0.3])
times = np.linspace(0, 8, 25)
angles = predict(truth, times) + 1e-5 * npr.RandomState(0).randn(25)


def residuals(elements):
    diff = predict(elements, times) - angles
    return np.mod(diff + np.pi, 2 * np.pi) - np.pi


J = jacobian(residuals)
x = truth + np.array([0.02, -0.02, 0.02, -0.02])
for k in range(8):
    r, Jx = residuals(x), J(x)
    x = x - np.linalg.lstsq(Jx, r, rcond=None)[0]
    print(k, np.linalg.norm(r))
print("elements", x, "+-", np.sqrt(np.diag(np.linalg.inv(J(x).T @ J(x)))) * 1e-5)
assert np.allclose(x, truth, atol=1e-3)
check_grads(residuals, modes=["rev"], order=1)(truth)

# energy and angular momentum are kept along the orbit
velocity = lambda t: np.stack([egrad(lambda t: position(truth, t)[:, 0])(t), egrad(lambda t: position(truth, t)[:, 1])(t)], 1)
p, v = position(truth, times), velocity(times)
energy = 0.5 * np.sum(v**2, 1) - mu / np.linalg.norm(p, axis=1)
momentum = p[:, 0] * v[:, 1] - p[:, 1] * v[:, 0]
assert np.allclose(energy, -mu / (2 * 1.6)), energy
assert np.ptp(momentum) < 1e-9
# Kepler's equation by the implicit function theorem
dE = grad(kepler)(1.0, 0.3)
assert np.isclose(dE, 1 / (1 - 0.3 * np.cos(kepler(1.0, 0.3))))
pair = atuple((dE, p[0]))
assert isinstance(pair, tuple)

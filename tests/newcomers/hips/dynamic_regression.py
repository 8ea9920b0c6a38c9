"""Structural time series: a local level fitted by maximum likelihood."""
import gradspec.numpy as np
import gradspec.numpy.random as npr
from gradspec import checkpoint, deriv, grad, hessian, holomorphic_grad, value_and_grad
from gradspec.differential_operators import make_ggnvp, make_hvp
from gradspec.misc.fixed_points import fixed_point
from gradspec.scipy.linalg import cholesky, solve_triangular, sqrtm
from scipy.optimize import minimize

npr.seed(1)
T = 150
level = np.cumsum(0.3 * npr.randn(T))
y = level + 0.8 * npr.randn(T)


def kalman_loglik(log_params, y):
    q, r = np.exp(2 * log_params)
    m, P, ll = 0.0, 10.0, 0.0
    for obs in y:
        P = P + q
        S = P + r
        v = obs - m
        ll = ll - 0.5 * (np.log(2 * np.pi * S) + v**2 / S)
        K = P / S
        m, P = m + K * v, (1 - K) * P
    return ll


def dense_loglik(log_params, y):
    q, r = np.exp(2 * log_params)
    t = np.arange(1, len(y) + 1)
    cov = 10.0 + q * np.minimum(t[:, None], t[None, :]) + r * np.eye(len(y))
    L = cholesky(cov, lower=True)
    z = solve_triangular(L, y, lower=True)
    return -0.5 * np.dot(z, z) - np.sum(np.log(np.diag(L))) - 0.5 * len(y) * np.log(2 * np.pi)


x0 = np.log(np.array([0.5, 0.5]))
assert np.isclose(kalman_loglik(x0, y), dense_loglik(x0, y))
assert np.allclose(grad(kalman_loglik)(x0, y), grad(dense_loglik)(x0, y))
assert np.allclose(hessian(kalman_loglik)(x0, y[:20]), hessian(dense_loglik)(x0, y[:20]), atol=1e-7)

res = minimize(value_and_grad(lambda p: -dense_loglik(p, y)), x0, jac=True, method="L-BFGS-B")
H = hessian(lambda p: -dense_loglik(p, y))(res.x)
se = np.sqrt(np.diag(np.linalg.inv(H)))
print("std (level, noise)", np.exp(res.x), "+-", np.exp(res.x) * se)
assert np.all(np.abs(res.x - np.log(np.array([0.3, 0.8]))) < 3 * se + 0.1)
assert np.linalg.norm(res.jac) < 1e-2
hv = make_hvp(lambda p: -dense_loglik(p, y))(res.x)[0](np.array([1.0, 0.0]))
assert np.allclose(hv, H[:, 0])

# the steady state of the variance, and its derivative by the implicit function theorem
q, r = 0.09, 0.64


def steady(q):
    return fixed_point(lambda q: lambda P: (P + q) - (P + q) ** 2 / (P + q + r), q, 1.0, lambda a, b: abs(a - b), 1e-12)


P = steady(q)
exact = lambda q: (-q + np.sqrt(q**2 + 4 * q * r)) / 2
assert np.isclose(P, exact(q))
assert np.isclose(grad(steady)(q), grad(exact)(q))
S = np.array([[2.0, 0.5], [0.5, 1.0]])
g = grad(lambda S: np.trace(sqrtm(S)))(S)
assert np.allclose(g, 0.5 * np.linalg.inv(sqrtm(S)))
assert np.isclose(holomorphic_grad(lambda z: z**3)(1.0 + 2.0j), 3 * (1.0 + 2.0j) ** 2)
ggn = make_ggnvp(lambda p: np.exp(p))(x0)(np.ones(2))
assert np.allclose(ggn, np.exp(2 * x0))
assert np.isclose(deriv(checkpoint(np.tanh))(0.3), 1 - np.tanh(0.3) ** 2)

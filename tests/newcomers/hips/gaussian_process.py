import numpy.random as npr
from scipy.optimize import minimize

import gradspec.numpy as np
from gradspec import value_and_grad


def rbf_covariance(kernel_params, x, xp):
    output_scale = np.exp(kernel_params[0])
    lengthscales = np.exp(kernel_params[1:])
    diffs = np.expand_dims(x / lengthscales, 1) - np.expand_dims(xp / lengthscales, 0)
    return output_scale * np.exp(-0.5 * np.sum(diffs**2, axis=2))


def log_marginal_likelihood(params, x, y):
    noise = np.exp(params[0]) + 0.001
    cov = rbf_covariance(params[1:], x, x) + noise * np.eye(len(y))
    L = np.linalg.cholesky(cov)
    alpha = np.linalg.solve(cov, y)
    return -0.5 * np.dot(y, alpha) - np.sum(np.log(np.diag(L))) - 0.5 * len(y) * np.log(2 * np.pi)


rs = npr.RandomState(0)
X = np.sort(np.array(rs.rand(20) * 7))[:, None]
y = np.sin(X[:, 0]) + 0.1 * rs.randn(20)
objective = lambda params: -log_marginal_likelihood(params, X, y)
init = 0.1 * rs.randn(3)
cov_params = minimize(value_and_grad(objective), init, jac=True, method="CG", options={"maxiter": 20})
print(cov_params.fun)
assert cov_params.fun < objective(init)

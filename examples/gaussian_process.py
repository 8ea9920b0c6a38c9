"""Learn the hyper-parameters of a Gaussian process: SciPy minimises, gradspec differentiates the likelihood.

Run it with `python examples/gaussian_process.py`.
"""

import numpy as np
from scipy.optimize import minimize

import gradspec as gs

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, size=80))
y = np.sin(x) + 0.2 * rng.normal(size=80)
squared_distance = (x[:, None] - x) ** 2


def negative_log_likelihood(theta):
    """-log p(y | length, amplitude, noise) for a squared-exponential kernel; theta has the logarithms of the three parameters."""
    length, amplitude, noise = gs.exp(theta)
    covariance = amplitude**2 * gs.exp(-0.5 * squared_distance / length**2) + noise**2 * np.eye(len(x))
    factor = gs.linalg.cholesky(covariance)
    whitened = gs.linalg.solve_triangular(factor, y[:, None], lower=True)
    log_determinant = 2 * gs.sum(gs.log(gs.diagonal(factor)))
    return 0.5 * (gs.sum(whitened**2) + log_determinant + len(x) * np.log(2 * np.pi))


def value_and_gradient(theta):
    theta = gs.tensor(theta, requires_grad=True)
    value = negative_log_likelihood(theta)
    value.backward()
    return value.item(), theta.grad.numpy()


start = np.log([0.3, 0.5, 0.5])
found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B")
length, amplitude, noise = np.exp(found.x)

print(f"{found.nit} iterations, {found.nfev} gradients; largest element of the last one {np.abs(found.jac).max():.1e}")
print(f"length scale    {length:.3f}")
print(f"amplitude       {amplitude:.3f}")
print(f"noise           {noise:.3f}   (the data has 0.2)")
print(f"log likelihood  {-value_and_gradient(start)[0]:.2f} -> {-found.fun:.2f}")

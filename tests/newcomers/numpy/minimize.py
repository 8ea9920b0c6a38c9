import numpy as np
from scipy.optimize import minimize

import gradspec as gs


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


result = minimize(gs.value_and_grad(rosenbrock), np.zeros(5), jac=True)
assert np.allclose(result.x, 1, atol=1e-4)
result = minimize(rosenbrock, np.zeros(5), jac=gs.grad(rosenbrock), hess=gs.hessian(rosenbrock), method="Newton-CG")
assert np.allclose(result.x, 1, atol=1e-2)

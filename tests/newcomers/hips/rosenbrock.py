from scipy.optimize import minimize

import gradspec.numpy as np
from gradspec import grad, hessian, hessian_vector_product, jacobian, value_and_grad
from gradspec.test_util import check_grads


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


result = minimize(value_and_grad(rosenbrock), np.array([0.0, 0.0]), jac=True, method="CG")
check_grads(rosenbrock, modes=["rev"])(result.x)
hvp = hessian_vector_product(rosenbrock)
assert np.allclose(hvp(result.x, np.array([1.0, 0.0])), hessian(rosenbrock)(result.x)[0])
assert np.allclose(jacobian(grad(rosenbrock))(result.x), hessian(rosenbrock)(result.x))

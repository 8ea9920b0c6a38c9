"""A mixture of normals by natural log likelihood and Newton-CG."""
import gradspec.numpy as np
import gradspec.numpy.random as npr
from gradspec.scipy.special import logsumexp
from gradspec import grad, hessian_vector_product
from gradspec.misc.flatten import flatten_func
from scipy.optimize import minimize

rs = npr.RandomState(0)
data = np.concatenate([rs.randn(40, 2), rs.randn(40, 2) + 4.0])
params = {"log_w": np.zeros(2), "means": rs.randn(2, 2), "lsgms": np.zeros(2)}
def nll(params):
    w = params["log_w"] - logsumexp(params["log_w"])
    d2 = np.sum((data[:, None, :] - params["means"]) ** 2, -1) / np.exp(2 * params["lsgms"])
    return -np.sum(logsumexp(w - 0.5 * d2 - 2 * params["lsgms"], axis=1))
f, unflatten, x0 = flatten_func(nll, params)
res = minimize(f, x0, jac=grad(f), hessp=hessian_vector_product(f), method="trust-ncg", options={"maxiter": 10})
print(res.fun, unflatten(res.x))

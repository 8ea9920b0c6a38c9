import numpy as np
import scipy.optimize

import gradspec as gs

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 5, 30))
y = np.sin(2 * x) + 0.1 * rng.standard_normal(30)


def kernel(a, b, log_ell, log_sf):
    d2 = gs.scipy.spatial.distance.cdist(a[:, None], b[:, None], "sqeuclidean")
    return gs.exp(2 * log_sf) * gs.exp(-0.5 * d2 / gs.exp(2 * log_ell))


def nll(theta):
    log_ell, log_sf, log_sn = theta
    K = kernel(x, x, log_ell, log_sf) + gs.exp(2 * log_sn) * gs.eye(len(x))
    c, low = gs.scipy.linalg.cho_factor(K, lower=True)
    alpha = gs.scipy.linalg.cho_solve((c, low), y)
    return 0.5 * y @ alpha + gs.log(gs.diag(c)).sum() + 0.5 * len(x) * gs.log(2 * gs.pi)


fun = gs.value_and_grad(nll)
res = scipy.optimize.minimize(fun, np.array([0.0, 0.0, -1.0]), jac=True, method="L-BFGS-B")
print(res.message, np.exp(res.x).round(3), f"nll = {res.fun:.3f}")
assert res.success
np.testing.assert_allclose(res.jac, 0, atol=1e-2)
np.testing.assert_allclose(gs.grad(nll)(np.array([0.1, 0.2, -0.5])), scipy.optimize.approx_fprime(np.array([0.1, 0.2, -0.5]), lambda t: float(nll(t)), 1e-6), rtol=1e-4)
reference = -gs.scipy.stats.multivariate_normal.logpdf(y, np.zeros(30), kernel(x, x, res.x[0], res.x[1]) + np.exp(2 * res.x[2]) * np.eye(30))
np.testing.assert_allclose(reference, res.fun)
xs = np.linspace(0, 5, 7)
K = kernel(x, x, *res.x[:2]) + np.exp(2 * res.x[2]) * np.eye(30)
mean = kernel(xs, x, *res.x[:2]) @ gs.linalg.solve(K, y)
assert np.max(np.abs(np.asarray(mean) - np.sin(2 * xs))) < 0.3

import gradspec.numpy as np
import scipy.optimize
from gradspec import grad, hessian, hessian_vector_product, jacobian
from gradspec.numpy import linalg

rng = np.random.RandomState(7)
n, T = 5, 250
factor = rng.randn(T, 2)
loadings = rng.randn(2, n)
returns = 0.001 + 0.01 * (np.dot(factor, loadings) + 0.5 * rng.randn(T, n))
mean = np.mean(returns, axis=0)
cov = np.cov(returns, rowvar=False)
vols = np.sqrt(np.diag(cov))
corr = cov / np.outer(vols, vols)
assert np.allclose(corr, np.corrcoef(returns.T))


def variance(w):
    return np.dot(w, np.dot(cov, w))


def risk_contributions(w):
    return w * grad(variance)(w) / (2 * np.sqrt(variance(w)))


# minimum variance in closed form
ones = np.ones(n)
closed = linalg.solve(cov, ones)
closed /= np.sum(closed)
scale = 1e4
res = scipy.optimize.minimize(
    lambda w: scale * variance(w),
    ones / n,
    jac=grad(lambda w: scale * variance(w)),
    hess=hessian(lambda w: scale * variance(w)),
    method="trust-constr",
    constraints=[{"type": "eq", "fun": lambda w: np.sum(w) - 1, "jac": jacobian(lambda w: np.array([np.sum(w) - 1]))}],
)
print("weights", np.round(res.x, 4), "closed", np.round(closed, 4))
assert np.allclose(res.x, closed, atol=1e-3)


# risk parity: minimise 0.5 w'Cw - sum log w / n
def objective(w):
    return 0.5 * scale * variance(w) - np.sum(np.log(w)) / n


w = ones / n
for _ in range(20):
    step = linalg.solve(hessian(objective)(w), grad(objective)(w))
    t = 1.0
    while np.any(w - t * step <= 0):
        t *= 0.5
    w = w - t * step
w /= w.sum()
rc = risk_contributions(w)
print("risk contributions", rc / np.sum(rc))
assert np.allclose(rc, rc[0], rtol=1e-5)
# Euler: the contributions add to the volatility
assert np.isclose(rc.sum(), np.sqrt(variance(w)))


def cvar(w, alpha=0.05):
    losses = np.sort(-np.dot(returns, w))[::-1]
    return np.mean(losses[: int(alpha * T)])


g = grad(cvar)(w)
worst = np.argsort(np.dot(returns, w))[: int(0.05 * T)]
assert np.allclose(g, -returns[worst].mean(axis=0))
assert np.isclose(np.dot(g, w), cvar(w))
hvp = hessian_vector_product(objective)(w, ones)
assert np.allclose(hvp, hessian(objective)(w).dot(ones))


def log_wealth(w):
    return np.cumsum(np.log1p(np.dot(returns, w)))[-1]


kelly = jacobian(log_wealth)(w)
assert np.allclose(kelly, (returns / (1 + returns @ w)[:, np.newaxis]).sum(0))

"""Laplace's approximation of a Poisson regression with a random effect of each group."""

import gradspec.numpy as np
import gradspec.numpy.random as npr
from gradspec import grad, hessian, hessian_vector_product
from gradspec.scipy.special import gammaln
from gradspec.scipy.stats import multivariate_normal as mvn
from gradspec.scipy.stats import norm, poisson
from scipy.optimize import minimize

rs = npr.RandomState(1)
n, groups = 200, 8
group = rs.randint(groups, size=n)
X = np.column_stack([np.ones(n), rs.randn(n)])
beta_true, u_true = np.array([0.5, -0.3]), 0.5 * rs.randn(groups)
counts = rs.poisson(np.exp(np.dot(X, beta_true) + u_true[group]))
onehot = np.eye(groups)[group]


def unpack(w):
    return w[:2], w[2:2 + groups], w[-1]


def log_joint(w):
    beta, u, log_s = unpack(w)
    eta = X @ beta + onehot @ u
    loglik = np.sum(counts * eta - np.exp(eta) - gammaln(counts + 1))
    prior = np.sum(norm.logpdf(beta, 0, 10)) + np.sum(norm.logpdf(u, 0.0, np.exp(log_s)))
    return loglik + prior + norm.logpdf(log_s, -0.5, 0.5)


neg = lambda w: -log_joint(w)
w0 = np.zeros(groups + 3)
opt = minimize(neg, w0, jac=grad(neg), hessp=hessian_vector_product(neg), method="trust-ncg")
mode = opt.x
assert opt.success or np.linalg.norm(opt.jac) < 1e-4
H = hessian(neg)(mode)
sign, logdet = np.linalg.slogdet(H)
assert sign == 1 and np.allclose(H, H.T)
evidence = log_joint(mode) + 0.5 * len(mode) * np.log(2 * np.pi) - 0.5 * logdet
cov = np.linalg.inv(H)
assert abs(mode[1] - beta_true[1]) < 4 * np.sqrt(cov[1, 1])

beta, u, _ = unpack(mode)
lam = np.exp(X @ beta + u[group])
assert np.isclose(np.sum(poisson.logpmf(counts, lam)), np.sum(counts * np.log(lam) - lam - gammaln(counts + 1)))

L = np.linalg.cholesky(cov)
z = mode + rs.randn(500, len(mode)) @ L.T
logq = mvn.logpdf(z, mode, cov)
logp = np.array([log_joint(zi) for zi in z])
logw = logp - logq
iw = np.log(np.mean(np.exp(logw - logw.max()))) + logw.max()
assert abs(iw - evidence) < 1.0, (iw, evidence)
score = grad(lambda m: np.sum(mvn.logpdf(z, m, cov)))(mode)
assert np.allclose(score, np.linalg.solve(cov, np.sum(z - mode, axis=0)))

import numpy as np
from scipy import linalg

import gradspec as gs

lam, mu, N = 2.0, 3.0, 12


def generator(lam, mu):
    Q = gs.diag(lam * np.ones(N), 1) + gs.diag(mu * np.ones(N), -1)
    Q = Q - gs.diag(Q.sum(axis=1))
    return Q


def stationary(lam, mu):
    Q = generator(lam, mu)
    A = np.vstack([Q.T[:-1], np.ones(N + 1)])
    b = np.zeros(N + 1)
    b[-1] = 1
    return np.linalg.solve(A, b)


def mean_length(lam, mu):
    return np.arange(N + 1) @ stationary(lam, mu)


rho = lam / mu
exact = rho ** np.arange(N + 1)
exact /= exact.sum()
np.testing.assert_allclose(stationary(lam, mu), exact, rtol=1e-10)
dl, dm = gs.grad(mean_length, argnums=(0, 1))(lam, mu)
# depends on rho alone: Euler
assert abs(lam * dl + mu * dm) < 1e-10
h = 1e-6
np.testing.assert_allclose(dl, (mean_length(lam + h, mu) - mean_length(lam - h, mu)) / (2 * h), rtol=1e-6)

# transient: expm
P = gs.scipy.linalg.expm(generator(lam, mu) * 0.5)
np.testing.assert_allclose(P.sum(axis=1), 1.0)
np.testing.assert_allclose(P, linalg.expm(np.asarray(generator(lam, mu)) * 0.5))
blocked = gs.vmap(lambda l: stationary(l, mu)[-1])(gs.linspace(1.0, 5.0, 9))
assert np.all(np.diff(blocked) > 0)
print("P(blocked):", blocked, sep="\n")

# service rate that keeps the mean at 1.5, by scipy's root finder with our derivative
from scipy.optimize import newton

best = newton(lambda m: float(mean_length(lam, m)) - 1.5, 3.0, fprime=lambda m: float(gs.grad(mean_length, 1)(lam, m)))
assert np.isclose(mean_length(lam, best), 1.5)

# maximum likelihood from simulated sojourns: exponential rates
rng = np.random.default_rng(0)
waits = rng.exponential(1 / mu, size=500)
ll = lambda r: gs.sum(gs.scipy.stats.expon.logpdf(waits, scale=1 / r))
score = gs.grad(ll)
r = 1.0
for i in range(15):
    r -= score(r) / gs.grad(score)(r)
np.testing.assert_allclose(r, 1 / waits.mean())
counts = np.bincount(rng.poisson(lam, 300))
pois = gs.grad(lambda l: (counts * gs.scipy.stats.poisson.logpmf(np.arange(len(counts)), l)).sum())(2.0)
np.testing.assert_allclose(pois, counts @ np.arange(len(counts)) / 2.0 - counts.sum())

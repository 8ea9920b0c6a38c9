"""An epidemic on a network of towns: a sparse matrix of travel, gamma delays, and a likelihood of negative binomial counts."""

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln
from scipy.stats import gamma
from numpy.lib.stride_tricks import sliding_window_view

import gradspec as gs

rng = np.random.default_rng(2)
towns, days = 6, 40
travel = sp.random(towns, towns, density=0.4, random_state=3, format="csr")
travel = travel + sp.eye(towns)
travel = sp.diags(1 / np.asarray(travel.sum(axis=1)).ravel()) @ travel
population = rng.integers(2000, 5000, towns).astype(float)
delay = np.diff(gamma.cdf(np.arange(8), a=3.0, scale=1.0))
delay /= delay.sum()


def simulate(params):
    beta, rec, seed = np.exp(params[0]), np.exp(params[1]), np.exp(params[2])
    I = np.zeros(towns)
    I = np.where(np.arange(towns) == 0, seed, I)
    S = population - I
    new = []
    for _ in range(days):
        force = beta * (travel @ (I / population))
        infections = S * -np.expm1(-force)
        S = S - infections
        I = I + infections - rec * I
        new.append(infections)
    return np.array(new)


def reported(params):
    cases = simulate(params)
    padded = np.concatenate([np.zeros((len(delay) - 1, towns)), cases])
    windows = sliding_window_view(padded, len(delay), axis=0)
    return np.tensordot(windows, delay[::-1], axes=1)


def nb_loglik(k, mu, r=10.0):
    mu = np.maximum(mu, 1e-6)
    return (gammaln(k + r) - gammaln(r) - gammaln(k + 1) + r * np.log(r / (r + mu)) + k * np.log(mu / (r + mu))).sum()


true = np.log([0.5, 0.2, 20.0])
mean = reported(true)
assert mean.shape == (days, towns)
counts = rng.negative_binomial(10, 10 / (10 + np.maximum(mean, 1e-6)))

p = gs.array(np.log([0.4, 0.25, 10.0]), requires_grad=True)
opt = gs.optim.Adam([p], lr=0.05)
history = []
for _ in range(150):
    opt.zero_grad()
    loss = -nb_loglik(counts, reported(p)) / counts.size
    loss.backward()
    opt.step()
    history.append(loss.item())
assert history[-1] < history[0]
assert np.allclose(np.exp(p.detach()), np.exp(true), rtol=0.25), p

information = gs.autograd.functional.hessian(lambda q: -nb_loglik(counts, reported(q)), p.detach())
std = np.sqrt(np.diag(np.linalg.inv(information)))
assert np.all(std > 0) and np.all(std < 0.5)
total = np.add.reduceat(simulate(p), np.arange(0, days, 10), axis=0).sum(axis=1)
(g,) = gs.autograd.grad(total[-1], p)
h = 1e-6 * np.array([1.0, 0, 0])
x = p.detach().numpy()
assert np.isclose(g[0], (simulate(x + h)[30:].sum() - simulate(x - h)[30:].sum()) / 2e-6, rtol=1e-4)

"""Implied volatilities by Newton's method, and the local volatility of Dupire from second derivatives."""

import gradspec.numpy as np
import gradspec.scipy.stats as sps
from gradspec import elementwise_grad, grad, hessian, make_jvp


def call(S, K, T, r, vol):
    d1 = (np.log(S / K) + (r + 0.5 * vol**2) * T) / (vol * np.sqrt(T))
    return S * sps.norm.cdf(d1) - K * np.exp(-r * T) * sps.norm.cdf(d1 - vol * np.sqrt(T))


vega = elementwise_grad(call, 4)
K = np.linspace(70.0, 140.0, 15)
smile = 0.25 - 0.1 * np.log(K / 100) + 0.2 * np.log(K / 100) ** 2
prices = call(100.0, K, 0.5, 0.02, smile)

vol = np.full(K.shape, 0.3)
for it in range(20):
    diff = call(100.0, K, 0.5, 0.02, vol) - prices
    if np.max(np.abs(diff)) < 1e-12:
        break
    vol -= diff / np.maximum(vega(100.0, K, 0.5, 0.02, vol), 1e-8)
assert it < 19 and np.allclose(vol, smile, atol=1e-9)


def surface(K, T):
    k = np.log(K / 100)
    return call(100.0, K, T, 0.0, 0.2 + 0.05 * k**2 + 0.01 * T)


dT = elementwise_grad(surface, 1)
dKK = elementwise_grad(elementwise_grad(surface, 0), 0)
KK, TT = np.meshgrid(np.array([90.0, 100.0, 110.0]), np.array([0.5, 1.0]))
local = np.sqrt(2 * dT(KK, TT) / (KK**2 * dKK(KK, TT)))
assert local.shape == (2, 3) and np.all((local > 0.15) & (local < 0.3))
h = 1e-2
numeric = (surface(KK + h, TT) - 2 * surface(KK, TT) + surface(KK - h, TT)) / h**2
assert np.allclose(dKK(KK, TT), numeric, rtol=1e-4)


def book(x):
    S, vol, r = x
    return 10 * call(S, 95.0, 1.0, r, vol) - 5 * call(S, 105.0, 1.0, r, vol)


x = np.array([100.0, 0.2, 0.01])
H = hessian(book)(x)
assert np.allclose(H, H.T)
scenario = np.array([-2.0, 0.03, 0.001])
pnl = book(x + scenario) - book(x)
taylor = np.dot(grad(book)(x), scenario) + 0.5 * np.dot(scenario, np.dot(H, scenario))
assert abs(pnl - taylor) < 0.05 * abs(pnl)
value, slope = make_jvp(book)(x)(scenario)
assert np.isclose(slope, grad(book)(x).dot(scenario)) and value == book(x)

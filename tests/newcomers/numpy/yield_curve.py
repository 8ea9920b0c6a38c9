"""A yield curve: Nelson-Siegel fitted to bonds, the key rates' durations, and a spread by brentq."""

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, least_squares

import gradspec as gs

maturities = np.array([0.5, 1, 2, 3, 5, 7, 10, 20, 30])


def nelson_siegel(t, p):
    b0, b1, b2, tau = p
    s = t / tau
    load = -np.expm1(-s) / s
    return b0 + b1 * load + b2 * (load - np.exp(-s))


def bond_price(T, coupon, rate):
    times = np.arange(0.5, T + 0.25, 0.5)
    cash = np.full(len(times), coupon / 2)
    cash[-1] += 1
    return np.sum(cash * np.exp(-rate(times) * times))


true = np.array([0.04, -0.02, 0.01, 2.0])
coupons = 0.02 + 0.001 * np.sqrt(maturities)
market = np.array([bond_price(T, c, lambda t: nelson_siegel(t, true)) for T, c in zip(maturities, coupons)])


def residuals(p):
    prices = [bond_price(T, c, lambda t: nelson_siegel(t, p)) for T, c in zip(maturities, coupons)]
    return np.stack(prices) - market


def jac(p):
    return gs.func.jacrev(residuals)(gs.array(p)).numpy()


fit = least_squares(residuals, x0=[0.03, 0.0, 0.0, 1.0], jac=jac, xtol=1e-14, ftol=1e-14, gtol=1e-14)
assert np.allclose(fit.x, true, atol=1e-5), fit.x

knots = np.array([0.0, 2.0, 5.0, 10.0, 30.0])
node_rates = gs.array(nelson_siegel(np.maximum(knots, 1e-6), true), requires_grad=True)
spline = CubicSpline(knots, node_rates, bc_type="natural")
price = bond_price(10, 0.03, spline)
price.backward()
key_rates = -node_rates.grad / price.detach()


def bumped(k, h):
    r = node_rates.detach().numpy().copy()
    r[k] += h
    return bond_price(10, 0.03, CubicSpline(knots, r, bc_type="natural"))


for k in range(5):
    numeric = -(bumped(k, 1e-5) - bumped(k, -1e-5)) / 2e-5 / price.item()
    assert np.isclose(key_rates[k], numeric, atol=1e-6), k
assert 8 < key_rates.sum() < 9

level = gs.array(0.0, requires_grad=True)
quote = 0.95 * price.item()
z = brentq(lambda s: bond_price(10, 0.03, lambda t: nelson_siegel(t, true) + s) - quote, -0.1, 0.2)
(bond_price(10, 0.03, lambda t: nelson_siegel(t, true) + z + level)).backward()
dv01 = -level.grad * 1e-4
assert 0 < z < 0.02 and 5e-4 < dv01 < 1e-3
assert abs(np.interp(4.0, knots, node_rates).item() - nelson_siegel(4.0, true)) < 1e-3

"""Two spectral lines of Voigt profile on a slope, fitted by curve_fit with gradspec's Jacobian."""

import numpy as np
from scipy.optimize import curve_fit
from scipy.signal import find_peaks
from scipy.special import voigt_profile

import gradspec as gs


def model(x, *p):
    c0, c1 = p[:2]
    y = c0 + c1 * x
    for amp, mu, sigma, gamma in zip(p[2::4], p[3::4], p[4::4], p[5::4]):
        y = y + amp * voigt_profile(x - mu, np.abs(sigma), np.abs(gamma))
    return y


def jac(x, *p):
    p = gs.array(p, requires_grad=True)
    return np.asarray(gs.autograd.functional.jacobian(lambda q: model(x, *q), p))


rng = np.random.default_rng(5)
x = np.linspace(-5, 5, 301)
true = np.array([0.2, 0.01, 1.0, -1.2, 0.3, 0.2, 1.5, 1.4, 0.4, 0.1])
y = model(x, *true) + 0.005 * rng.standard_normal(x.size)
peaks, props = find_peaks(y, prominence=0.3)
assert len(peaks) == 2

p0 = [np.median(y), 0.0]
for mu in x[peaks]:
    p0 += [1.0, mu, 0.3, 0.3]
popt, pcov = curve_fit(model, x, y, p0=p0, jac=jac)
err = np.sqrt(np.diag(pcov))
popt[4::4], popt[5::4] = np.abs(popt[4::4]), np.abs(popt[5::4])
assert np.all(np.abs(popt - true) < 5 * err), (popt, err)

J = jac(x, *popt)
assert J.shape == (301, 10)
step = 1e-6
for k in range(10):
    d = np.zeros(10)
    d[k] = step
    numeric = (model(x, *(popt + d)) - model(x, *(popt - d))) / (2 * step)
    np.testing.assert_allclose(J[:, k], numeric, atol=1e-6)

p = gs.array(popt, requires_grad=True)
area = np.trapezoid(model(x, *p) - p[0] - p[1] * x, x)
area.backward()
assert p.grad.shape == (10,) and abs(p.grad[2] - 1) < 0.1
centroid = gs.grad(lambda q: np.average(x, weights=model(x, *q)))(gs.array(popt))
assert np.isfinite(centroid).all()

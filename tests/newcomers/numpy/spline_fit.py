import numpy as np
from scipy import interpolate

import gradspec as gs

rng = np.random.default_rng(3)
x = np.linspace(0, 10, 80)
y = np.sin(x) + 0.1 * rng.normal(size=x.size)
knots = np.linspace(0, 10, 9)


def predict(heights, x):
    return gs.interp(x, knots, heights)


def loss(h, lam=0.0):
    return gs.sum((predict(h, x) - y) ** 2) + lam * gs.sum(gs.diff(h, n=2) ** 2)


h = np.zeros_like(knots)
H, g = gs.hessian(loss)(h), gs.grad(loss)(h)
h = h - np.linalg.solve(H, g)
B = np.array([np.interp(x, knots, e) for e in np.eye(len(knots))]).T
np.testing.assert_allclose(h, np.linalg.lstsq(B, y, rcond=None)[0], rtol=1e-8)
print("linear spline rms", np.sqrt(loss(h) / x.size).round(4))

cs = gs.scipy.interpolate.CubicSpline(knots, gs.tensor(np.sin(knots)))
np.testing.assert_allclose(cs(x), interpolate.CubicSpline(knots, np.sin(knots))(x), atol=1e-12)
np.testing.assert_allclose(cs(x, 1), interpolate.CubicSpline(knots, np.sin(knots))(x, 1), atol=1e-12)

# polynomials: fit, evaluate, differentiate, roots
coef = np.polyfit(x, y, 5)
p = gs.polyval(gs.tensor(coef), x)
assert p.shape == x.shape
V = np.vander(x / 10, 6)
beta, res, rank, sv = gs.linalg.lstsq(gs.tensor(V), gs.tensor(y), rcond=None)
np.testing.assert_allclose(V @ beta, np.polyval(coef, x), atol=1e-6)
slope = gs.vmap(gs.grad(lambda s: gs.polyval(coef, s)))(gs.tensor(x))
np.testing.assert_allclose(slope, np.polyval(np.polyder(coef), x), rtol=1e-8)

mask = np.abs(y - p) > 0.3
clean = np.where(mask, np.nan, y)
assert np.isclose(gs.nanmean(clean), y[~mask].mean())
area = gs.trapezoid(p, x)
exact = np.polyval(np.polyint(coef), 10) - np.polyval(np.polyint(coef), 0)
np.testing.assert_allclose(area, exact, rtol=1e-2)
q, bins = np.histogram(y, bins=np.percentile(y, [0, 25, 50, 75, 100]))
assert q.sum() == len(y)
idx = np.searchsorted(knots, x, side="right") - 1
assert idx.min() == 0 and gs.bincount(idx).sum() == 80
smooth = gs.convolve(y, np.ones(5) / 5, "valid")
assert smooth.shape[0] == 76 and smooth.std() < y.std()

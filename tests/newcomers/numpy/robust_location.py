"""Locate an earthquake from arrival times with outliers, as one writes it with NumPy and SciPy."""
import numpy as np
import pandas as pd
import scipy.stats
from scipy.optimize import minimize

import gradspec as gs

rng = np.random.default_rng(12)
stations = pd.DataFrame(rng.uniform(-50, 50, (14, 2)), columns=["x", "y"])
stations["elev"] = rng.uniform(0, 2, 14)
true = np.array([12.0, -7.0, 9.0, 2.5])
v = 6.0


def travel(hypo, s):
    dx = s[:, 0] - hypo[0]
    dy = s[:, 1] - hypo[1]
    dz = s[:, 2] + hypo[2]
    return hypo[3] + np.sqrt(dx**2 + dy**2 + dz**2) / v


S = stations[["x", "y", "elev"]].to_numpy()
stations["t"] = travel(true, S) + 0.02 * rng.standard_normal(14)
stations.loc[[2, 9], "t"] += 4.0


def misfit(h):
    r = (stations["t"].to_numpy() - travel(h, S)) / 0.05
    return -gs.scipy.stats.t.logpdf(r, df=2).sum()


first = stations.loc[stations["t"].idxmin()]
x0 = np.array([first["x"], first["y"], 5.0, first["t"] - 1.0])
best = None
for z in (2.0, 8.0, 15.0):
    x0[2] = z
    sol = minimize(misfit, x0, jac=gs.grad(misfit), method="BFGS")
    if best is None or sol.fun < best.fun:
        best = sol
print("location", best.x.round(2), "misfit", round(float(best.fun), 3))
np.testing.assert_allclose(best.x[:2], true[:2], atol=0.5)
H = gs.hessian(misfit)(best.x)
evals, evecs = np.linalg.eigh(H)
assert np.all(evals > 0)
ellipse = 1 / np.sqrt(evals)
print("axes", ellipse)

stations["residual"] = stations["t"] - np.asarray(travel(best.x, S))
outliers = stations.index[stations["residual"].abs() > 1]
assert list(outliers) == [2, 9]
mad = gs.median(gs.abs(gs.asarray(stations["residual"]) - gs.median(gs.asarray(stations["residual"]))))
np.testing.assert_allclose(mad, scipy.stats.median_abs_deviation(stations["residual"]))


# Huber's location by Newton, and the trimmed mean
def huber(m, x, k=1.345):
    r = gs.abs(x - m)
    return gs.where(r < k, 0.5 * r**2, k * (r - 0.5 * k)).sum()


sample = np.append(rng.standard_normal(30), [40.0, 50.0])
m = np.median(sample)
for _ in range(10):
    m = m - gs.grad(huber)(m, sample) / gs.grad(gs.grad(huber))(m, sample)
psi = np.clip(sample - m, -1.345, 1.345)
assert abs(psi.sum()) < 1e-8
q25, q75 = gs.quantile(gs.tensor(sample), gs.tensor([0.25, 0.75]))
np.testing.assert_allclose(float(q75 - q25), scipy.stats.iqr(sample))
ranks = gs.argsort(gs.argsort(gs.tensor(sample)))
assert ranks[-1] == 31

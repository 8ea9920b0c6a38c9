import gradspec as gs
import numpy as np
import pandas as pd
from scipy import optimize, stats

rng = np.random.RandomState(0)
df = pd.DataFrame({"value": np.r_[rng.normal(-2, 0.5, 150), rng.normal(1, 1.0, 250)], "group": ["a"] * 150 + ["b"] * 250})
data = df["value"].values


def unpack(p):
    w = gs.scipy.special.softmax(gs.array([p[0], 0.0]))
    return w, p[1:3], gs.exp(p[3:5])


def loglik(p):
    w, mu, sigma = unpack(p)
    comp = gs.log(w) + gs.scipy.stats.norm.logpdf(data[:, None], loc=mu, scale=sigma)
    return gs.scipy.special.logsumexp(comp, axis=1).sum()


p0 = np.array([0.0, -1.0, 0.5, 0.0, 0.0])
res = optimize.minimize(lambda p: -loglik(p).item(), p0, jac=lambda p: -gs.grad(loglik)(p), method="BFGS")
w, mu, sigma = unpack(res.x)
print("weights", w, "means", mu, "sigmas", sigma)
print(df.groupby("group")["value"].agg(["mean", "std"]))
assert np.allclose(mu, df.groupby("group")["value"].mean(), atol=0.15)
assert abs(float(w[0]) - 150 / 400) < 0.05


# EM agrees with direct maximisation
def em(data, w, mu, sigma, n=300):
    for _ in range(n):
        r = w * stats.norm.pdf(data[:, None], mu, sigma)
        r /= r.sum(axis=1, keepdims=True)
        nk = r.sum(axis=0)
        w, mu = nk / len(data), (r * data[:, None]).sum(0) / nk
        sigma = np.sqrt((r * (data[:, None] - mu) ** 2).sum(0) / nk)
    return w, mu, sigma


for a, b in zip(em(data, np.array([0.5, 0.5]), np.array([-1.0, 0.5]), np.ones(2)), (w, mu, sigma)):
    np.testing.assert_allclose(a, b, rtol=1e-3)
info = -gs.hessian(loglik)(res.x)
se = gs.sqrt(gs.diag(gs.linalg.inv(info)))
table = pd.DataFrame({"estimate": res.x, "se": np.asarray(se)}, index=["logit", "mu1", "mu2", "ls1", "ls2"])
print(table.to_string(float_format="%.3f"))
assert (table["se"] > 0).all() and table.loc["mu1", "se"] < 0.1

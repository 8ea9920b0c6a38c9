import numpy as np
import pandas as pd
import xarray as xr

import gradspec as gs

lat = np.linspace(-60, 60, 5)
time = pd.date_range("2000-01-01", periods=36, freq="MS")
month = np.arange(36)
rng = np.random.default_rng(0)
temp = 15 - 0.2 * np.abs(lat)[None, :] + 0.02 * month[:, None] + 3 * np.cos(2 * np.pi * month / 12)[:, None] + 0.1 * rng.normal(size=(36, 5))
ds = xr.Dataset({"temp": (("time", "lat"), temp)}, coords={"time": time, "lat": lat})
weights = np.cos(np.deg2rad(ds.lat))


def model(p, lat, month):
    return p[0] + p[1] * gs.abs(lat)[None, :] + p[2] * month[:, None] + p[3] * gs.cos(2 * gs.pi * month / 12)[:, None]


def loss(p):
    r = model(p, ds.lat.values, month) - ds["temp"].values
    return gs.average(gs.mean(r**2, axis=0), weights=weights.values)


p = gs.zeros(4, dtype=float)
H = gs.hessian(loss)(p)
p = p - gs.linalg.solve(H, gs.grad(loss)(p))
print("fit:", p, "loss: {:.5f}".format(loss(p)))
np.testing.assert_allclose(p, [15, -0.2, 0.02, 3], atol=0.1)
assert np.linalg.norm(gs.grad(loss)(p)) < 1e-8

fitted = xr.DataArray(model(p, lat, month), dims=("time", "lat"), coords=ds.coords)
resid = ds["temp"] - fitted
assert float(np.abs(resid).max()) < 0.5
clim = resid.groupby("time.month").mean()
assert clim.sizes == {"month": 12, "lat": 5} or clim.shape == (12, 5)
frame = ds["temp"].to_series().unstack("lat")
frame["fit"] = np.asarray(model(p, lat, month))[:, 2]
assert frame[0.0].corr(frame["fit"]) > 0.95
anomalies = frame.rolling(3).mean().dropna()
assert len(anomalies) == 34
t = gs.tensor(frame[0.0])
assert t.dtype == gs.float64 and len(t) == 36
s = pd.Series(t.detach().numpy(), index=time)
np.testing.assert_allclose(s.resample("YS").mean(), t.reshape(3, 12).mean(axis=1))
w = gs.tensor(weights.values, requires_grad=True)
m = (w * ds["temp"].mean("time").values).sum() / w.sum()
m.backward()
means = ds["temp"].mean("time").values
np.testing.assert_allclose(w.grad, (means - m.item()) / weights.values.sum())
np.testing.assert_allclose(m.item(), float(ds["temp"].weighted(weights).mean()))

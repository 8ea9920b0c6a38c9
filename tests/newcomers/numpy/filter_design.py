"""Signal processing: a recursive filter's coefficients from its response, and the Welch spectrum of its output."""

import numpy as np
from scipy import signal
from scipy.optimize import minimize

import gradspec as gs

fs = 200.0
sos = signal.butter(4, [10, 40], btype="bandpass", fs=fs, output="sos")
b0, a0 = signal.butter(2, 30, fs=fs)
w, target = signal.freqz(b0, a0, worN=64, fs=fs)
z = np.exp(-2j * np.pi * w / fs)


def response(theta):
    b, a = theta[:3], np.concatenate(([1.0], theta[3:]))
    powers = z[:, None] ** np.arange(3)
    return (powers @ b) / (powers @ a)


def loss(theta):
    err = response(theta) - target
    return np.sum(np.abs(err) ** 2)


def fun(theta):
    t = gs.array(theta, requires_grad=True)
    value = loss(t)
    value.backward()
    return value.item(), t.grad.numpy()


res = minimize(fun, x0=np.array([0.1, 0.1, 0.1, -0.5, 0.1]), jac=True, method="BFGS", options={"gtol": 1e-9})
assert np.allclose(res.x, np.r_[b0, a0[1:]], atol=1e-5), res.x

rng = np.random.default_rng(0)
noise = rng.normal(size=512)
x = gs.array(noise, requires_grad=True)
y = signal.sosfilt(sos, x)
power = (y[100:] ** 2).mean()
power.backward()
adjoint = signal.sosfilt(sos, np.pad(2 * y.detach().numpy()[100:] / 412, (100, 0))[::-1])[::-1]
np.testing.assert_allclose(x.grad, adjoint, atol=1e-12)

x = gs.array(noise, requires_grad=True)
f, pxx = signal.welch(signal.lfilter(b0, a0, x), fs=fs, nperseg=128)
band = np.trapezoid(pxx[f < 30], f[f < 30])
band.backward()
k, h = 200, 1e-5
bump = np.zeros(512)
bump[k] = h


def band_of(v):
    f, p = signal.welch(signal.lfilter(b0, a0, v), fs=fs, nperseg=128)
    return np.trapezoid(p[f < 30], f[f < 30])


assert np.isclose(x.grad[k], (band_of(noise + bump) - band_of(noise - bump)) / (2 * h), rtol=1e-5)
envelope = np.abs(signal.hilbert(x))
envelope.sum().backward()
assert envelope.shape == (512,) and np.isfinite(x.grad).all()

import numpy as np

import gradspec as gs

t = np.linspace(0, 1, 64, endpoint=False)
signal = np.sin(2 * np.pi * 5 * t)


def objective(theta):
    kernel = np.exp(-np.linspace(-2, 2, 9) ** 2 / theta[0])
    kernel = kernel / np.sum(kernel)
    smooth = np.convolve(signal, kernel, mode="same")
    spectrum = np.abs(np.fft.rfft(smooth * np.hanning(64))) ** 2
    return np.trapezoid(np.interp(theta[1], np.arange(33), spectrum) * smooth**2, t) + np.var(np.diff(smooth), ddof=1)


theta = gs.tensor([0.7, 4.5], requires_grad=True)
objective(theta).backward()
eps = 1e-6
for i in range(2):
    e = np.eye(2)[i] * eps
    numeric = (objective(np.array([0.7, 4.5]) + e) - objective(np.array([0.7, 4.5]) - e)) / (2 * eps)
    assert abs(numeric - theta.grad[i]) < 1e-5 * max(1, abs(numeric)), (numeric, theta.grad)

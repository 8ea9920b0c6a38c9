import numpy as np
from scipy.io import wavfile

import gradspec as gs
from io import BytesIO

sr = 4000
t = np.arange(0, 0.25, 1 / sr)
rng = np.random.default_rng(1)
target = 0.8 * np.exp(-6 * t) * np.sin(2 * np.pi * 220 * t + 0.3) + 0.3 * np.exp(-10 * t) * np.sin(2 * np.pi * 440 * t)


def synth(p):
    amps, decays, phases = p[:2], p[2:4], p[4:6]
    freqs = np.array([220.0, 440.0])
    partials = amps[:, None] * gs.exp(-decays[:, None] * t) * gs.sin(2 * np.pi * freqs[:, None] * t + phases[:, None])
    return np.sum(partials, axis=0)


def spectral_loss(p):
    window = gs.scipy.signal.windows.hann(256)
    a, b = synth(p), target
    total = 0
    for start in range(0, len(t) - 256, 128):
        A = gs.fft.rfft(a[start : start + 256] * window)
        B = gs.fft.rfft(b[start : start + 256] * window)
        total = total + gs.mean(gs.abs(A - B) ** 2)
    return total


p = np.array([0.5, 0.5, 4.0, 8.0, 0.0, 0.1])
from scipy.optimize import least_squares

print("loss", spectral_loss(p))
res = least_squares(lambda p: np.asarray(synth(p) - target), p, jac=lambda p: np.asarray(gs.jacobian(synth)(p)))
print("p", res.x.round(3), "cost %.2e" % res.cost)
np.testing.assert_allclose(res.x, [0.8, 0.3, 6, 10, 0.3, 0.0], atol=1e-4)
np.testing.assert_allclose(spectral_loss(res.x), 0, atol=1e-10)

# filters: zero phase, frequency response, decimation
b, a = gs.scipy.signal.butter(4, 300, fs=sr)
clean = gs.scipy.signal.filtfilt(b, a, gs.array(target + 0.1 * rng.standard_normal(t.size)))
w, H = gs.scipy.signal.freqz(b, a, worN=512)
assert abs(abs(H[0]) - 1) < 1e-6
assert np.mean((clean - target) ** 2) < 0.1
x = gs.tensor(target, requires_grad=True)
y = gs.scipy.signal.lfilter([1.0], [1.0, -0.5], x)
y[-1].backward()
np.testing.assert_allclose(x.grad[::-1][:5], 0.5 ** np.arange(5))
env = np.abs(gs.scipy.signal.hilbert(x.detach()))
assert env[20:60].mean() > 0.4
buf = BytesIO()
wavfile.write(buf, sr, (synth(res.x) * 32767).astype(np.int16))
assert buf.tell() == 44 + 2 * len(t)

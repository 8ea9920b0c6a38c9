import gradspec.numpy as np
import gradspec.numpy.fft as fft
import gradspec.scipy.signal
from gradspec import grad, value_and_grad
from gradspec.util import flatten
from scipy.optimize import minimize

convolve = gradspec.scipy.signal.convolve
rs = np.random.RandomState(0)
n = 64
truth = np.zeros(n)
truth[[10, 30, 33, 50]] = [1.0, 0.7, 1.2, 0.5]
psf = np.exp(-0.5 * np.linspace(-2, 2, 9) ** 2)
psf /= psf.sum()
observed = convolve(truth, psf, mode="same") + 0.005 * rs.randn(n)


def blur(x):
    return convolve(x, psf, mode="full")[4:-4]


def loss(x, lam=1e-3):
    resid = blur(x) - observed
    return 0.5 * np.sum(resid**2) + lam * np.sum(np.sqrt(x**2 + 1e-6))


res = minimize(value_and_grad(loss), np.zeros(n), jac=True, method="L-BFGS-B", bounds=[(0, None)] * n, options={"maxiter": 500})
peaks = np.where((res.x[1:-1] > res.x[:-2]) & (res.x[1:-1] > res.x[2:]) & (res.x[1:-1] > 0.2))[0] + 1
print("peaks at", peaks, "error", np.linalg.norm(res.x - truth) / np.linalg.norm(truth))
assert set([10, 50]) <= set(peaks.tolist())
assert np.linalg.norm(res.x - truth) < np.linalg.norm(observed - truth)


# circular deconvolution by the FFT (Wiener)
kernel = np.zeros(n)
kernel[:9] = psf
kernel = np.roll(kernel, -4)
H = fft.fft(kernel)


def circular(x):
    return np.real(fft.ifft(fft.fft(x) * H))


y = circular(truth)
wiener = np.real(fft.ifft(fft.fft(y) * np.conj(H) / (np.abs(H) ** 2 + 1e-6)))
assert np.linalg.norm(circular(wiener) - y) < 1e-2
adjoint = grad(lambda x: np.dot(circular(x), y))(truth)
assert np.allclose(adjoint, np.real(fft.ifft(fft.fft(y) * np.conj(H))))
# Parseval, and its gradient 2 x
energy = lambda x: np.sum(np.abs(fft.fft(x)) ** 2) / n
assert np.isclose(energy(truth), np.sum(truth**2))
assert np.allclose(grad(energy)(y), 2 * y)
x = rs.randn(n)
e = np.zeros(n)
e[20] = 1e-6
assert np.isclose(grad(loss)(x)[20], (loss(x + e) - loss(x - e)) / 2e-6, rtol=1e-5)
image = rs.randn(6, 6)
k2 = np.array([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])
lap = convolve(image, k2, axes=([0, 1], [0, 1]), mode="valid")
assert lap.shape == (4, 4)
assert np.isclose(lap[0, 0], image[0, 1] + image[1, 0] + image[1, 2] + image[2, 1] - 4 * image[1, 1])

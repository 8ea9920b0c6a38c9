"""An image without its noise and blur: total variation, the blur in Fourier space, minimised by SciPy's L-BFGS."""

import gradspec.numpy as np
import gradspec.numpy.random as npr
import scipy.optimize
from gradspec import grad, make_vjp, value_and_grad
from gradspec.test_util import check_grads

npr.seed(0)
N = 24
truth = np.zeros((N, N))
truth[6:18, 4:12] = 1.0
truth[10:14, 12:20] = 0.5

freq = np.fft.fftfreq(N)
transfer = np.exp(-20 * (freq[:, None] ** 2 + freq[None, :] ** 2))


def blur(img):
    return np.real(np.fft.ifft2(np.fft.fft2(img) * transfer))


observed = blur(truth) + 0.02 * npr.randn(N, N)


def tv(img, eps=1e-3):
    dx = np.diff(np.pad(img, ((0, 0), (0, 1)), "edge"), axis=1)
    dy = np.diff(np.pad(img, ((0, 1), (0, 0)), mode="edge"), axis=0)
    return np.sum(np.sqrt(dx**2 + dy**2 + eps**2))


def objective(flat):
    img = np.reshape(flat, (N, N))
    return 0.5 * np.sum((blur(img) - observed) ** 2) + 0.004 * tv(img)


calls = []
result = scipy.optimize.minimize(
    value_and_grad(objective), observed.ravel(), jac=True, method="L-BFGS-B",
    bounds=[(0, 1)] * (N * N), callback=lambda x: calls.append(objective(x)), options={"maxiter": 200},
)
restored = result.x.reshape(N, N)


def psnr(img):
    return 10 * np.log10(1 / np.mean((img - truth) ** 2))


assert psnr(restored) > psnr(observed) + 3, (psnr(restored), psnr(observed))
assert calls == sorted(calls, reverse=True)

vjp, value = make_vjp(blur)(truth)
g = npr.randn(N, N)
assert np.allclose(vjp(g), blur(g)) and np.allclose(value, blur(truth))
check_grads(tv, modes=["rev"], order=1)(npr.rand(5, 5))

patches = np.array([np.rot90(restored, k) for k in range(4)])
sym = grad(lambda z: np.sum(np.std(np.stack([z, np.flipud(z), np.fliplr(z)]), axis=0)))(restored + 0.01 * npr.rand(N, N))
assert patches.shape == (4, N, N) and sym.shape == restored.shape
assert np.isclose(np.sum(sym), 0, atol=1e-8)

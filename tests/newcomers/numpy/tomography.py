import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from scipy import ndimage

import gradspec as gs

n = 16
yy, xx = np.mgrid[:n, :n]
phantom = ((xx - 8) ** 2 + (yy - 7) ** 2 < 20).astype(float)
phantom[5:8, 6:9] += 0.5

rows = []
angles = np.linspace(0, 180, 12, endpoint=False)
for a in angles:
    t = np.deg2rad(a)
    s = np.rint((xx - 7.5) * np.cos(t) + (yy - 7.5) * np.sin(t)).astype(int) + 12
    for k in range(25):
        rows.append((s == k).ravel().astype(float))
A = sp.csr_matrix(np.array(rows))
sino = A @ phantom.ravel()

x = gs.zeros(n * n, dtype=gs.float64, requires_grad=True)


def objective(x, lam=0.05):
    r = A @ x - sino
    img = x.reshape(n, n)
    tv = gs.sqrt(gs.diff(img, axis=0)[:, :-1] ** 2 + gs.diff(img, axis=1)[:-1, :] ** 2 + 1e-4).sum()
    return 0.5 * (r**2).sum() + lam * tv


L = spla.svds(A, k=1, return_singular_vectors=False)[0] ** 2
z, t = x.detach().copy(), 1.0
prev = z
for it in range(150):
    g = gs.grad(objective)(z)
    new = np.maximum(z - g / (L + 1), 0)
    t_new = (1 + np.sqrt(1 + 4 * t**2)) / 2
    z = new + (t - 1) / t_new * (new - prev)
    prev, t = new, t_new
recon = np.asarray(prev).reshape(n, n)
err = np.linalg.norm(recon - phantom) / np.linalg.norm(phantom)
print(f"relative error {err:.3f}, objective {objective(prev):.4f}")
assert err < 0.25
# the gradient of the data term is A'(Ax - b)
x.data[:] = np.linspace(0, 1, n * n)
(0.5 * ((A @ x - sino) ** 2).sum()).backward()
np.testing.assert_allclose(x.grad, A.T @ (A @ np.linspace(0, 1, n * n) - sino))
smooth = ndimage.gaussian_filter(phantom, 1.0)
dsmooth = gs.grad(lambda p: (gs.scipy.ndimage.gaussian_filter(p, 1.0) * phantom).sum())(phantom)
np.testing.assert_allclose(dsmooth, smooth, atol=1e-10)

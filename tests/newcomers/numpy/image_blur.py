import numpy as np

import gradspec as gs

image = np.random.default_rng(0).random((12, 12))


def blur(sigma):
    r = np.arange(-3, 4)
    k = np.exp(-0.5 * (r / sigma) ** 2)
    k = k / k.sum()
    padded = np.pad(image, 3, mode="reflect")
    rows = np.apply_along_axis(lambda row: np.convolve(row, k, mode="valid"), 1, padded)
    return np.apply_along_axis(lambda col: np.convolve(col, k, mode="valid"), 0, rows)


sharp = lambda sigma: np.sum(np.gradient(blur(sigma))[0] ** 2)
print(gs.grad(sharp)(1.5))

import numpy as np

import gradspec as gs

x = np.linspace(0, 1, 20)
y = 2 * x + 1 + 0.1 * np.sin(20 * x)
X = np.c_[np.ones_like(x), x]


def loss(beta, scale):
    r = y - X @ beta
    weights = np.exp(-np.abs(r) / scale)
    return np.average(r**2, weights=weights)


dbeta, dscale = gs.grad(loss, (0, 1))(np.array([0.5, 1.0]), 0.3)
start = gs.tensor([0.5, 1.0], requires_grad=True)
beta, *_ = np.linalg.lstsq(X * np.c_[start[0], start[1]], y, rcond=None)
beta.sum().backward()
print(dbeta, dscale, start.grad)

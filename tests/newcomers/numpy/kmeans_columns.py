import numpy as np

import gradspec as gs

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 2))
centres = gs.tensor(X[:3].copy(), requires_grad=True)
for step in range(5):
    d = np.sum((X[:, None] - centres[None]) ** 2, axis=-1)
    loss = np.mean(np.min(d, axis=1))
    loss.backward()
    with gs.no_grad():
        centres -= centres.grad
        centres.grad = None
labels = np.argmin(d, axis=1)
table = np.c_[X, labels]
row = np.r_[centres[0], 1.0]

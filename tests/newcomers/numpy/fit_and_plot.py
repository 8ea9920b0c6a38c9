"""Fit and plot: scatter, fill_between, hist, imshow of tensors."""
import io

import matplotlib.pyplot as plt
import numpy as np
import gradspec as gs

x = np.linspace(0, 3, 30)
y = np.exp(-x) + 0.01 * np.random.default_rng(0).normal(size=30)
p = gs.tensor([0.5, 0.5], requires_grad=True)
curve = lambda p: p[0] * np.exp(-p[1] * x)
for _ in range(200):
    loss = np.mean((curve(p) - y) ** 2)
    loss.backward()
    p.data -= 0.5 * p.grad
    p.grad.zero_()
fit = curve(p)
fig, ax = plt.subplots(2, 2)
ax[0, 0].scatter(x, y)
ax[0, 0].plot(x, fit, "r-", label=f"{p[0]:.2f} exp(-{p[1]:.2f} x)")
ax[0, 0].fill_between(x, fit - 0.1, fit + 0.1, alpha=0.2)
ax[0, 0].legend()
ax[0, 1].hist(fit - y)
ax[1, 0].imshow(np.outer(fit, fit))
ax[1, 1].bar(range(2), p)
ax[1, 1].axhline(p.mean())
fig.savefig(io.BytesIO())

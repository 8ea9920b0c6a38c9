"""Fit a straight line by gradient descent: the smallest complete program.

Run it with `python examples/linear_regression.py`.
"""

import numpy as np

import gradspec as gs

rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, size=(100, 1))
y = 3 * x - 2 + 0.1 * rng.normal(size=(100, 1))

slope = gs.tensor(0.0, requires_grad=True)
intercept = gs.tensor(0.0, requires_grad=True)

for step in range(201):
    residual = slope * x + intercept - y  # NumPy arrays and tensors mix
    loss = (residual**2).mean()
    loss.backward()  # fills slope.grad and intercept.grad

    with gs.no_grad():
        for parameter in (slope, intercept):
            parameter -= 0.2 * parameter.grad
            parameter.grad = None

    if step % 40 == 0:
        print(f"step {step:3d}  loss {loss.item():.5f}")

best_slope, best_intercept = np.polyfit(x[:, 0], y[:, 0], 1)
print(f"gradient descent: y = {slope.item():.4f} x {intercept.item():+.4f}")
print(f"least squares:    y = {best_slope:.4f} x {best_intercept:+.4f}")

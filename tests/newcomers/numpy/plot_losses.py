import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import gradspec as gs

x = np.linspace(-1, 1, 50)
y = 3 * x + 1
a, b = gs.tensor(0.0, requires_grad=True), gs.tensor(0.0, requires_grad=True)
losses = []
for step in range(50):
    loss = np.mean((a * x + b - y) ** 2)
    loss.backward()
    with gs.no_grad():
        a -= 0.1 * a.grad
        b -= 0.1 * b.grad
    a.grad = b.grad = None
    losses.append(loss)
plt.plot(losses)
plt.plot(x, a * x + b)
plt.savefig("/dev/null", format="png")

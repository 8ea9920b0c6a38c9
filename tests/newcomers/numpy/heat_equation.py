import numpy as np

import gradspec as gs


def simulate(k, steps=20):
    u = np.zeros(50)
    u[25] = 1.0
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


print(gs.grad(simulate)(0.2))

import numpy as np
from scipy.integrate import solve_ivp

import gradspec as gs


def final_angle(length):
    pendulum = lambda t, y: np.array([y[1], -9.81 / length * np.sin(y[0])])
    return solve_ivp(pendulum, (0, 2), np.array([0.5, 0.0])).y[0, -1]


print(gs.grad(final_angle)(1.0))

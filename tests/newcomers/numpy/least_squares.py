import numpy as np
from scipy.optimize import least_squares

import gradspec as gs

t = np.linspace(0, 4, 30)
data = 2.5 * np.exp(-1.3 * t) + 0.5


def residuals(p):
    return p[0] * np.exp(-p[1] * t) + p[2] - data


fit = least_squares(residuals, np.ones(3), jac=gs.jacobian(residuals))
print(fit.x)
assert np.allclose(fit.x, [2.5, 1.3, 0.5])

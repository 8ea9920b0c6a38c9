import gradspec.numpy as np
from gradspec import value_and_grad
from scipy.optimize import minimize


def project(vx, vy):
    p = np.zeros(vx.shape)
    h = 1.0 / vx.shape[0]
    div = -0.5 * h * (np.roll(vx, -1, axis=0) - np.roll(vx, 1, axis=0) + np.roll(vy, -1, axis=1) - np.roll(vy, 1, axis=1))
    for k in range(6):
        p = (div + np.roll(p, 1, axis=0) + np.roll(p, -1, axis=0) + np.roll(p, 1, axis=1) + np.roll(p, -1, axis=1)) / 4.0
    vx = vx - 0.5 * (np.roll(p, -1, axis=0) - np.roll(p, 1, axis=0)) / h
    vy = vy - 0.5 * (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1)) / h
    return vx, vy


def objective(params):
    vx, vy = np.reshape(params, (2, 6, 6))
    vx, vy = project(vx, vy)
    return np.mean((vx - 0.3) ** 2 + np.sin(vy) ** 2)


result = minimize(value_and_grad(objective), np.ones(72), jac=True, method="CG", options={"maxiter": 5})
assert result.fun < objective(np.ones(72))

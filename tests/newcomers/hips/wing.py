"""Fluid-like wing: gradient of a roll-based simulation with scipy.optimize, as autograd's example."""
import gradspec.numpy as np
from gradspec import value_and_grad
from scipy.optimize import minimize

def project(vx, vy):
    p = np.zeros(vx.shape)
    h = 1.0 / vx.shape[0]
    div = -0.5 * h * (np.roll(vx, -1, axis=0) - np.roll(vx, 1, axis=0) + np.roll(vy, -1, axis=1) - np.roll(vy, 1, axis=1))
    for k in range(10):
        p = (div + np.roll(p, 1, axis=0) + np.roll(p, -1, axis=0) + np.roll(p, 1, axis=1) + np.roll(p, -1, axis=1)) / 4.0
    vx = vx - 0.5 * (np.roll(p, -1, axis=0) - np.roll(p, 1, axis=0)) / h
    vy = vy - 0.5 * (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1)) / h
    return vx, vy

def advect(f, vx, vy):
    rows, cols = f.shape
    cell_ys, cell_xs = np.meshgrid(np.arange(rows), np.arange(cols))
    center_xs = (cell_xs - vx).ravel()
    center_ys = (cell_ys - vy).ravel()
    left_ix = np.floor(center_xs).astype(int)
    top_ix = np.floor(center_ys).astype(int)
    rw = center_xs - left_ix
    bw = center_ys - top_ix
    left_ix = np.mod(left_ix, rows)
    right_ix = np.mod(left_ix + 1, rows)
    top_ix = np.mod(top_ix, cols)
    bot_ix = np.mod(top_ix + 1, cols)
    flat_f = (1 - rw) * ((1 - bw) * f[left_ix, top_ix] + bw * f[left_ix, bot_ix]) + rw * ((1 - bw) * f[right_ix, top_ix] + bw * f[right_ix, bot_ix])
    return np.reshape(flat_f, (rows, cols))

n = 8
target = np.zeros((n, n))
target[2:5, 2:5] = 1.0
init = np.zeros((n, n))
init[4:7, 4:7] = 1.0
def objective(params):
    vx, vy = np.reshape(params[: n * n], (n, n)), np.reshape(params[n * n :], (n, n))
    s = init
    for _ in range(3):
        vx, vy = project(vx, vy)
        s = advect(s, vx, vy)
    return np.mean((s - target) ** 2)
result = minimize(value_and_grad(objective), np.zeros(2 * n * n), jac=True, method="CG", options={"maxiter": 5})
print(result.fun)

"""A neuron's conductances are fitted to its voltage, the Hodgkin-Huxley equations unrolled by Euler's method."""

import gradspec.numpy as np
from gradspec import grad, jacobian, value_and_grad
from gradspec.misc.optimizers import rmsprop

DT, STEPS = 0.02, 400
C_m, E_Na, E_K, E_L = 1.0, 50.0, -77.0, -54.4


def vtrap(x, y):
    small = np.abs(x / y) < 1e-6
    safe = np.where(small, 1.0, x)
    return np.where(small, y * (1 - x / y / 2), safe / (np.exp(safe / y) - 1))


def rates(V):
    am = 0.1 * vtrap(-(V + 40), 10)
    bm = 4 * np.exp(-(V + 65) / 18)
    ah = 0.07 * np.exp(-(V + 65) / 20)
    bh = 1 / (1 + np.exp(-(V + 35) / 10))
    an = 0.01 * vtrap(-(V + 55), 10)
    bn = 0.125 * np.exp(-(V + 65) / 80)
    return np.array([am, ah, an]), np.array([bm, bh, bn])


def simulate(log_g, current=10.0):
    g_Na, g_K, g_L = np.exp(log_g)
    V = -65.0
    a, b = rates(V)
    gates = a / (a + b)
    trace = []
    for _ in range(STEPS):
        m, h, n = gates
        I = g_Na * m**3 * h * (V - E_Na) + g_K * n**4 * (V - E_K) + g_L * (V - E_L)
        a, b = rates(V)
        gates = gates + DT * (a * (1 - gates) - b * gates)
        V = V + DT * (current - I) / C_m
        trace.append(V)
    return np.array(trace)


true = np.log(np.array([120.0, 36.0, 0.3]))
data = simulate(true)
assert data.max() > 20 and data.shape == (STEPS,)


def loss(log_g, i=0):
    return np.mean((simulate(log_g) - data) ** 2) / 100


start = true + np.array([0.15, -0.1, 0.2])
value, slope = value_and_grad(loss)(start)
v = np.array([1.0, 2.0, -1.0])
numeric = (loss(start + 1e-6 * v) - loss(start - 1e-6 * v)) / 2e-6
assert abs(slope @ v - numeric) < 1e-4 * abs(numeric)

J = jacobian(simulate)(start)
assert J.shape == (STEPS, 3)
residual = simulate(start) - data
assert np.allclose(2 * J.T @ residual / STEPS / 100, slope)
x = start
for _ in range(8):
    J, r = jacobian(simulate)(x), simulate(x) - data
    x = x - np.linalg.solve(J.T @ J + 1e-3 * np.eye(3), J.T @ r)
assert np.allclose(np.exp(x), [120.0, 36.0, 0.3], rtol=1e-3), np.exp(x)
out = rmsprop(grad(loss), start, num_iters=10, step_size=0.01)
assert loss(out) < value

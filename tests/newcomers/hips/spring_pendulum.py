import gradspec.numpy as np
from gradspec import grad, jacobian, make_vjp
from gradspec.scipy.integrate import odeint
from gradspec.tracer import getval

g, L0, k, m = 9.81, 1.0, 40.0, 0.8


def lagrangian(q, qdot):
    x, y = q
    T = 0.5 * m * np.dot(qdot, qdot)
    V = m * g * y + 0.5 * k * (np.sqrt(x**2 + y**2) - L0) ** 2
    return T - V


def acceleration(q, qdot):
    dLdq = grad(lagrangian, 0)(q, qdot)
    M = jacobian(grad(lagrangian, 1), 1)(q, qdot)
    C = jacobian(grad(lagrangian, 1), 0)(q, qdot)
    return np.linalg.solve(M, dLdq - np.dot(C, qdot))


def rhs(state, t, *args):
    q, qdot = state[:2], state[2:]
    return np.concatenate((qdot, acceleration(q, qdot)))


def energy(state):
    q, qdot = state[:2], state[2:]
    return np.dot(grad(lagrangian, 1)(q, qdot), qdot) - lagrangian(q, qdot)


def verlet(state, dt, n):
    q, v = state[:2], state[2:]
    out = [state]
    a = acceleration(q, v)
    for _ in range(n):
        v = v + 0.5 * dt * a
        q = q + dt * v
        a = acceleration(q, v)
        v = v + 0.5 * dt * a
        out.append(np.concatenate([q, v]))
    return np.array(out)


start = np.array([0.5, -1.0, 0.0, 0.3])
path = verlet(start, 0.005, 200)
E = np.array([energy(s) for s in path])
print("E0 = %f, drift %.2e" % (E[0], np.max(np.abs(E - E[0]))))
assert np.max(np.abs(E - E[0])) < 1e-3 * abs(E[0]) + 1e-2
a0 = acceleration(start[:2], start[2:])
r = np.sqrt(0.5**2 + 1.0)
exact = np.array([0.0, -g]) - k / m * (r - L0) / r * np.array([0.5, -1.0])
assert np.allclose(a0, exact)

ts = np.linspace(0, 1.0, 11)
sol = odeint(rhs, start, ts, tuple(), rtol=1e-8, atol=1e-8)
assert np.allclose(sol[-1], path[-1], atol=1e-3)

# the flow is symplectic: J' Omega J = Omega for unit mass scaling
flow = lambda s: verlet(s, 0.01, 20)[-1]
J = jacobian(flow)(start)
Omega = np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), np.hstack([-np.eye(2), np.zeros((2, 2))])])
assert np.allclose(J.T @ Omega @ J, Omega, atol=1e-9)
vjp, ans = make_vjp(flow)(start)
assert np.allclose(vjp(np.ones(4)), J.T @ np.ones(4)) and np.allclose(getval(ans), flow(start))


# aim: choose the initial velocity so that the bob passes a point
target = path[100][:2]
v = np.array([0.1, 0.2])
for i in range(6):
    f = lambda v: verlet(np.concatenate([start[:2], v]), 0.005, 100)[-1][:2] - target
    v = v - np.linalg.solve(jacobian(f)(v), f(v))
assert np.allclose(v, start[2:], atol=1e-6)

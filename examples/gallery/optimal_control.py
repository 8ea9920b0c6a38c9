r"""
An optimal control
==================

A pole hangs from a cart. Which force on the cart swings it up and holds it there, with little effort? The unknowns are the forces
at a hundred and twenty times. One backward pass through the simulation has the derivative of the cost by all of them, and a
method for many unknowns does the rest.
"""

# %%
# The equations of a cart with a pole whose mass is at its end; :math:`\theta = 0` is down, :math:`\theta = \pi` is up.
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import gradspec as gs

CART, POLE, LENGTH, GRAVITY = 1.0, 0.3, 0.5, 9.81
STEPS, DT = 120, 0.02


def rates(state, force):
    _, theta, speed, turn = state
    sine, cosine = gs.sin(theta), gs.cos(theta)
    mass = CART + POLE * sine**2
    push = force + POLE * sine * (LENGTH * turn**2 + GRAVITY * cosine)
    spin = (
        -force * cosine - POLE * LENGTH * turn**2 * cosine * sine - (CART + POLE) * GRAVITY * sine
    )
    return gs.stack([speed, turn, push / mass, spin / (LENGTH * mass)])


def step(state, force):
    a = rates(state, force)
    b = rates(state + DT / 2 * a, force)
    c = rates(state + DT / 2 * b, force)
    d = rates(state + DT * c, force)
    state = state + DT / 6 * (a + 2 * b + 2 * c + d)
    return state, state


def path(forces):
    return gs.scan(step, gs.zeros(4), forces)[1]


# %%
# The cost is effort, and the distance from the goal at the end: one metre to the right, upright, at rest. The compiled function
# has value and gradient as one program; SciPy's minimiser calls it as it calls any function.
GOAL = np.array([1.0, np.pi, 0.0, 0.0])


def cost(forces):
    return DT * 1e-3 * (forces**2).sum() + ((path(forces)[-1] - GOAL) ** 2).sum() * 10


value_and_gradient = gs.compile(gs.value_and_grad(cost))
start = 2 * np.sin(np.linspace(0, 3 * np.pi, STEPS))
found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
forces = found.x
states = np.concatenate([np.zeros((1, 4)), np.asarray(path(forces))])
print(
    f"cost {float(cost(start)):.2f} -> {float(found.fun):.4f} in {found.nit} iterations; the end: {states[-1].round(3)}"
)
assert abs(states[-1] - GOAL).max() < 0.02


# %%
# Two checks. The gradient agrees with differences of the cost. And the work of the force, :math:`\int F\,\dot x\,dt`, is the
# difference of the energies at the ends.
def energy(state):
    _, theta, speed, turn = state.T
    kinetic = (
        (CART + POLE) * speed**2 / 2
        + POLE * LENGTH * speed * turn * np.cos(theta)
        + POLE * (LENGTH * turn) ** 2 / 2
    )
    return kinetic - POLE * GRAVITY * LENGTH * np.cos(theta)


direction = np.random.default_rng(0).normal(size=STEPS)
slope = float(gs.grad(cost)(start) @ direction)
difference = float(cost(start + 1e-5 * direction) - cost(start - 1e-5 * direction)) / 2e-5
assert abs(slope - difference) < 1e-6 * abs(slope)
work = np.cumsum(forces * np.diff(states[:, 0]))  # the force is constant in a step
gained = energy(states)[1:] - energy(states[:1])
print(f"energy of the end {gained[-1]:.4f}, work of the force {work[-1]:.4f}")
assert abs(work - gained).max() < 1e-3 * gained.max()

# %%
# At the end the pole is in balance, but the balance is not stable. Linearised, it is: ``gs.jacfwd`` has the matrices, and
# the equation of Riccati the feedback that holds the pole. The matrix of the closed loop has its eigenvalues on the left.
A, B = (
    gs.jacfwd(rates, 0)(gs.asarray(GOAL), 0.0),
    gs.jacfwd(rates, 1)(gs.asarray(GOAL), 0.0)[:, None],
)
X = gs.scipy.linalg.solve_continuous_are(A, B, np.diag([10.0, 10.0, 1.0, 1.0]), np.eye(1))
gain = (B.T @ X)[0]
poles, closed = np.linalg.eigvals(A), np.linalg.eigvals(A - B @ gain[None])
assert poles.real.max() > 1 and closed.real.max() < 0
held, kick = [states[-1] + np.array([0.0, 0.15, 0.0, 0.0])], []
for _ in range(200):
    kick.append(-float(gain @ (held[-1] - GOAL)))
    held.append(np.asarray(step(gs.asarray(held[-1]), kick[-1])[0]))
held = np.array(held)
print(f"from 0.15 off, four seconds later: {abs(held[-1] - GOAL).max():.1e} off")
assert abs(held[-1] - GOAL).max() < 0.05

# %%
# The cart and its pole, from dark to light in time. Below, the force; after the swing the pole is pushed by 0.15, and the feedback
# takes over.
figure, (top, below) = plt.subplots(
    2, 1, figsize=(10, 7), layout="constrained", height_ratios=[3, 1.3]
)
colours = plt.get_cmap("viridis")(np.linspace(0, 0.95, STEPS + 1))
tips = states[:, 0] + LENGTH * np.sin(states[:, 1]), -LENGTH * np.cos(states[:, 1])
top.axhline(0, color="grey", linewidth=1)
top.plot(*tips, color="grey", linewidth=0.8, linestyle=":")
for number in range(0, STEPS + 1, 4):
    x, tip = states[number, 0], (tips[0][number], tips[1][number])
    top.plot([x, tip[0]], [0, tip[1]], color=colours[number], linewidth=2)
    top.plot(*tip, "o", color=colours[number], markersize=9)
    top.plot(x, 0, "s", color=colours[number], markersize=7)
top.set(aspect="equal", title="Swing up")
times = DT * np.arange(STEPS + 200)
below.step(times, np.concatenate([forces, kick]), where="post", color="tab:red")
below.axvline(STEPS * DT, color="grey", linestyle=":", linewidth=1)
below.set(
    xlabel="seconds",
    ylabel="newtons",
    title="The force: planned, then feedback",
    xlim=(0, times[-1]),
)
plt.show()

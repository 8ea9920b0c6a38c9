"""A pendulum that is swung up by model predictive control, in C without Python: a step of Gauss-Newton for each step of the plant.

    python examples/controller.py

Without a C compiler, the same functions run in Python.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import gradspec as gs

HORIZON, STEP, STEPS = 15, 0.06, 1000  # as in controller.c


def moved(state, torque):
    """A pendulum after a Runge-Kutta step; it hangs at the angle 0."""

    def change(s):
        return gs.stack([s[1], torque - 9.81 * gs.sin(s[0]) - 0.1 * s[1]])

    a = change(state)
    b = change(state + STEP / 2 * a)
    c = change(state + STEP / 2 * b)
    return state + STEP / 6 * (a + 2 * b + 2 * c + change(state + STEP * c))


def plant(state, torques):
    """The state after the first torque."""
    return moved(state, torques[0])


def residuals(torques, state):
    """The distance from the top, the speed and the torque of each step, with weights."""
    found = []
    for k in range(HORIZON):
        state = moved(state, torques[k])
        found += [3 * gs.sin((state[0] - np.pi) / 2), 0.3 * state[1], 0.05 * torques[k]]
    return gs.stack(found)


def gauss_newton(state, torques):
    """Better torques for a state."""
    r, jacobian = residuals(torques, state), gs.jacobian(residuals)(torques, state)
    return torques - gs.linalg.solve(jacobian.T @ jacobian + 1e-6 * np.eye(HORIZON), jacobian.T @ r)


def in_python(step, model):
    state, torques = np.zeros(2), np.zeros(HORIZON)
    for _ in range(STEPS):
        better = np.array(step(state, torques))
        state, torques = np.array(model(state, better)), np.append(better[1:], 0.0)
    return state


def main():
    step, model = gs.compile(gauss_newton), gs.compile(plant)
    state = in_python(step, model)
    print(f"in Python: the angle is {state[0] / np.pi:.6f} pi, the speed {state[1]:.1e}")
    if shutil.which("gcc") is None:
        return state, state
    with tempfile.TemporaryDirectory() as folder:
        gs.export_c(f"{folder}/mpc", {"gauss_newton": step, "plant": model})
        main = Path(__file__).with_suffix(".c")
        flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
        subprocess.run(["gcc", *flags, "-I", folder, "-o", "mpc", main, "mpc.c", "-lm"], cwd=folder, check=True)
        done = subprocess.run([f"{folder}/mpc"], capture_output=True, text=True, check=True)
    found = np.array([float(word) for word in done.stdout.split()])
    print(f"in C:      the angle is {found[0] / np.pi:.6f} pi, the speed {found[1]:.1e}")
    return state, found


if __name__ == "__main__":
    main()

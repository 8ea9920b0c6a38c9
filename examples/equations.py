"""Three differential equations fitted by five solvers: the calls of the function for a gradient, and the gradient's accuracy.

The equations are prey and predator (Lotka and Volterra), a planet on an ellipse (Kepler), and a stiff reaction (Robertson).
Their rates are recovered from a solution.  For the reaction, all five solvers use its first tenth of a second, and implicit
solvers ten seconds.  Run it with `python examples/equations.py`; `python examples/equations.py planet --solvers BDF` runs a part
of it.
"""

import argparse

import numpy as np
from scipy.optimize import minimize

import gradspec as gs
from gradspec.scipy.integrate import solve_ivp


def prey(t, y, rates):
    return [rates[0] * y[0] - rates[1] * y[0] * y[1], rates[2] * y[0] * y[1] - rates[3] * y[1]]


def planet(t, y, rates):
    force = rates[0] / (y[0] ** 2 + y[1] ** 2) ** 1.5
    return [y[2], y[3], -force * y[0], -force * y[1]]


def reaction(t, y, rates):
    slow, back, fast = rates[0] * y[0], rates[1] * y[1] * y[2], rates[2] * y[1] ** 2
    return [back - slow, slow - back - fast, fast]


# The right-hand side, the initial values, the times of the data, the rates, the start of a fit, and the scale of each component.
PROBLEMS = {
    "prey": (prey, [10.0, 5.0], np.linspace(0, 4, 9), [1.1, 0.4, 0.1, 0.4], [1.0, 0.45, 0.11, 0.42], [1, 1]),
    "planet": (planet, [0.8, 0.0, 0.0, 1.2], np.linspace(0, 3, 7), [1.0], [1.1], [1, 1, 1, 1]),
    "ignition": (reaction, [1.0, 0.0, 0.0], np.logspace(-3, -1, 7), [0.04, 1e4, 3e7], [0.05, 0.8e4, 2.5e7], [1e-3, 1e-5, 1e-3]),
    "reaction": (reaction, [1.0, 0.0, 0.0], np.logspace(-2, 1, 7), [0.04, 1e4, 3e7], [0.05, 0.8e4, 2.5e7], [1, 1e-5, 1]),
}  # fmt: skip
SOLVERS = ("RK45", "DOP853", "Radau", "BDF", "LSODA")
STIFF = ("Radau", "BDF", "LSODA")  # for the whole reaction the other solvers would take ten thousand steps
TOLERANCES = {"rtol": 1e-6, "atol": 1e-9}


def solved(problem, logs, solver, **tolerances):
    fun, start, times, *_ = PROBLEMS[problem]
    span = min(0.0, times[0]), times[-1]
    return solve_ivp(fun, span, start, solver, times, args=(gs.exp(logs),), **{**TOLERANCES, **tolerances})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("problems", nargs="*", default=list(PROBLEMS), help="prey, planet, ignition or reaction")
    parser.add_argument("--solvers", nargs="+", default=SOLVERS, choices=SOLVERS)
    chosen = parser.parse_args()
    print("problem   solver  calls of a solution  of its gradient   error of the gradient   error of the rates found")
    for problem in chosen.problems:
        _, _, _, rates, guess, scales = PROBLEMS[problem]
        exact, start = np.log(rates), np.log(guess)
        data = solved(problem, exact, "LSODA", rtol=1e-10, atol=1e-14).y.numpy()
        for solver in chosen.solvers:
            if problem == "reaction" and solver not in STIFF:
                continue
            counts = []

            def loss(logs, solver=solver, problem=problem, data=data, scales=scales, counts=counts, **tolerances):
                found = solved(problem, logs, solver, **tolerances)
                counts.append(found)
                return (((found.y - data) / np.array(scales)[:, None]) ** 2).sum()

            gradient = gs.grad(loss)(start).numpy()
            calls = counts[0].nfev, counts[0].problem.nfev_adjoint
            error = np.abs(gradient - slopes(loss, start)).max() / np.abs(gradient).max()
            fit = minimize(gs.scipy.objective(loss), start, jac=True, method="BFGS", options={"maxiter": 15})
            off = np.abs(np.exp(fit.x - exact) - 1).max()
            print(f"{problem:9} {solver:8} {calls[0]:18} {calls[1]:16} {error:23.1e} {off:26.1e}")


def slopes(loss, start):
    """Central differences of fourth order of accurate solutions."""
    found = []
    for unit in np.eye(len(start)):
        at = [loss(start + step * 1e-3 * unit, solver="LSODA", rtol=1e-12, atol=1e-16).item() for step in (-2, -1, 1, 2)]
        found.append((at[0] - 8 * at[1] + 8 * at[2] - at[3]) / 12e-3)
    return np.array(found)


if __name__ == "__main__":
    main()

"""Compare exported C with CasADi's on five problems: size, time to generate, time of a call, accuracy.

    python -m benchmarks native_problems --casadi PYTHON

PYTHON is an interpreter with CasADi; this module runs in it, too, as `native_problems.py FOLDER`, and writes the functions there.
Both modules are compiled by the same compiler with the same flags, and called by one program.  The problems are written with the
functions that NumPy, gradspec and CasADi share.  Hessians are the elements of compressed columns in both libraries.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LOOPS = {
    "gradspec": '#include "gradspec_{problem}.h"\nvoid loop(long n, const double *u, double **r) {{\n    static f_workspace work;\n'
                "    while (n--) f(u, {results}, &work);\n}}\n",
    "casadi": "int f(const double **, double **, long long *, double *, int);\nvoid loop(long n, const double *u, double **r) {{\n"
              "    static double work[100000];\n    while (n--) f(&u, r, 0, work, 0);\n}}\n",
}  # fmt: skip
FLAGS = "-std=c99 -O2 -ffp-contract=off -fPIC -shared".split()


def runge_kutta(change: Callable[[list], list], state: list, step: float) -> list:
    a = change(state)
    b = change([x + step / 2 * d for x, d in zip(state, a)])
    c = change([x + step / 2 * d for x, d in zip(state, b)])
    e = change([x + step * d for x, d in zip(state, c)])
    return [x + step / 6 * (p + 2 * q + 2 * r + s) for x, p, q, r, s in zip(state, a, b, c, e)]


def van_der_pol(f: Any, u: Any) -> Any:
    """The cost of 20 controls of an oscillator with a running cost: single shooting."""
    state, step = [0.0 * u[0], 1.0 + 0.0 * u[0], 0.0 * u[0]], 0.5
    for k in range(20):

        def change(s: list, force: Any = u[k]) -> list:
            return [(1 - s[1] * s[1]) * s[0] - s[1] + force, s[0], s[0] * s[0] + s[1] * s[1] + force * force]

        state = runge_kutta(change, state, step)
    return state[2] + 10 * (state[0] * state[0] + state[1] * state[1])


def rocket(f: Any, u: Any) -> Any:
    """The fuel of 30 thrusts, and a penalty for missing height 10 at rest."""
    state, step = [0.0 * u[0], 0.0 * u[0], 1.0 + 0.0 * u[0]], 10.0 / 30
    fuel = 0.0
    for k in range(30):

        def change(s: list, thrust: Any = u[k]) -> list:
            return [s[1], (thrust - 0.02 * s[1] * s[1]) / s[2], -0.01 * thrust * thrust]

        state = runge_kutta(change, state, step)
        fuel = fuel + u[k] * u[k]
    return fuel + 100 * ((state[0] - 10) * (state[0] - 10) + state[1] * state[1])


def pendulum(f: Any, u: Any) -> Any:
    """The cost of 25 forces on a cart that swings a pole up."""
    state, step = [0.0 * u[0], 3.0 + 0.0 * u[0], 0.0 * u[0], 0.0 * u[0]], 0.05
    cost = 0.0
    for k in range(25):

        def change(s: list, force: Any = u[k]) -> list:
            sine, cosine = f.sin(s[1]), f.cos(s[1])
            below = 1.1 - 0.1 * cosine * cosine
            return [s[2], s[3], (force - 0.05 * s[3] * s[3] * sine + 0.981 * cosine * sine) / below,
                    (force * cosine - 0.05 * s[3] * s[3] * cosine * sine + 10.791 * sine) / (0.5 * below)]  # fmt: skip

        state = runge_kutta(change, state, step)
        cost = cost + state[1] * state[1] + 0.1 * state[0] * state[0] + 0.01 * u[k] * u[k]
    return cost


def rosenbrock(f: Any, u: Any) -> Any:
    """Rosenbrock's function of 12 unknowns, whose Hessian has 34 elements."""
    total = 0.0
    for k in range(11):
        total = total + 100 * (u[k + 1] - u[k] * u[k]) * (u[k + 1] - u[k] * u[k]) + (1 - u[k]) * (1 - u[k])
    return total


def circle(f: Any, u: Any) -> Any:
    """Rosenbrock's function with a penalty for a circle, whose Hessian has all 144 elements."""
    radius = 0.0
    for k in range(12):
        radius = radius + u[k] * u[k]
    return rosenbrock(f, u) + f.exp(0.1 * (radius - 4))


PROBLEMS = {"van_der_pol": (van_der_pol, 20), "rocket": (rocket, 30), "pendulum": (pendulum, 25), "rosenbrock": (rosenbrock, 12),
            "circle": (circle, 12)}  # fmt: skip
ELEMENTS = {"rosenbrock": 34, "circle": 144}  # of the Hessian


def point(size: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=size) / 4 + 0.3


def with_casadi(folder: Path) -> None:
    """Write the value and gradient of each problem, and some Hessians, by CasADi."""
    import casadi

    seconds = {}
    for name, (problem, size) in PROBLEMS.items():
        begun = time.perf_counter()
        u = casadi.SX.sym("u", size)
        value = problem(casadi, [u[k] for k in range(size)])
        results = [value, casadi.gradient(value, u)] + ([casadi.hessian(value, u)[0]] if name in ELEMENTS else [])
        made = casadi.CodeGenerator(f"casadi_{name}.c", {"with_header": False})
        made.add(casadi.Function("f", [u], [casadi.densify(one) for one in results[:2]] + results[2:]))
        made.generate(f"{folder}/")
        seconds[name] = time.perf_counter() - begun
    (folder / "casadi.json").write_text(json.dumps(seconds))


def with_gradspec(folder: Path) -> dict[str, float]:
    """The same by gradspec; the seconds that each takes, with the recording."""
    import gradspec as gs

    seconds = {}
    for name, (problem, size) in PROBLEMS.items():
        begun = time.perf_counter()

        def value(u: Any, problem: Any = problem, size: int = size) -> Any:
            return problem(gs, [u[k] for k in range(size)])

        plan = gs.func.sparse_plan(value, point(size), hessian=True) if name in ELEMENTS else None

        def with_hessian(u: Any, value: Any = value, plan: Any = plan) -> Any:
            return *gs.value_and_grad(value)(u), plan.compressed(u)

        function = gs.compile(gs.value_and_grad(value) if plan is None else with_hessian, recheck=False)
        function(point(size))
        gs.export_c(folder / f"gradspec_{name}", {"f": function})
        seconds[name] = time.perf_counter() - begun
    return seconds


def built(path: Path, loop: str) -> tuple[ctypes.CDLL, int, int]:
    """A module as a library with a loop of calls, the bytes of its code at -Os, and of its text."""
    (path.parent / "loop.c").write_text(loop)
    subprocess.run(["gcc", *FLAGS, "-o", path.with_suffix(".so"), path, "loop.c", "-lm"], check=True, cwd=path.parent)
    subprocess.run(["gcc", "-std=c99", "-Os", "-c", "-o", path.with_suffix(".o"), path], check=True, cwd=path.parent)
    size = subprocess.run(["size", path.with_suffix(".o")], check=True, capture_output=True, text=True).stdout.split("\n")[1]
    return ctypes.CDLL(str(path.with_suffix(".so"))), int(size.split()[0]), path.stat().st_size


def fastest(loop: Any, *given: Any) -> float:
    """Microseconds of a call."""
    best = float("inf")
    for _ in range(40):
        begun = time.perf_counter()
        loop(ctypes.c_long(1000), *given)
        best = min(best, (time.perf_counter() - begun) / 1000)
    return 1e6 * best


def main(words: list[str]) -> int:
    if words[:1] != ["--casadi"] or len(words) != 2:
        sys.exit(__doc__)
    print("| problem | library | us a call | bytes of code, `-Os` | bytes of text | s to generate | largest difference |")
    print("|:--|:--|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([words[1], __file__, name], check=True)
        seconds = {"casadi": json.loads((folder / "casadi.json").read_text()), "gradspec": with_gradspec(folder)}
        for problem, (_, size) in PROBLEMS.items():
            u, found = point(size), {}
            for library in ("gradspec", "casadi"):
                results = [np.zeros(shape) for shape in [(), size, *([ELEMENTS[problem]] if problem in ELEMENTS else [])]]
                names = ", ".join(f"r[{k}]" for k in range(len(results)))
                loop = LOOPS[library].format(problem=problem, results=names)
                module, code, text = built(folder / f"{library}_{problem}.c", loop)
                pointers = (ctypes.c_void_p * len(results))(*(one.ctypes.data for one in results))
                us, found[library] = fastest(module.loop, ctypes.c_void_p(u.ctypes.data), pointers), results
                gap = max(np.abs(a - b).max() / max(1, np.abs(b).max()) for a, b in zip(results, found["gradspec"]))
                print(f"| {problem} | {library} | {us:.2f} | {code} | {text} | {seconds[library][problem]:.2f} | {gap:.0e} |")
    return 0


if __name__ == "__main__":
    with_casadi(Path(sys.argv[1]))

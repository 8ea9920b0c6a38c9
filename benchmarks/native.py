"""Compare calls of machine code with replays and with jitted JAX: `gs.compile(step, backend="c")` on cases of this folder.

    python -m benchmarks native [CASE ...]

Each number is the fastest of nine turns, which the peers take one after the other.  JAX keeps the dtypes of the inputs, float64 too.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable
from typing import Any

NAMES = "ode_rk4 chain chain_grad rosenbrock_hvp two_layers_hvp two_layers_gradient hmc_logistic many_problems".split()
TURNS, SECONDS = 9, 0.05


def microseconds(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The time of a call of each peer: the fastest of their turns."""
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    for _ in range(TURNS):
        for name, call in calls.items():
            begun, count = time.perf_counter(), 0
            while time.perf_counter() - begun < SECONDS:
                call()
                count += 1
            best[name] = min(best[name], 1e6 * (time.perf_counter() - begun) / count)
    return best


def main(words: list[str]) -> int:
    import gradspec as gs

    os.environ["JAX_ENABLE_X64"] = "1"
    print('| microseconds of a call | JAX, jitted | replay | `backend="c"` | seconds to build |\n|:--|--:|--:|--:|--:|')
    for name in words or NAMES:
        case = importlib.import_module(f"benchmarks.cases.{name}")
        calls = {"replay": gs.compile(case.with_gradspec(*case.inputs()), recheck=False)}
        calls["c"] = gs.compile(case.with_gradspec(*case.inputs()), recheck=False, backend="c", strict=True)
        begun = time.perf_counter()
        calls["c"]()
        built = time.perf_counter() - begun
        try:
            calls["jax"] = case.with_jax(*case.inputs())
        except (ImportError, AttributeError):
            pass
        found = microseconds(calls)
        jax = f"{found['jax']:.1f}" if "jax" in found else "-"
        print(f"| {case.title} | {jax} | {found['replay']:.1f} | {found['c']:.1f} | {built:.1f} |", flush=True)
    return 0

"""Elementary functions of doubles by gradspec's loops and by NumPy's, in time and error: `python -m benchmarks elementary`.

NumPy's loops depend on the processor, and are quicker than ours with AVX-512.  `vectors.h` says for each function whether they are
used there; the table of docs/accuracy.md is printed here.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import numpy as np

SIZE, ROUNDS, REPEATS = 100_000, 7, 10
DOMAINS = {"arccosh": (1, 10), "arctanh": (-0.99, 0.99), "arcsin": (-1, 1), "arccos": (-1, 1), "log1p": (-0.9, 10)}


def least(function: Callable[[], object]) -> float:
    """The least time of some calls, in microseconds."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times) * 1e6


def main() -> int:
    if os.environ.get("GRADSPEC_ELEMENTARY") != "gradspec":  # chosen when it is imported
        os.execve(
            sys.executable, [sys.executable, "-m", "benchmarks", "elementary"], os.environ | {"GRADSPEC_ELEMENTARY": "gradspec"}
        )
    import gradspec as gs
    from tests import ulps

    gs.set_num_threads(1)
    rng = np.random.default_rng(0)
    print("| function | gradspec, us | NumPy, us | ratio | gradspec, ulp | NumPy, ulp |\n|---|--:|--:|--:|--:|--:|")
    for name in sorted(ulps.chosen()):
        low, high = DOMAINS.get(name, (1e-3, 10) if name.startswith("log") else (-3, 3))
        x = rng.uniform(low, high, SIZE)
        y, ours, numpys = np.empty_like(x), ulps.function(name), getattr(np, name)
        times = [(least(lambda: ours.function(x, out=y)), least(lambda: numpys(x, out=y))) for _ in range(ROUNDS)]  # noqa: B023
        mine, theirs = map(min, zip(*times))
        errors = [ulps.worst_of_doubles(name, 200_000, used) for used in (ours.function, numpys)]
        print(f"| {name} | {mine:.0f} | {theirs:.0f} | {mine / theirs:.2f} | {errors[0]:.2f} | {errors[1]:.2f} |", flush=True)
    return 0

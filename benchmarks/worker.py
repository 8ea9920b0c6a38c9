"""Run one peer in a process of its own.

Reads one JSON request a line and answers each with one JSON line.  Needs only the peer and NumPy: it runs in
environments that contain nothing else.

    {"prepare": "chain"}            -> {"first": seconds of the first step, "digests": [...], "loops": 12}
    {"time": 12}                    -> {"seconds": per unit of work}
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from importlib import metadata
from time import perf_counter

import numpy as np


def digest(value) -> list[float]:
    """Size, sum of absolute values and a weighted sum: enough to distinguish arrays of any two libraries."""
    array = np.asarray(value.detach().numpy() if hasattr(value, "detach") else value, np.float64).ravel()
    return [array.size, float(np.abs(array).sum()), float(array @ np.cos(np.arange(array.size)))]


def repeat(step: Callable, loops: int) -> float:
    """Seconds for `loops` steps.  The garbage collector stays on, as in a user's program."""
    start = perf_counter()
    for _ in range(loops):
        step()
    return perf_counter() - start


def loops_for(step: Callable, least_time: float) -> int:
    """The number of steps that together take at least `least_time` seconds."""
    loops, elapsed = 1, repeat(step, 1)
    while elapsed < least_time and loops < 1 << 24:
        loops = max(loops + 1, min(10 * loops, round(1.1 * loops * least_time / max(elapsed, 1e-9))))
        elapsed = repeat(step, loops)
    return loops


def versions(library: str) -> dict[str, str]:
    return {name: metadata.version(name) for name in (library, "numpy")}


def main() -> None:
    library, least_time = sys.argv[1], float(sys.argv[2])
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    sys.stdout = sys.stderr  # output of a library must not mix with the answers

    def answer(**values) -> None:
        print(json.dumps(values), file=answers)

    answer(versions=versions(library))
    case = step = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "prepare" in request:
                step = None  # free the last case first
                case = importlib.import_module(f"benchmarks.cases.{request['prepare']}")
                step = getattr(case, f"with_{library}")(*case.inputs())
                if os.environ.get("GRADSPEC_REPLAY"):
                    step = importlib.import_module(library).compile(step)
                start = perf_counter()
                results = step()
                first = perf_counter() - start
                digests = [digest(result) for result in results]
                del results
                answer(first=first, digests=digests, loops=loops_for(step, least_time))
            else:
                step()  # the other peers have run since: warm the caches again
                answer(seconds=repeat(step, request["time"]) / request["time"] / getattr(case, "units", 1))
        except Exception as error:  # one failing case must not end the run
            answer(error=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()

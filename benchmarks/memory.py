"""Measure the memory of a step that is replayed beside that of the same step run eagerly.

    python -m benchmarks memory                   every measurement that a replay can run
    python -m benchmarks memory attention         one of them

Eager's peak is what tracemalloc sees NumPy allocate during a step beyond what was there before and what the step returns; it is
the sum of all that lives at the same time.  A replay needs what it has planned, which stays from call to call, and what
operators allocate while it runs.  Results are left out on both sides.  Small arrays, of which NumPy keeps a few, are not seen, so
cases below a kilobyte say little.
"""

from __future__ import annotations

import importlib
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

from .cases import CASES

LEFT_OUT = ("multiply", "profiled", "backward_node", "deep_chain")  # they measure something else, or more than fits


def peak_of(step: Callable[[], Any]) -> int:
    """Bytes that a step needs at once beyond what was there before it and what it returns."""
    for _ in range(2):
        step()
    tracemalloc.start()
    try:
        kept = step()
        del kept
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        kept = step()  # what it returns is alive when memory is looked at
        after, peak = tracemalloc.get_traced_memory()
        del kept
        return max(peak - max(after, before), 0)
    finally:
        tracemalloc.stop()


def planned_by(compiled: Any) -> int:
    """Bytes that the programs of a compiled function keep from call to call."""
    programs = [program for signature in compiled.signatures for program in signature.programs]
    return sum(lowered.memory for program in programs for lowered in (program.forward, program.backward) if lowered is not None)


def main(names: list[str]) -> int:
    import gradspec as gs

    if unknown := set(names) - set(CASES):
        print(f"no measurement named {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    print(f"{'':24}{'eager':>12}{'planned':>12}{'allocated':>12}{'ratio':>8}")
    for name in names or [case for case in CASES if case not in LEFT_OUT]:
        case = importlib.import_module(f"benchmarks.cases.{name}")
        eager = peak_of(case.with_gradspec(*case.inputs()))
        compiled = gs.compile(case.with_gradspec(*case.inputs()))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            allocated = peak_of(compiled)
        if compiled.program is None:
            print(f"{name:24}{eager:12}   {str(said[0].message)[:80] if said else 'is not replayed'}")
            continue
        planned = planned_by(compiled)
        print(f"{name:24}{eager:12}{planned:12}{allocated:12}{(planned + allocated) / max(eager, 1):8.2f}")
    return 0

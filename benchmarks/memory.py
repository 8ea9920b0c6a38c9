"""Measure the memory of a step that is replayed beside that of the same step run eagerly.

    python -m benchmarks memory                   every measurement that a replay can run
    python -m benchmarks memory attention         one of them

`eager` is the peak of what tracemalloc sees during a step beyond what was there before and what the step returns, begun with
empty caches, so that small arrays are seen; the Python objects around arrays, and the nodes of the graph, are in it.  `arrays` is
the same with the caches as steps before have left them: no objects, but no array of up to 4096 bytes either.  A replay needs what
it has planned, which stays from call to call, and what operators allocate while it runs.  `least` is the largest sum of what is
alive at one time in the program's order, below which no plan can come.  Results are left out on both sides.  The ratio is that of
planned and allocated to `eager`.
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


def peak_of(step: Callable[[], Any], cold: bool = False) -> int:
    """Bytes that a step needs at once beyond what was there before it and what it returns, with empty caches if it is `cold`."""
    import gradspec as gs

    for _ in range(2):
        step()
    tracemalloc.start()
    try:
        kept = step()
        del kept
        if cold:
            gs.empty_cache()
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        kept = step()  # what it returns is alive when memory is looked at
        _, peak = tracemalloc.get_traced_memory()
        if cold:
            gs.empty_cache()
        after, _ = tracemalloc.get_traced_memory()
        del kept
        return max(peak - max(after, before), 0)
    finally:
        tracemalloc.stop()


def least_of(lowered: Any) -> int:
    """The largest sum of what lives at the same time; a result in its operand's place counts once."""
    from gradspec.compiler.lowering.buffer_assignment import Lifetimes

    steps = [step for step in lowered.steps if step.kind != "free"]
    lives = Lifetimes(lowered.slots, steps)
    first, last, ends = lives.first, lives.last, lives.ends
    ours = [place for place, slot in enumerate(lowered.slots) if slot.place in ("planned", "offered") and first[place] >= 0]
    born: dict[int, list[int]] = {}
    for place in ours:
        born.setdefault(first[place], []).append(place)
    alive: dict[int, int] = {}
    most = 0
    for number in range(len(steps)):
        alive.update((place, ends[last[place]]) for place in born.get(number, ()))
        most = max(most, sum({lowered.slots[place].offset: lowered.slots[place].bytes for place in alive}.values()))
        alive = {place: end for place, end in alive.items() if end > number}
    return most


def programs_of(compiled: Any) -> list[Any]:
    """What a compiled function runs, with the memory that it keeps from call to call."""
    programs = [program for signature in compiled.signatures for program in signature.programs]
    return [lowered for program in programs for lowered in (program.forward, program.backward) if lowered is not None]


def main(names: list[str]) -> int:
    import gradspec as gs

    if unknown := set(names) - set(CASES):
        print(f"no measurement named {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    print(f"{'':24}{'eager':>12}{'arrays':>12}{'least':>12}{'planned':>12}{'allocated':>12}{'ratio':>8}")
    for name in names or [case for case in CASES if case not in LEFT_OUT]:
        case = importlib.import_module(f"benchmarks.cases.{name}")
        arrays, eager = (peak_of(case.with_gradspec(*case.inputs()), cold) for cold in (False, True))
        compiled = gs.compile(case.with_gradspec(*case.inputs()))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            allocated = peak_of(compiled)
        if compiled.program is None:
            print(f"{name:24}{eager:12}{arrays:12}   {str(said[0].message)[:80] if said else 'is not replayed'}")
            continue
        programs = programs_of(compiled)
        planned, least = sum(program.memory for program in programs), sum(map(least_of, programs))
        ratio = (planned + allocated) / max(eager, 1)
        print(f"{name:24}{eager:12}{arrays:12}{least:12}{planned:12}{allocated:12}{ratio:8.2f}")
    return 0

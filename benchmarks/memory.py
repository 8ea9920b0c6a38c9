"""Measure the memory of a replayed step beside the memory of the same step run eagerly.

    python -m benchmarks memory                   every measurement that a replay can run
    python -m benchmarks memory attention         one of them
    python -m benchmarks memory --torch           the largest resident memory of training steps, beside PyTorch's

`eager` is tracemalloc's peak during a step, without the memory before the step and the results of the step.  The step starts with
empty caches, so that small arrays are counted; the Python objects around arrays, and the nodes of the graph, are included.
`arrays` is the same with the caches of earlier steps: it has no objects, but also no arrays of up to 4096 bytes.  A replay needs
its planned memory, which is kept from call to call, and the memory that operators allocate while it runs.  `least` is the largest
sum of the values that are alive at one time in the program's order, a lower bound for every plan.  Results are left out on both
sides.  The ratio is planned and allocated memory divided by `eager`.

`--torch` trains the models of `benchmarks/modules.py`, with larger batches, and a Gaussian process, in a process for each library.
It prints the megabytes that the system counts: before the first step, at the most after ten, and the difference.
"""

from __future__ import annotations

import importlib
import os
import resource
import subprocess
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import modules
from .cases import CASES, gaussian_process
from .environments import HERE, PEERS

POINTS = 2048  # of the Gaussian process whose memory is measured
LEFT_OUT = ("multiply", "profiled", "backward_node", "deep_chain")  # cases that measure something else, or do not fit into memory


def peak_of(step: Callable[[], Any], cold: bool = False) -> int:
    """Peak bytes of a step beyond the memory before it and its results, with empty caches if it is `cold`."""
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
        kept = step()  # its results are alive when memory is measured
        _, peak = tracemalloc.get_traced_memory()
        if cold:
            gs.empty_cache()
        after, _ = tracemalloc.get_traced_memory()
        del kept
        return max(peak - max(after, before), 0)
    finally:
        tracemalloc.stop()


def least_of(lowered: Any) -> int:
    """The largest sum of values that are alive at the same time; a result in its operand's buffer counts once."""
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
    """The executable of a compiled function, with the memory that it keeps from call to call."""
    programs = [program for signature in compiled.signatures for program in signature.programs]
    return [lowered for program in programs for lowered in (program.forward, *(one.lowered for one in program.passes))]


#: Models, the shape of a batch, and the number of rows of their logits.
TRAINED = {
    "mlp": (modules.mlp, (16384, 64), 16384),
    "cnn": (modules.cnn, (512, 1, 28, 28), 512),
    "gpt_block": (modules.gpt_block, (64, 256, 64), 64 * 256),
    "lstm": (modules.lstm, (256, 128, 16), 256),
}


def training_of(library: str, name: str) -> Callable[[], Any]:
    """A training step of a model, or a step of the Gaussian process of `cases`."""
    if name in TRAINED:
        model, shape, rows = TRAINED[name]
        return modules.training(importlib.import_module(library), model, *modules.inputs(shape, 10, rows))
    return getattr(gaussian_process, f"with_{library}")(*gaussian_process.inputs(POINTS))


def resident(library: str, name: str) -> tuple[int, int]:
    """Kilobytes of this process before the first training step, and the most after ten."""
    step = training_of(library, name)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    before = pages * os.sysconf("SC_PAGE_SIZE") // 1024
    for _ in range(10):
        step()
    return before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def beside_torch() -> int:
    print("| model, batch | library | before, MB | at most, MB | of the steps, MB | ratio |\n|:--|:--|--:|--:|--:|--:|")
    peers = {peer.library: peer for peer in PEERS if peer.name in ("gradspec", "torch-2")}
    shapes = {name: shape for name, (_, shape, _) in TRAINED.items()} | {"gaussian_process": (POINTS, POINTS)}
    for name, shape in shapes.items():
        found = {}
        for library in ("torch", "gradspec"):
            code = f"from benchmarks.memory import resident; print(*resident({library!r}, {name!r}))"
            ran = subprocess.run(
                [peers[library].interpreter, "-c", code], cwd=HERE.parent, capture_output=True, text=True, check=True
            )
            found[library] = [int(word) / 1024 for word in ran.stdout.split()]
        steps = {library: most - before for library, (before, most) in found.items()}
        for library, (before, most) in found.items():
            ratio = f"{steps['gradspec'] / steps['torch']:.2f}" if library == "gradspec" else ""
            figures = f"{before:.0f} | {most:.0f} | {steps[library]:.0f} | {ratio}"
            print(f"| {name}, {' x '.join(map(str, shape))} | {library} | {figures} |", flush=True)
    return 0


def main(names: list[str]) -> int:
    import gradspec as gs

    if names == ["--torch"]:
        return beside_torch()
    if unknown := set(names) - set(CASES):
        print(f"no measurement named {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    print(f"{'':24}{'eager':>12}{'arrays':>12}{'least':>12}{'planned':>12}{'allocated':>12}{'ratio':>8}")
    for name in names or [case for case in CASES if case not in LEFT_OUT]:
        case = importlib.import_module(f"benchmarks.cases.{name}")
        arrays, eager = (peak_of(case.with_gradspec(*case.inputs()), cold) for cold in (False, True))
        compiled = gs.compile(case.with_gradspec(*case.inputs()), recheck=False)  # which would record within the measured call
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

"""Measure every call of the sweep on one and on two of gradspec's threads.

    python -m benchmarks thread_sweep [--size 100000] [--busy] [--op NAME ...]

`--busy`: another process uses a core all the time.  Prints the median ratio of two threads' time to the time of one, and the calls
that two threads slow down by more than 5 %.  These are measured again with four times as many turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import warnings
from timeit import Timer
from typing import Any

import numpy as np

from .calls import Call, calls
from .operands import SHAPES, differentiable, operands
from .turns import in_turns

TURNS, SECONDS = 9, 0.003
ALLOWED = 1.05
PHASES = ("forward", "backward")


def timed(call: Call, size: int, dtype: str, turns: int) -> dict[str, float]:
    """For the forward and the backward pass the time of two threads divided by the time of one."""
    import gradspec as gs

    arrays = operands(size, dtype)
    leaves = [name for name, array in arrays.items() if differentiable(name, array) and name in call.names]
    plain: dict[str, Any] = {"gs": gs, "_threads": gs.set_num_threads} | {name: gs.tensor(a) for name, a in arrays.items()}
    names = plain | {name: plain[name].detach().clone().requires_grad_() for name in leaves}
    y = eval(call.gradspec, names)
    names |= {"_y": y, "_ones": gs.tensor(np.ones(tuple(y.shape), dtype))}
    gradient = f"gs.autograd.grad(_y, [{', '.join(leaves)}], _ones, retain_graph=True)"
    found = {}
    for phase, text, given in zip(PHASES, (call.gradspec, gradient), (plain, names)):
        timers = [Timer(text, f"_threads({count})", globals=given) for count in (1, 2)]
        one, two = (statistics.median(times) for times in zip(*in_turns(timers, SECONDS, turns, 1.0)))
        found[phase] = two / one
    return found


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks thread_sweep", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, choices=SHAPES, default=100_000)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--op", nargs="+", metavar="NAME")
    options = parser.parse_args(words)
    warnings.simplefilter("ignore")
    chosen = [call for call in calls() if not options.op or {call.operator, call.label} & set(options.op)]
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if options.busy else None
    try:
        ratios = {
            (call.label, dtype, phase): ratio
            for call in chosen
            for dtype in ("float32", "float64")
            for phase, ratio in timed(call, options.size, dtype, TURNS).items()
        }
        named = {call.label: call for call in chosen}
        for label, dtype in sorted({key[:2] for key, ratio in ratios.items() if ratio > ALLOWED}):
            again = timed(named[label], options.size, dtype, 4 * TURNS)
            ratios |= {(label, dtype, phase): ratio for phase, ratio in again.items() if ratios[label, dtype, phase] > ALLOWED}
    finally:
        if other is not None:
            other.kill()
            other.wait()
    slow = {key: ratio for key, ratio in ratios.items() if ratio > ALLOWED}
    busy = ", beside a process that uses a core" if options.busy else ""
    print(f"{options.size} elements, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}{busy}: {len(ratios)} cells, "
          f"median {statistics.median(ratios.values()):.2f}, above {ALLOWED}: {len(slow)}")  # fmt: skip
    for (label, dtype, phase), ratio in sorted(slow.items(), key=lambda item: -item[1])[:20]:
        print(f"  {ratio:.2f}  {phase} of {label}, {dtype}")
    return 0

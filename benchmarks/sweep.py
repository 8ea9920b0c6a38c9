"""Measure operators beside PyTorch's and NumPy's: forward, forward recorded and backward, at four sizes, in two dtypes.

    python -m benchmarks sweep                         everything, in eight minutes on an idle machine
    python -m benchmarks sweep --op tanh softmax       the operators with such names
    python -m benchmarks sweep --size 8 100000         of 8, 1000, 100000 and 1000000 elements
    python -m benchmarks sweep --dtype float32
    python -m benchmarks sweep --size 1000 --turns 40 --accept     write sweep.tsv, which the pages of the site show

Needs PyTorch beside gradspec.  The libraries take turns in one process; a time is the minimum of a few turns.  Each line is a
call at one size and dtype, with gradspec's time divided by PyTorch's better time of 1 and 2 threads, and by NumPy's for
`forward`.  `backward` is the gradient of the sum along a retained graph, without the forward pass.  Before a call is timed, its
values are compared with PyTorch's up to rounding; if they differ, the cell says WRONG.  A call that may take more than half a
second is left out.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from timeit import Timer
from typing import Any

import numpy as np

from .calls import Call, calls
from .operands import SHAPES, differentiable, operands
from .turns import in_turns, rest

TURNS = 5
SECONDS = 0.0015  # approximate time of a turn of a library
LONG_SECONDS = 0.005  # of a turn with large arrays, whose threads wake during the first calls
MOST = 0.6  # limit of all turns of a cell
LONGEST = 0.5  # a call that would take longer, estimated from the previous size, is left out
SMALL = 1_000  # elements: times of calls with fewer do not predict larger calls
TABLE = Path(__file__).with_name("sweep.tsv")
PHASES = ("forward", "recorded", "backward")
TOLERANCES = {"float32": 2e-3, "float64": 1e-8}
MEDIAN, SHARE, TYPICAL, NONE_OVER = 0.8, 0.92, 2.0, 4.0  # the goals, the first one at GOAL_SIZE elements
GOAL_SIZE = 100_000


@dataclass
class Cell:
    """The measurements of a call at one size, in one dtype and phase; `note` says why any are missing."""

    call: str
    size: int
    dtype: str
    phase: str
    to_torch: float | None = None
    to_numpy: float | None = None
    seconds: float | None = None
    note: str | None = None


def far(ours: Any, theirs: Any) -> float:
    """The largest difference of two elements, relative to them and to their root mean square; infinite for different shapes."""
    ours, theirs = (np.asarray(value.detach().numpy(), np.float64) for value in (ours, theirs))
    if ours.shape != theirs.shape:
        return float("inf")
    scale = np.abs(theirs) + np.sqrt(np.mean(theirs**2))
    gaps = np.abs(ours - theirs) / np.where(scale == 0, 1, scale)
    return float(np.where(np.isnan(gaps), np.inf, gaps).max(initial=0.0))


class Sides:
    """The operands of one size and dtype in each library, and the library's expressions evaluated on them."""

    def __init__(self, size: int, dtype: str, turns: int = TURNS) -> None:
        import torch
        import torch.nn.functional as F

        import gradspec as gs

        self.size, self.dtype, self.turns = size, dtype, turns
        self.torch, self.gradspec = torch, gs
        self.arrays = operands(size, dtype)
        self.leaves = [name for name, array in self.arrays.items() if differentiable(name, array)]
        self.numpy = {"np": np, **self.arrays}
        self.plain = (
            {"gs": gs} | {name: gs.tensor(array) for name, array in self.arrays.items()},
            {"torch": torch, "F": F} | {name: torch.tensor(array) for name, array in self.arrays.items()},
        )

    def recorded(self, names: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The same operands; the named operands require grad."""
        return tuple(side | {name: side[name].detach().clone().requires_grad_() for name in names} for side in self.plain)

    def threads(self, count: int) -> None:
        """Set PyTorch's number of threads, and rest until the threads of the previous turn stop waiting for work."""
        self.torch.set_num_threads(count)
        if self.size >= GOAL_SIZE:
            rest()

    def timers(self, ours: str, theirs: str, names: tuple[dict[str, Any], dict[str, Any]]) -> list[Timer]:
        """gradspec, and PyTorch on 1 and 2 threads."""
        setup = {"_threads": self.threads}
        return [Timer(ours, "_threads(1)", globals=names[0] | setup)] + [
            Timer(theirs, f"_threads({count})", globals=names[1] | setup) for count in (1, 2)
        ]

    def cells(self, call: Call) -> Iterator[Cell]:
        """The three phases of a call."""
        texts = (call.gradspec, call.torch)
        values = tuple(eval(text, names) for text, names in zip(texts, self.plain))
        timers = self.timers(*texts, self.plain)
        if call.numpy:
            timers.append(Timer(call.numpy, "_threads(1)", globals=self.numpy | {"_threads": self.threads}))
        yield self.cell(call, "forward", values, timers)

        leaves = [name for name in self.leaves if name in call.names]
        recorded = self.recorded(leaves)
        values = tuple(eval(text, names) for text, names in zip(texts, recorded))
        yield self.cell(call, "recorded", values, self.timers(*texts, recorded))

        listed = ", ".join(leaves)
        calls = [f"{library}.autograd.grad(_y, [{listed}], _{{}}, retain_graph=True)" for library in ("gs", "torch")]
        shape = tuple(values[1].shape)
        cotangents = {"_any": np.random.default_rng(1).normal(size=shape), "_ones": np.ones(shape)}
        for side, names, y in zip((self.gradspec, self.torch), recorded, values):
            names["_y"] = y
            names |= {name: side.tensor(array.astype(self.dtype)) for name, array in cotangents.items()}
        gradients = tuple(eval(text.format("any"), names) for text, names in zip(calls, recorded))
        yield self.cell(call, "backward", gradients, self.timers(*(text.format("ones") for text in calls), recorded))

    def cell(self, call: Call, phase: str, values: tuple[Any, Any], timers: list[Timer]) -> Cell:
        """Compare the values, then time."""
        cell = Cell(call.label, self.size, self.dtype, phase)
        gap = max(far(*pair) for pair in (zip(*values) if phase == "backward" else [values]))
        if gap > TOLERANCES[self.dtype]:
            cell.note = f"WRONG: differs from PyTorch's by {gap:.1e}"
            return cell
        seconds = LONG_SECONDS if self.size >= GOAL_SIZE else SECONDS
        ours, one, two, *numpys = (min(times) for times in zip(*in_turns(timers, seconds, self.turns, MOST)))
        cell.seconds, cell.to_torch = ours, ours / min(one, two)
        cell.to_numpy = ours / numpys[0] if numpys else None
        return cell


def measured(chosen: list[Call], sizes: list[int], dtypes: list[str], turns: int = TURNS) -> Iterator[list[Cell]]:
    """The cells of each call at each size and dtype."""
    per_element: dict[tuple[str, str], float] = {}
    for size in sorted(sizes):
        for dtype in dtypes:
            sides = Sides(size, dtype, turns)
            for call in chosen:
                key, cells, note = (call.label, dtype), [], None
                if (likely := per_element.get(key, 0) * size) > LONGEST and size > SMALL:
                    note = f"left out: a call may take {likely:.1f} s"
                else:
                    try:
                        cells.extend(sides.cells(call))
                    except Exception as error:  # one failing call must not end the run
                        note = f"FAILED: {type(error).__name__}: {error}"
                    per_element[key] = max((cell.seconds / size for cell in cells if cell.seconds), default=0)
                yield [Cell(call.label, size, dtype, phase, note=note) for phase in PHASES] if note else cells


def line(cells: list[Cell]) -> str:
    """One line of progress."""
    first = cells[0]
    shown = [f"{cell.phase} {cell.note or f'{cell.to_torch:.2f}'}" for cell in cells]
    if first.to_numpy:
        shown.append(f"to NumPy {first.to_numpy:.2f}")
    return f"{first.size:8} {first.dtype} {first.call}: {', '.join(shown)}"


def summary(cells: list[Cell]) -> str:
    """For each size and phase the median, the share of cells under 2 and over 4, and the worst ten; then the goals."""
    timed = [cell for cell in cells if cell.to_torch is not None]
    lines = [
        "| elements | phase | cells | median to PyTorch | under 2 | over 4 | median to NumPy |", "|--:|---|--:|--:|--:|--:|--:|"
    ]  # fmt: skip

    def row(size: str, phase: str, found: list[Cell]) -> None:
        ratios = [cell.to_torch for cell in found]
        numpys = [cell.to_numpy for cell in found if cell.to_numpy]
        under, over = (sum(ratio < TYPICAL for ratio in ratios), sum(ratio > NONE_OVER for ratio in ratios))
        beside = f"{statistics.median(numpys):.2f}" if numpys else ""
        middle = statistics.median(ratios)
        lines.append(f"| {size} | {phase} | {len(found)} | {middle:.2f} | {under / len(found):.1%} | {over} | {beside} |")

    sizes = sorted({cell.size for cell in timed})
    for size in sizes:
        for phase in PHASES:
            if found := [cell for cell in timed if (cell.size, cell.phase) == (size, phase)]:
                row(f"{size}", phase, found)
        row(f"{size}", "all", [cell for cell in timed if cell.size == size])
    if timed:
        row("all", "all", timed)
    lines += ["", f"Goals: a median of at most {MEDIAN} at {GOAL_SIZE} elements, {SHARE:.0%} of the cells under {TYPICAL:g}, "
              f"none over {NONE_OVER:g}."]  # fmt: skip
    for size in sizes:
        for phase in PHASES:
            found = sorted((cell for cell in timed if (cell.size, cell.phase) == (size, phase)), key=lambda cell: -cell.to_torch)
            lines += ["", f"Worst of {phase} at {size} elements, with gradspec's time:"] if found else []
            lines += [f"  {c.to_torch:6.2f}  {c.call} {c.dtype}, {c.seconds * 1e6:.3g} us" for c in found[:10]]
    if failed := [cell for cell in cells if cell.note]:
        lines += ["", "Not timed:", *(f"  {c.size:8} {c.dtype} {c.phase} {c.call}: {c.note}" for c in failed)]
    return "\n".join(lines)


def table(chosen: list[Call], cells: list[Cell]) -> str:
    """The measured ratios to PyTorch's times: a row for each call, dtype and size."""
    found = {(cell.call, cell.dtype, cell.size, cell.phase): cell.to_torch for cell in cells if cell.to_torch is not None}
    where, _, _ = machine().partition(".\n")
    lines = [f"# {where}", "\t".join(("operator", "call", "dtype", "elements", *PHASES))]
    for call in sorted(chosen, key=lambda call: call.operator):
        for _, dtype, size in sorted({key[:3] for key in found if key[0] == call.label}):
            ratios = (found.get((call.label, dtype, size, phase)) for phase in PHASES)
            texts = ("-" if ratio is None else f"{ratio:.2g}" for ratio in ratios)
            lines.append("\t".join((call.operator, call.label, dtype, str(size), *texts)))
    return "\n".join(lines) + "\n"


def machine() -> str:
    """The processor, whether the libraries use its AVX-512, and how to switch that off."""
    import torch

    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    facts = dict((part.strip() for part in text.split(":", 1)) for text in reversed(lines) if ":" in text)
    has = "avx512f" in facts.get("flags", "").split()
    features = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    wide = [name for name in features if name.startswith("AVX512") or name == "X86_V4"]
    numpys = "on" if wide else "off"
    torchs = "on" if torch.backends.cpu.get_cpu_capability() == "AVX512" else "off"
    off = ",".join(wide) or "X86_V4,AVX512_ICL,AVX512_SPR"
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, PyTorch {torch.__version__}"
    return (
        f"{facts.get('model name', platform.machine())}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {versions}.\n"
        f"AVX-512: {'in' if has else 'not in'} the processor, {numpys} in NumPy's loops, {torchs} in PyTorch's. Off for all,\n"
        "where gradspec was built with -Csetup-args=-Davx512=false:\n"
        f"  NPY_DISABLE_CPU_FEATURES={off} ATEN_CPU_CAPABILITY=avx2 python -m benchmarks sweep"
    )


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks sweep", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--op", nargs="+", metavar="NAME", help="operators, or calls as the table has them; default: all")
    parser.add_argument("--size", nargs="+", type=int, choices=SHAPES, default=list(SHAPES), help="numbers of elements")
    parser.add_argument("--dtype", nargs="+", choices=TOLERANCES, default=list(TOLERANCES))
    parser.add_argument("--turns", type=int, default=TURNS, help="more on a busy machine")
    parser.add_argument("--accept", action="store_true", help=f"write {TABLE.name}")
    options = parser.parse_args(words)
    known = {name for call in calls() for name in (call.operator, call.label)}
    if unknown := set(options.op or ()) - known:
        parser.error(f"no call of {', '.join(sorted(unknown))}; there are {', '.join(sorted(call.operator for call in calls()))}")
    return options


def main(words: list[str]) -> int:
    options = arguments(words)
    chosen = [call for call in calls() if not options.op or {call.operator, call.label} & set(options.op)]
    try:
        print(machine(), flush=True)
    except ImportError as error:
        print(f"the sweep compares with PyTorch: {error}", file=sys.stderr)
        return 1
    started, cells = time.perf_counter(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for found in measured(chosen, options.size, options.dtype, options.turns):
            cells += found
            print(line(found), flush=True)
    if options.accept:
        TABLE.write_text(table(chosen, cells))
    print(f"\n{len(chosen)} calls, {len(cells)} cells, {time.perf_counter() - started:.0f} s\n\n{summary(cells)}")
    return 1 if any(cell.note and not cell.note.startswith("left out") for cell in cells) else 0

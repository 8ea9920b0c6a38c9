"""Measure how time and memory grow with the size of the work: `python -m benchmarks growth`.

Prints a row for each kind of work: its sizes, the processor time of each, and the largest memory beyond the memory before.  Linux
counts it, in a process of its own for each size.  Time and memory grow as the size to the printed exponent, by the last two sizes.
1 is linear.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

ROUNDS = 3
SMALL = 1e5  # bytes that Linux's count of memory does not show


def elements(n: int) -> Callable[[], Any]:
    """Forward and backward of sum(tanh(x * x)) over n numbers."""
    import gradspec as gs

    x = gs.tensor(np.linspace(-1, 1, n), requires_grad=True)
    return lambda: gs.autograd.grad(gs.tanh(x * x).sum(), x)


def chain(n: int) -> Callable[[], Any]:
    """Forward and backward of a chain of n small operators."""
    import gradspec as gs

    x = gs.tensor(np.linspace(0, 1, 8), requires_grad=True)

    def step() -> Any:
        y = x
        for _ in range(n // 2):
            y = gs.sin(y * x)
        return gs.autograd.grad(y.sum(), x)

    return step


def first_call(n: int) -> Callable[[], Any]:
    """The first two calls of a compiled chain: they record and compile it."""
    import gradspec as gs

    def step() -> Any:
        compiled = gs.compile(chain(n), strict=True)
        compiled()
        return compiled()

    return step


def later_call(n: int) -> Callable[[], Any]:
    """A later call of the same."""
    import gradspec as gs

    compiled = gs.compile(chain(n), strict=True, recheck=False)
    compiled(), compiled(), compiled()
    return compiled


def trace(n: int) -> Callable[[], Any]:
    """`gs.trace` of n operators."""
    import gradspec as gs

    def f(x: Any) -> Any:
        for _ in range(n // 2):
            x = gs.sin(x * 0.5)
        return x

    return lambda: gs.trace(f, np.ones(8))


def fan(n: int) -> Callable[[], Any]:
    """One tensor with n consumers, whose gradients are added."""
    import gradspec as gs

    x = gs.tensor(np.ones(8), requires_grad=True)
    return lambda: gs.autograd.grad(sum((x * float(k) for k in range(n)), 0.0).sum(), x)


def training(n: int) -> Callable[[], Any]:
    """A step of Adam with clipped gradients for n parameters of 16 numbers."""
    import gradspec as gs

    params = [gs.nn.Parameter(gs.ones(16)) for _ in range(n)]
    optimizer = gs.optim.Adam(params)

    def step() -> Any:
        optimizer.zero_grad()
        gs.stack([(p * p).sum() for p in params]).sum().backward()
        gs.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()

    return step


def state(n: int) -> Callable[[], Any]:
    """The state of a module with n parameters, read and loaded."""
    import gradspec as gs

    model = gs.nn.Sequential(*(gs.nn.Linear(1, 1, bias=False) for _ in range(n)))
    return lambda: model.load_state_dict(model.state_dict())


def views(n: int) -> Callable[[], Any]:
    """n writes into rows of one tensor, and backward."""
    import gradspec as gs

    rows = gs.tensor(np.ones((n, 4)), requires_grad=True)

    def step() -> Any:
        y = gs.zeros((n, 4))
        for k in range(n):
            y[k] = rows[k] * 2.0
        return gs.autograd.grad(y.sum(), rows)

    return step


WORKS = {
    elements: (100_000, 1_000_000, 10_000_000), chain: (1_000, 10_000, 100_000), trace: (1_000, 10_000, 100_000),
    first_call: (1_000, 4_000, 16_000), later_call: (1_000, 4_000, 16_000), fan: (1_000, 10_000, 100_000), training: (100, 1_000, 10_000),
    state: (100, 1_000, 10_000), views: (100, 1_000, 4_000),
}  # fmt: skip


def seconds(step: Callable[[], Any]) -> float:
    begun = time.process_time()
    step()
    return time.process_time() - begun


def status(key: str) -> int:
    """Bytes of this process, as Linux counts them."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[key].split()[0]) * 1024


def peak(step: Callable[[], Any]) -> int:
    """Bytes beyond the memory before, at most.  (tracemalloc asks for the line of each allocation, which takes time in proportion to
    the length of a function, so that a long program would take quadratic time.)"""
    gc.collect()
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the largest size is the present one again
    step()
    return max(status("VmHWM") - before, 1)


def measured(work: Callable[[int], Callable[[], Any]], size: int) -> tuple[float, int]:
    """Seconds of processor time of a step, and bytes of memory of the first step."""
    step = work(size)
    work(min(WORKS[work]))()  # imports
    most = peak(step)
    return min(seconds(step) for _ in range(ROUNDS)), most


def exponent(sizes: tuple[int, ...], found: list[float], least: float) -> str:
    """By the last two sizes; empty if one of them took less than `least`."""
    if min(found[-2:]) < least:
        return ""
    return f"{math.log(found[-1] / found[-2]) / math.log(sizes[-1] / sizes[-2]):.2f}"


def main() -> int:
    print("| work | sizes | time | exponent | memory | exponent |\n|:--|:--|:--|--:|:--|--:|")
    for work, sizes in WORKS.items():
        times: list[float] = []
        memory: list[float] = []
        for size in sizes:
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                elapsed, most = process.submit(measured, work, size).result()
            times.append(elapsed)
            memory.append(most)
        shown = (
            str(work.__doc__).splitlines()[0].rstrip("."), ", ".join(f"{size:,}".replace(",", " ") for size in sizes),
            ", ".join(f"{1e3 * one:.3g}" for one in times) + " ms", exponent(sizes, times, 0),
            ", ".join(f"{one / 1e6:.3g}" if one >= SMALL else "-" for one in memory) + " MB", exponent(sizes, memory, SMALL),
        )  # fmt: skip
        print(f"| {' | '.join(shown)} |", flush=True)
    return 0

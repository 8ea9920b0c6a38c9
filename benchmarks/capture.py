"""Measure the cost of recording a call, beside the call itself: a chain of 1000 operations and its gradient.

    python -m benchmarks capture

Milliseconds of processor time, the minimum of several fresh captures.  `recorded` is the call while a recorder listens and
discards its events.  It is a lower bound for every first call that records operators as they run.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

from .cases import chain

CAPTURES = 12


def step_of() -> Callable[[], Any]:
    """A fresh step: the chain, and the gradients of its sum."""
    import gradspec as gs

    wanted = [gs.tensor(array, requires_grad=True) for array in chain.inputs()]
    return lambda: gs.autograd.grad(gs.sum(chain.chain(*wanted)), wanted)


def recorded(step: Callable[[], Any]) -> None:
    """A call while a recorder listens."""
    from gradspec.compiler.tracing.tracer import Recorder
    from gradspec.compiler.tracing.values import Memory

    recorder = Recorder(Memory())
    recorder.start()
    try:
        step()
    finally:
        recorder.stop()
    if recorder.failure is not None:
        raise recorder.failure


def seconds(function: Callable[[], Any]) -> float:
    begun = time.process_time()
    function()
    return time.process_time() - begun


def main() -> int:
    import gradspec as gs

    found: dict[str, list[float]] = {}
    for _ in range(CAPTURES):
        step = step_of()
        step()
        compiled = gs.compile(step, strict=True)
        gc.collect()
        for name, function in (
            ("eager", step), ("recorded", lambda step=step: recorded(step)), ("first call", compiled),
            ("second call", compiled), ("later calls", compiled),
        ):  # fmt: skip
            found.setdefault(name, []).append(seconds(function))
    for name, times in found.items():
        print(f"{name:16}{1e3 * min(times):8.2f}")
    return 0

"""A recording: convert the recorder's rows into events.

Computes the event of each row: its name, the number that a call and its node share, its line and its thread's number.  Also
computes the time outside all events.
"""

from __future__ import annotations

import gc
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..api import flops
from ..core import memory_events  # noqa: F401 (finds the arrays that a recorder is told of)
from .chrome_trace import Change, Trace
from .event_list import EventList
from .function_event import FunctionEvent, FunctionEventAvg
from .recorder import CHANGE, ROW, Recorder, line_at, now

OPERATOR, NODE, RANGE = 0, 1, 7  # scopes, as PyTorch numbers them
EVALUATE = "autograd::engine::evaluate_function: "
BETWEEN = "[between operators]"
STEP = "ProfilerStep#"
# Prefixes of event names, by kind.
PREFIXES = {"hook": "hook ", "tangent": "tangent of ", "deferred": "gradients ", "loop": "loop of "}
LIMIT = 1 << 22  # maximal number of events in a recording


class Recording:
    """One recorded interval of a program, from `start()` to `stop()`.

    Parameters
    ----------
    shapes, memory, stack, with_flops : bool
        Further information to record, besides times.
    limit : int
        Maximal number of events.
    """

    def __init__(self, *, shapes: bool, memory: bool, stack: bool, with_flops: bool, limit: int = LIMIT) -> None:
        self.memory, self.with_flops = memory, with_flops
        self.recorder = Recorder(shapes=shapes or with_flops, memory=memory, stack=stack, limit=limit)
        self.names = {threading.get_ident(): threading.current_thread().name}
        self.metadata: dict[str, Any] = {}
        self.paused = False

    def start(self) -> None:
        self.thread, self.wall = threading.get_ident(), time.time_ns()
        self.recorder.start()
        self.began = now()

    def pause(self, paused: bool) -> None:
        """Pause or resume listening; an event that is open at a pause ends with the recording."""
        if paused is not self.paused:
            self.paused = paused
            self.recorder.stop() if paused else self.recorder.start()

    def stop(self) -> None:
        self.ended = now()
        if threading.get_ident() != self.thread:
            raise RuntimeError("a profile is stopped by the thread that started it")
        self.recorder.stop()
        self.names.update({thread.ident: thread.name for thread in threading.enumerate() if thread.ident is not None})
        self.names.update({ident: f"loops {number}" for ident, number in self.recorder.workers.items()})
        if self.recorder.dropped:
            warnings.warn(f"the profile is full: {self.recorder.dropped} events were dropped", RuntimeWarning, stacklevel=3)

    def events(self) -> EventList:
        """The events in the order of their starts, with their tree."""
        collects = gc.isenabled()
        try:
            gc.disable()  # it would traverse all events repeatedly while their number grows
            return self._events()
        finally:
            if collects:
                gc.enable()

    def _events(self) -> EventList:
        rows, changes, kinds, names, shapes, stacks = self.recorder.taken()
        table = np.frombuffer(rows, ROW)
        changed = np.frombuffer(changes, CHANGE)
        idents = list(dict.fromkeys([self.thread, *np.union1d(table["thread"], changed["thread"]).tolist()]))
        numbers = {ident: number for number, ident in enumerate(idents, 1)}
        made = list(self._made(table, kinds, names, shapes, stacks, numbers))
        pair(made)
        trace = Trace(
            self.wall, tuple(self.names.get(ident, "ended") for ident in idents),
            [Change((time - self.began) / 1000, size, live, numbers[thread]) for time, size, live, thread in changed.tolist()],
            tuple(self.metadata.items()),
        )  # fmt: skip
        dropped = self.recorder.dropped
        events = EventList(made, profile_memory=self.memory, with_flops=self.with_flops, trace=trace, dropped=dropped)
        events._build_tree()
        for event in events:
            if event.kind == "operator" and any(child.flops for child in event.cpu_children):
                event.flops = 0  # its children have counted them
        events._between = [self._between(events)]
        return events

    def _made(
        self, table: Any, kinds: list[str], names: list[str], shapes: list[Any], stacks: list[Any], numbers: dict[int, int]
    ) -> Iterator[FunctionEvent]:
        """An event for each row; two for a node: the engine's evaluation of it, and the node itself."""
        lines: dict[int, str] = {}
        traces = [[f"{code.co_filename}({line}): {code.co_name}" for code, line in stack] for stack in stacks]
        known = [listed(shape) for shape in shapes]
        nothing: list[str] = []
        for start, end, sequence, origin, thread, size, kind, name, inputs, outputs, stack, _ in table.tolist():
            what, called = kinds[kind], names[name]
            if origin not in lines:
                found = line_at(origin)
                lines[origin] = f"{found[0]}:{found[1]}" if found else ""
            began, ended = (start - self.began) / 1000, ((self.ended if end < 0 else end) - self.began) / 1000
            details: dict[str, Any] = {
                "line": lines[origin], "kind": what,
                "cpu_memory_usage": size if self.memory and end >= 0 and what != "loop" else 0,
                "sequence_nr": sequence if what in ("operator", "function", "node") else -1,
                "fwd_thread": 0 if what == "operator" else None, "stack": nothing if stack < 0 else traces[stack],
                "is_user_annotation": what == "range", "scope": RANGE if what == "range" else OPERATOR,
                "is_async": what == "loop", "elements": size if what == "loop" else 0,
            }  # fmt: skip
            if inputs >= 0:
                details["structured_input_shapes"] = known[inputs]
                details["input_shapes"] = [[] if shape and type(shape[0]) is list else shape for shape in known[inputs]]
            if outputs >= 0:
                details["output_shapes"] = shapes[outputs]
                if self.with_flops and what == "operator":
                    details["flops"] = flops.of_call(called, shapes[inputs][1:], shapes[outputs])
            number = numbers[thread]
            if what == "range" and called.startswith(STEP):
                details["trace_name"], called = called, f"{STEP[:-1]}*"
            if what == "node":
                yield FunctionEvent(0, EVALUATE + called, number, began, ended, **details)
                details["scope"] = NODE
            yield FunctionEvent(0, PREFIXES.get(what, "") + called, number, began, ended, **details)

    def _between(self, events: EventList) -> FunctionEventAvg:
        """The time of the thread outside all known events, which Python takes."""
        average = FunctionEventAvg()
        average.key, average.node_id, average.stack, average.input_shapes = BETWEEN, -1, [], ""
        outer = [event for event in events if event.cpu_parent is None and event.thread == 1]
        average.count = len(outer) + 1
        average.self_cpu_time_total = (self.ended - self.began) / 1000 - sum([event.cpu_time_total for event in outer])
        average.cpu_time_total = average.self_cpu_time_total
        return average


def listed(shape: Any) -> Any:
    """Lengths as lists; an empty list for a value that is not an array."""
    if shape is None:
        return []
    return [listed(part) for part in shape[1:]] if shape[:1] == ("several",) else list(shape)


def pair(events: Iterable[FunctionEvent]) -> None:
    """Give each node the thread of its creating call, and that call's number of operations for each gradient it computes."""
    calls: dict[int, dict[int, FunctionEvent]] = {}
    for number, event in enumerate(events, 1):
        event.id = number
        if event.sequence_nr >= 0 and event.kind != "node":
            calls.setdefault(event.sequence_nr, {})[event.thread] = event  # the innermost call begins last
    for event in events:
        if event.kind != "node":
            continue
        found = calls.get(event.sequence_nr, {})
        call = found.get(event.thread) or next(iter(found.values()), None)
        event.fwd_thread = call.thread if call is not None else event.thread
        if call is not None and call.flops and event.scope == NODE and event.output_shapes is not None:
            given = event.output_shapes[1:] if event.output_shapes[:1] == ("several",) else [event.output_shapes]
            event.flops = call.flops * sum(shape is not None for shape in given)

"""The trace of a profile in the format of Chrome's viewer, which Perfetto and TensorBoard also read.

Defines the format: an event is a slice of its thread's track, an arrow leads from a call to the node it created, and live memory
is a counter.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

CATEGORIES = {"range": "user_annotation", "node": "cpu_op", "operator": "cpu_op"}


class Change(NamedTuple):
    """An allocation or a release of an array: time in microseconds, bytes, live bytes after it, and the thread's number."""

    time: float
    bytes: int
    live: int
    thread: int


class Trace(NamedTuple):
    """Contents of a trace besides the events."""

    began: int = 0  # nanoseconds since 1970
    threads: tuple[str, ...] = ()  # threads: names, by the events' thread numbers minus 1
    changes: Sequence[Change] = ()  # of memory
    metadata: tuple[tuple[str, Any], ...] = ()


def arrows(events: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Pairs of a call that created a node and a run of that node."""
    made: dict[tuple[int, int], Any] = {}
    for event in events:
        if event.sequence_nr < 0:
            continue
        if event.scope == 0 and event.kind != "node":
            made[event.sequence_nr, event.thread] = event  # the innermost begins last
        elif event.scope == 1 and (event.sequence_nr, event.fwd_thread) in made:
            yield made[event.sequence_nr, event.fwd_thread], event


def slice_of(event: Any, process: int) -> dict[str, Any]:
    about: dict[str, Any] = {"External id": event.id}
    if event.sequence_nr >= 0:
        about["Sequence number"] = event.sequence_nr
        about["Fwd thread id"] = event.fwd_thread
    if event.structured_input_shapes:
        about["Input Dims"] = event.structured_input_shapes
    if event.stack:
        about["Call stack"] = ";".join(event.stack)
    if event.line:
        about["Line"] = event.line
    if event.cpu_memory_usage:
        about["Bytes"] = event.cpu_memory_usage
    if event.flops:
        about["flops"] = event.flops
    if event.elements:
        about["Elements"] = event.elements
    return {
        "ph": "X", "cat": CATEGORIES.get(event.kind, event.kind), "name": event.trace_name, "pid": process,
        "tid": event.thread, "ts": event.time_range.start, "dur": event.time_range.elapsed_us(), "args": about,
    }  # fmt: skip


def entries(events: Iterable[Any], trace: Trace) -> Iterator[dict[str, Any]]:
    process = os.getpid()
    program = os.path.basename(sys.executable or "python")
    yield {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": program}}
    for thread, name in enumerate(trace.threads, 1):
        yield {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": f"thread {thread} ({name})"}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": process, "tid": thread, "args": {"sort_index": thread}}
    for event in events:
        yield slice_of(event, process)
    for number, (call, node) in enumerate(arrows(events), 1):
        for phase, end in (("s", call), ("f", node)):
            entry = {"ph": phase, "id": number, "cat": "fwdbwd", "name": "fwdbwd", "pid": process, "tid": end.thread,
                     "ts": end.time_range.start}  # fmt: skip
            yield entry if phase == "s" else {**entry, "bp": "e"}
    for time, size, live, thread in trace.changes:
        yield {"ph": "C", "name": "memory", "pid": process, "ts": time, "args": {"bytes alive": live}}
        about = {"Device Type": 0, "Device Id": -1, "Bytes": size, "Total Allocated": live, "Total Reserved": live}
        yield {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": process, "tid": thread, "ts": time,
               "args": about}  # fmt: skip


def write(path: str, events: Iterable[Any], trace: Trace) -> None:
    about = {
        "schemaVersion": 1, "deviceProperties": [], "displayTimeUnit": "ms", "host_name": socket.gethostname(),
        "baseTimeNanoseconds": trace.began, "traceName": os.fspath(path), **dict(trace.metadata),
    }  # fmt: skip
    path = os.fspath(path)
    with gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w") as file:
        file.write(json.dumps(about)[:-1] + ', "traceEvents": [')
        for number, entry in enumerate(entries(events, trace)):
            file.write((",\n" if number else "\n") + json.dumps(entry))
        file.write("\n]}\n")

"""Store sinking: move writes to a program's inputs behind the calls that do not depend on them.

A call may fail, and Ctrl-C may interrupt it; then nothing has been written yet.  Reads of a written input stay behind the write,
and writes to its operands too.
"""

from __future__ import annotations

from ..lowering.call_conventions import drawing
from ..lowering.failures import last_call
from ..tracing.instructions import Instruction, does_something
from ..tracing.values import Value


def sink_stores(lines: list[Instruction], given: set[Value]) -> list[Instruction]:
    """The instructions, with writes to inputs moved behind the last call, unless that call depends on them."""
    last = last_call(lines, given)
    kept: list[Instruction] = []
    put_off: list[Instruction] = []
    read: set[Value] = set()  # memory that moved instructions read; below, memory that they write
    written: set[Value] = set()
    draws = calls = False  # whether moved instructions contain draws or callbacks, which stay in order
    for line in lines[: last + 1]:
        target = None if line.target is None else line.target.memory
        reads = {value.memory for value in line.read}
        waits = target in given or target in read or target in written or not written.isdisjoint(reads)
        if waits or draws and drawing(line.name) or calls and does_something(line):
            put_off.append(line)
            read |= reads
            written.update([value.memory for value in line.made] if target is None else [target])
            draws = draws or bool(drawing(line.name))
            calls = calls or does_something(line)
        else:
            kept.append(line)
    return kept + put_off + lines[last + 1 :]

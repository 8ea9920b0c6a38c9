"""Store sinking: move writes to a program's inputs behind calls that do not depend on them.

Decides which instructions may fail or end the replay.  An operator call may fail and may be interrupted by Ctrl-C; a loop, a sum
and a kernel cannot.  A read of written memory stays behind the write, and reads by the write stay before it.
"""

from __future__ import annotations

from ..lowering.call_conventions import CAST, drawing, is_kernel
from ..lowering.elementwise_loops import loop_from, rows_from
from ..lowering.reductions import sum_from
from ..record.side_effects import CALLBACK, KEPT
from ..tracing.instructions import GUARD, Instruction, does_something, layouts_of
from ..tracing.values import Value

# Forms of operators whose result shapes depend only on operand shapes, if no operand is an index or a mask.
STEADY = ("partial", "linear", "multilinear", "vjp_jvp")


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


def last_call(lines: list[Instruction], given: set[Value]) -> int:
    """The position of the last call behind a write to an input, or -1."""
    first = next((n for n, line in enumerate(lines) if line.target is not None and line.target.memory in given), len(lines))
    return next((n for n in range(len(lines) - 1, first, -1) if is_call(lines[n])), -1)


def is_call(line: Instruction) -> bool:
    """Whether an instruction may fail or run Python: it is not a loop, a sum, a kernel or a view."""
    if line.name == GUARD:
        return True
    if is_kernel(line) or sum_from(line) is not None:
        return False
    if line.target is None and line.made and all(value.memory is not value for value in line.made):
        return False
    key = layouts_of(line)
    return key is None or not (loop_from(line, key) or rows_from(line, key))


def is_steady(line: Instruction) -> bool:
    """Whether an instruction cannot act as a guard, and the shapes of its results do not depend on values."""
    if line.name in (CALLBACK, KEPT, CAST):
        return True
    if line.entry is None:
        return False
    if line.entry.form in STEADY and all(value.dtype.kind in "fc" for value in line.read):
        return True
    key = layouts_of(line)
    return key is not None and loop_from(line, key) is not None

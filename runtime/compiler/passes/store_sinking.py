"""Late: writes to what a program was given come behind the calls that have nothing to do with them.

Owns that order, and what may fail or turn out to be otherwise.  A call of an operator may fail, and Ctrl-C is heard in it; a
loop, a sum and a kernel do neither.  What is read of a write, and what it reads, stays behind it and before it.
"""

from __future__ import annotations

from ..lowering.call_conventions import CAST, drawing, is_kernel
from ..lowering.elementwise_loops import loop_from, rows_from
from ..lowering.reductions import sum_from
from ..record.side_effects import CALLBACK, KEPT
from ..tracing.instructions import GUARD, Instruction, does_something, layouts_of
from ..tracing.values import Value

# Forms of operators whose results have shapes that their operands' shapes decide, where these are no indices and no masks.
STEADY = ("partial", "linear", "multilinear", "vjp_jvp")


def sink_stores(lines: list[Instruction], given: set[Value]) -> list[Instruction]:
    """The instructions, with writes to what was given behind the last call, as far as it does not need them."""
    last = last_call(lines, given)
    kept: list[Instruction] = []
    put_off: list[Instruction] = []
    read: set[Value] = set()  # memory that what is put off reads, and that it makes or writes to
    written: set[Value] = set()
    draws = calls = False  # whether draws, or callbacks, are among what is put off: they stay in order
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
    """The place of the last call behind a write to what was given; -1 where there is none."""
    first = next((n for n, line in enumerate(lines) if line.target is not None and line.target.memory in given), len(lines))
    return next((n for n in range(len(lines) - 1, first, -1) if is_call(lines[n])), -1)


def is_call(line: Instruction) -> bool:
    """Whether an instruction may fail, or run Python: whether it is no loop, sum, kernel or look."""
    if line.name == GUARD:
        return True
    if is_kernel(line) or sum_from(line) is not None:
        return False
    if line.target is None and line.made and all(value.memory is not value for value in line.made):
        return False
    key = layouts_of(line)
    return key is None or not (loop_from(line, key) or rows_from(line, key))


def is_steady(line: Instruction) -> bool:
    """Whether an instruction can be no guard, and gives results whose shapes do not hang on values."""
    if line.name in (CALLBACK, KEPT, CAST):
        return True
    if line.entry is None:
        return False
    if line.entry.form in STEADY and all(value.dtype.kind in "fc" for value in line.read):
        return True
    key = layouts_of(line)
    return key is not None and loop_from(line, key) is not None

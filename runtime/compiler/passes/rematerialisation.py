"""Rematerialisation: recompute an elementwise value at a late use, if its operands are still alive.

Decides which values are recomputed.  A value that a backward pass needs is alive from its first use to its last.  If it is one
loop over values that are kept as long for another reason, or over results of one loop over these, a second loop costs less than
the memory.  It has the bits of the first: the operands have the same layout, and no instruction writes to them.
"""

from __future__ import annotations

import numpy as np

from ..lowering.inner_loops import loop_from
from ..tracing.instructions import Instruction, layouts_of, renamed
from ..tracing.values import Value
from .memory_scheduling import takes_memory

FAR = 32  # lines without a use before a value is computed again; its operands may live fewer lines longer


def rematerialise(lines: list[Instruction], given: set[Value], returned: set[Value]) -> list[Instruction]:
    """The instructions, with loops repeated before a use that is far from the previous one.

    Parameters
    ----------
    lines : list of Instruction
    given, returned : set of Value
        Memory of inputs, and memory of results.

    Returns
    -------
    list of Instruction
        The same list if no loop is repeated.
    """
    if not takes_memory(lines):
        return lines
    uses: dict[Value, list[int]] = {}  # memory -> lines
    alone = {value.memory: value for line in lines for value in line.made}
    for number, line in enumerate(lines):
        for value in (*line.read, *line.made):
            if alone.get(value.memory) is not value:
                alone.pop(value.memory, None)  # it has views
            uses.setdefault(value.memory, []).append(number)
    written = {line.target.memory for line in lines if line.target is not None}
    kept = written | given | returned
    again: dict[Value, Recomputed] = {}
    loops: dict[Value, Instruction] = {}  # result -> its loop, if the result is never written to and has no views
    for line in lines:
        out = line.outputs
        if type(out) is not Value or out in kept or alone.get(out) is not out or not line.read:
            continue
        if any(value.memory in written for value in line.read) or not is_loop(line):
            continue
        loops[out] = line
        number = far_use(uses[out])
        if number is None:
            continue
        missing = [value for value in dict.fromkeys(line.read) if not stays(value, number, uses, given, again)]
        if not all(value in loops for value in missing):
            continue
        before = [loops[value] for value in missing]
        read = [value for one in (line, *before) for value in one.read if value not in missing]
        if not all(stays(value, number, uses, given, again) for value in read):
            continue
        for value in read:
            if value in again:
                again[value].number = min(again[value].number, number)
        again[out] = Recomputed([*before, line], number)
    if not again:
        return lines
    at: dict[int, list[Recomputed]] = {}
    for one in again.values():
        at.setdefault(one.number, []).append(one)
    names: dict[Value, Value] = {}
    found: list[Instruction] = []
    for number, line in enumerate(lines):
        for one in at.get(number, ()):
            found += one.written(names)
        found += renamed([line], names)
    return found


class Recomputed:
    """A line that is repeated before the line `number`, with the lines that compute its operands."""

    def __init__(self, lines: list[Instruction], number: int) -> None:
        self.lines, self.number = lines, number

    def written(self, names: dict[Value, Value]) -> list[Instruction]:
        """The lines with new results; the last result replaces the original value from here on."""
        own = dict(names)
        for line in self.lines:
            own[line.outputs] = Value("result", np.empty(line.outputs.shape, line.outputs.dtype))
        names[self.lines[-1].outputs] = own[self.lines[-1].outputs]
        return renamed(self.lines, own)


def is_loop(line: Instruction) -> bool:
    key = layouts_of(line)
    return key is not None and loop_from(line, key) is not None


def far_use(numbers: list[int]) -> int | None:
    """The use of a value that is farthest behind the previous one, if that is far enough."""
    gap, number = max(((after - now, after) for now, after in zip(numbers, numbers[1:])), default=(0, 0))
    return number if gap >= FAR else None


def stays(value: Value, number: int, uses: dict[Value, list[int]], given: set[Value], again: dict[Value, Recomputed]) -> bool:
    """Whether a value is alive at a line, or nearly so; a rematerialised value may be computed earlier for it."""
    memory = value.memory
    if memory in given or value.kind == "constant":
        return True
    if value in again and again[value].number > number:
        earlier = [item for line in again[value].lines for item in line.read]
        return all(other not in again or again[other].number <= number for other in earlier)
    return uses[memory][-1] > number - FAR

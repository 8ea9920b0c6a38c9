"""No-ops: remove operators that returned their operand unchanged."""

from __future__ import annotations

from ..instructions import Instruction
from ..values import Value


def eliminate_no_ops(lines: list[Instruction], inputs: list[Value]) -> list[Instruction]:
    """The instructions but those that give what was there: `conj` of a real array, `reshape` to the shape that it has."""
    known = set(inputs)
    kept: list[Instruction] = []
    for line in lines:
        made = set(line.made)
        if line.target is None and made and made <= known | {value for value in made if value.kind != "result"}:
            continue
        known |= made
        kept.append(line)
    return kept

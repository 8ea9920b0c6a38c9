"""No-ops: remove operators that returned their input."""

from __future__ import annotations

from ..instructions import Instruction
from ..values import Value


def eliminate_no_ops(lines: list[Instruction], inputs: list[Value]) -> list[Instruction]:
    """The instructions without those whose results already existed: `conj` of a real array, `reshape` to the same shape."""
    known = set(inputs)
    kept: list[Instruction] = []
    for line in lines:
        made = set(line.made)
        if line.target is None and made and made <= known | {value for value in made if value.kind != "result"}:
            continue
        known |= made
        kept.append(line)
    return kept

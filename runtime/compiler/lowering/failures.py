"""Failures: which instructions may raise an error, run Python, or give results of other shapes.

A call of an operator may fail, and may be interrupted by Ctrl-C.  A loop, a sum and a kernel do neither.
"""

from __future__ import annotations

from ..record.side_effects import CALLBACK, KEPT
from ..tracing.instructions import GUARD, Instruction, layouts_of
from ..tracing.values import Value
from .call_conventions import CAST, is_kernel
from .inner_loops import loop_from, rows_from, sum_from

# Forms of operators whose result shapes depend only on operand shapes, unless operands are indices or masks.
STEADY = ("partial", "linear", "multilinear", "vjp_jvp")


def last_call(lines: list[Instruction], given: set[Value]) -> int:
    """Position of the last call after a write to an input; -1 without such a call."""
    first = next((n for n, line in enumerate(lines) if line.target is not None and line.target.memory in given), len(lines))
    return next((n for n in range(len(lines) - 1, first, -1) if is_call(lines[n])), -1)


def is_call(line: Instruction) -> bool:
    """Whether an instruction may fail or run Python, because it is not a loop, a sum, a kernel or a view."""
    if line.name == GUARD:
        return True
    if is_kernel(line) or sum_from(line) is not None:
        return False
    if line.target is None and line.made and all(value.memory is not value for value in line.made):
        return False
    key = layouts_of(line)
    return key is None or not (loop_from(line, key) or rows_from(line, key))


def is_steady(line: Instruction) -> bool:
    """Whether an instruction cannot be a guard, and its result shapes do not depend on values."""
    if line.name in (CALLBACK, KEPT, CAST):
        return True
    if line.entry is None:
        return False
    if line.entry.form in STEADY and all(value.dtype.kind in "fc" for value in line.read):
        return True
    key = layouts_of(line)
    return key is not None and loop_from(line, key) is not None

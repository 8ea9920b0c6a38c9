"""Reductions: operators that sum plain memory, with the numbers of their rows.

Decides which instructions are such sums; the kernels say which operators add, and along which axes.
"""

from __future__ import annotations

from ...kernels.reductions.sums import span_of
from ..tracing.instructions import Instruction
from ..tracing.values import Value


def sum_from(line: Instruction) -> tuple[int, int, int, bool] | None:
    """The sum of an instruction as `outer`, `length`, `inner`, and whether it returns means; None if it is not a sum of plain
    real numbers."""
    entry, out = line.entry, line.outputs
    if entry is None or line.name != entry.name or type(out) is not Value or len(entry.arguments) != len(line.arguments):
        return None
    x, *others = line.arguments
    if len(line.read) != 1 or type(x) is not Value or x.dtype != out.dtype or x.dtype.char not in "fd":
        return None
    if not x.layout.c_contiguous or not out.layout.c_contiguous or out.memory is not out:
        return None
    return span_of(line.name, x.shape, tuple(others))

"""Inner loops: find the elementwise operators and the sums that are one loop over plain memory.

Computes the strides of elementwise operands.  The result depends on the operator, its numbers and the layouts alone, and is
cached by them.  The kernels say which operators are sums, and along which axes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...kernels.reductions.sums import span_of
from ..execute.executable import loop_of
from ..tracing.instructions import Instruction
from ..tracing.layouts import rows_of, step_of
from ..tracing.values import Value

MOST = 1 << 14  # cached loops
DTYPES = tuple(map(np.dtype, ("float32", "float64", "complex64", "complex128", "bool")))


class InnerLoop(NamedTuple):
    """An inner loop.

    Attributes
    ----------
    base : str
        The operator whose ufunc contains the loop.
    kind : int
        Index of the loop in the ufunc.
    operands : tuple of int or ndarray
        Arguments by their number, and constants.
    strides : tuple of int
        The result's stride is the last.
    size : int
        Number of elements; with rows, the number in one row.
    rows : int
    jumps : tuple of int
        Strides from row to row; empty without rows.
    """

    base: str
    kind: int
    operands: tuple
    strides: tuple[int, ...]
    size: int
    rows: int = 0
    jumps: tuple[int, ...] = ()


plain: dict[tuple, InnerLoop | None] = {}
by_rows: dict[tuple, InnerLoop | None] = {}


def loop_from(line: Instruction, key: tuple) -> InnerLoop | None:
    """The loop over contiguous elements for an instruction with these layouts; None if it is not such a loop."""
    return plain[key] if key in plain else remembered(line, key, plain, False)


def rows_from(line: Instruction, key: tuple) -> InnerLoop | None:
    """The loop over rows for an instruction with these layouts; None if it is not such a loop."""
    return by_rows[key] if key in by_rows else remembered(line, key, by_rows, True)


def remembered(line: Instruction, key: tuple, known: dict[tuple, InnerLoop | None], rows: bool) -> InnerLoop | None:
    if len(known) > MOST:
        known.clear()
    known[key] = loop = found(line, rows)
    return loop


def found(line: Instruction, by_rows: bool) -> InnerLoop | None:
    base, operands, out = line.name.removesuffix(".out"), list(line.arguments), line.outputs
    if line.name.endswith(".out"):
        out = operands.pop()
    elif line.name.endswith("_"):
        base, out = base[:-1], operands[0]
    if type(out) is not Value or not all(type(item) in (Value, int, float) for item in operands) or not out.layout.dense:
        return None
    size = out.layout.count
    one = loop_of(base, tuple(item.dtype if type(item) is Value else None for item in operands))
    if one is None or one[1] != out.dtype or size == 0:
        return None
    kind, _, exact = one
    if not exact and not all(item.layout.c_contiguous and item.shape in ((), out.shape) for item in (*line.read, out)):
        return None  # NumPy would use a different loop, perhaps with different bits
    values = [item for item in operands if type(item) is Value]
    steps: list[Any] = [step_of(item, out) for item in values]
    rows = None
    if by_rows:
        rows = rows_of(values, out)
        if None not in steps or rows is None:
            return None
        steps = list(rows[2])
    elif None in steps:
        return None
    places: list[Any] = []
    for number, item in enumerate(operands):
        if type(item) is not Value:
            with np.errstate(all="ignore"):
                data = np.array(item, DTYPES[kind])
            if not np.isfinite(data) and np.isfinite(item) or data.dtype.kind in "bi" and data != item:
                return None  # the loop's dtype has no such number
            places.append(data)
            steps.insert(number, (0, 0) if by_rows else 0)
        else:
            places.append(number)
    if rows is None:
        return InnerLoop(base, kind, tuple(places), (*steps, out.dtype.itemsize), size)
    strides = (*(inner for _, inner in steps[:-1]), out.dtype.itemsize)
    return InnerLoop(base, kind, tuple(places), strides, rows[1], rows[0], tuple(outer for outer, _ in steps))


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

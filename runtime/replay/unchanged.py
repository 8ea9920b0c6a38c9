"""Unchanged: arithmetic that gives an operand as it is is not done, as a product by the ones that are the gradient of a sum.

Owns when that is so.  One operand is a constant 1, and the operator, asked once, gives numbers of every kind back to the bit and
without a warning.  None of the three may be returned or written to, the result not be looked at, and the operand has to be made
by a loop that gives no signalling NaN, of which arithmetic would warn.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from ..core.grad_mode import no_grad
from ..core.operand import asarray
from ..tracing.calling import by_entry
from ..tracing.instructions import Instruction, renamed
from ..tracing.values import Value
from .tape import loop_of

SIGNALLING = {
    np.dtype("float32"): np.array([0x7FA00000], np.uint32).view(np.float32),
    np.dtype("float64"): np.array([0x7FF4 << 48], np.uint64).view(np.float64),
}


def unchanged(lines: list[Instruction], returned: Iterable[Value]) -> list[Instruction]:
    """The instructions, without arithmetic that gives one of its operands back."""
    found = {line: other for line in lines if (other := given_back(line)) is not None}
    if not found:
        return lines
    kept = {value.memory for value in returned} | {line.target.memory for line in lines if line.target is not None}
    looked = {value.memory for line in lines for value in (*line.read, *line.made) if value.memory is not value}
    # The first that gives a value makes it: others, as `conj` of real numbers, give what is there.
    makers = {line.outputs: line for line in reversed(lines) if type(line.outputs) is Value}
    names: dict[Value, Value] = {}
    for line, other in list(found.items()):
        touched = {line.outputs, *(value.memory for value in line.read)}
        if touched & kept or line.outputs in looked or other not in makers or not is_quiet(makers[other]):
            found.pop(line)
        else:
            names[line.outputs] = names.get(other, other)
    return renamed([line for line in lines if line not in found], names) if found else lines


def given_back(line: Instruction) -> Value | None:
    """The operand that arithmetic gives as it is; None of an instruction that does something."""
    out, operands = line.outputs, line.arguments
    if line.target is not None or len(operands) != 2 or type(out) is not Value or out.memory is not out:
        return None
    for place, other in enumerate(reversed(operands)):
        if is_one(operands[place]) and type(other) is Value and other.memory is other and other.layout is out.layout:
            if is_neutral(line.name, tuple(item.dtype if type(item) is Value else None for item in operands), place):
                return other
    return None


def is_one(item: Any) -> bool:
    """Whether an operand is 1 at each place."""
    if type(item) is not Value:
        return type(item) in (int, float) and item == 1
    memory = item.memory
    if memory.kind != "constant" or memory.data is None or memory.layout.count != 1 or memory.dtype != item.dtype:
        return False
    return memory.data.item() == 1


@cache
def is_neutral(name: str, dtypes: tuple, place: int) -> bool:
    """Whether arithmetic with 1 as one of two operands gives the other one, of this dtype."""
    loop, function, dtype = loop_of(name, dtypes), by_entry(name, 2), dtypes[1 - place]
    if loop is None or not loop[2] or function is None or dtype not in SIGNALLING:
        return False
    limits = np.finfo(dtype)
    sizes = np.array([0, 1, 0.1, 3, limits.smallest_subnormal, limits.tiny, limits.eps, limits.max, np.inf, np.nan], dtype)
    others = np.concatenate([sizes, -sizes])
    operands = [asarray(others), asarray(others)]
    operands[place] = 1 if dtypes[place] is None else asarray(np.ones((), dtype))
    try:
        with no_grad(), np.errstate(all="raise"):
            given = function(*operands).numpy()
    except FloatingPointError:
        return False
    return given.dtype == dtype and given.tobytes() == others.tobytes()


def is_quiet(line: Instruction) -> bool:
    """Whether an instruction is a loop that makes no signalling NaN."""
    if not all(type(item) in (Value, int, float) for item in line.arguments):
        return False
    return makes_quiet(line.name, tuple(item.dtype if type(item) is Value else None for item in line.arguments))


@cache
def makes_quiet(name: str, dtypes: tuple) -> bool:
    """Whether it makes none even of such: then arithmetic with what it gives warns of nothing."""
    function = by_entry(name, len(dtypes))
    if loop_of(name, dtypes) is None or function is None:
        return False
    operands = [1.0 if dtype is None else asarray(SIGNALLING.get(dtype, np.ones(1, dtype))) for dtype in dtypes]
    with no_grad(), np.errstate(all="ignore"):
        given = function(*operands).numpy()
    try:
        with np.errstate(invalid="raise"):
            given * given.dtype.type(1)
    except FloatingPointError:
        return False
    return True

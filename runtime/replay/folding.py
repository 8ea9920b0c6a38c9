"""Folding: instructions that nobody needs, that are there twice, or that constants alone decide.

Owns three passes over a recording.  What is written to in place is left alone: a pass asks of memory, not of names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.grad_mode import no_grad
from ..core.operand import asarray
from ..tracing.instructions import Instruction, renamed
from ..tracing.literals import literal
from ..tracing.values import Value, held, mapped
from .callers import by_entry, generators_of
from .capture import GUARD

LARGEST = 1 << 16  # bytes of a constant that is computed once for all


def written_memory(lines: list[Instruction]) -> set[Value]:
    """The memory that is written to in place."""
    return {line.target.memory for line in lines if line.target is not None}


def needed(lines: list[Instruction], returned: list[Value]) -> list[Instruction]:
    """The instructions that results, guards, draws and writes to what was given need."""
    live = set(returned)
    memory = {value.memory for value in live}
    kept: list[Instruction] = []
    for line in reversed(lines):
        target = line.target
        wanted = line.name == GUARD or generators_of(line) or not live.isdisjoint(line.made)
        if wanted or target is not None and (target.memory in memory or target.memory.kind == "input"):
            kept.append(line)
            read = line.read
            live.update(read)
            memory.update([value.memory for value in read])
    return kept[::-1]


def once(lines: list[Instruction], returned: list[Value]) -> list[Instruction]:
    """The instructions, each computed once where the same is asked for again; each result stays an array of its own."""
    alone = written_memory(lines) | {value.memory for value in returned}
    found: dict[tuple, Instruction] = {}
    names: dict[Value, Value] = {}
    kept: list[Instruction] = []
    for line in lines:
        if names:
            line = line.replaced(mapped(line.arguments, lambda item: names.get(item, item) if type(item) is Value else item))
        fixed = line.target is None and type(line.outputs) is Value and line.outputs.memory is line.outputs
        if not fixed or line.outputs in alone or generators_of(line) or any(value.memory in alone for value in line.read):
            kept.append(line)
            continue
        try:
            key = (line.name, literal(mapped(line.arguments, identity)))
        except TypeError:  # of a function, or of an object of the user's
            kept.append(line)
            continue
        first = found.setdefault(key, line)
        if first is line:
            kept.append(line)
        else:
            names[line.outputs] = first.outputs
    return kept


def identity(item: Any) -> Any:
    """What tells two arguments apart."""
    return f"<{id(item)}>" if type(item) is Value else item


def folded(lines: list[Instruction], returned: list[Value]) -> list[Instruction]:
    """The instructions, small ones of constants alone computed once for all, where nothing else looks at their memory."""
    values = {value for line in lines for value in (*line.read, *line.made)}
    written = written_memory(lines) | {value.memory for value in (*values, *returned) if value.memory is not value}
    written.update(returned)
    constants: dict[Value, Value] = {}
    kept: list[Instruction] = []
    for line in lines:
        if constants:
            line = line.replaced(mapped(line.arguments, lambda item: constants.get(item, item) if type(item) is Value else item))
        found = None if line.name == GUARD else computed(line, written)
        if found is None:
            kept.append(line)
            continue
        constant = Value("constant", found)
        constant.data, constant.line = found, line.line
        constants[line.outputs] = constant
    return renamed(kept, constants) if constants else kept


def computed(line: Instruction, written: set[Value]) -> np.ndarray | None:
    """What an instruction of constants gives; None where there is something else among its arguments."""
    out, read = line.outputs, line.read
    if type(out) is not Value or out.memory is not out or out in written or line.target is not None or not read:
        return None
    if any(value.kind != "constant" or value.data is None or value.memory in written for value in read) or generators_of(line):
        return None
    if out.dtype.itemsize * int(np.prod(out.shape)) > LARGEST or 0 in out.strides:
        return None
    function = by_entry(line.name, len(line.arguments))
    if function is None:
        return None
    with no_grad(), np.errstate(all="ignore"):
        result = held(function(*mapped(line.arguments, lambda item: asarray(item.data) if type(item) is Value else item)))
    fits = result is not None and result.shape == out.shape and result.dtype == out.dtype and result.strides == out.strides
    return result.copy(order="K") if fits else None

"""Passes: a program made shorter, one idea each, with the same results.

Owns dead code, constants and common subexpressions.  What is written to in place is left alone: a pass asks of memory, not of
names.  Knows how to call an instruction only by its text.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .instructions import Instruction, renamed
from .literals import literal
from .program import call_text
from .values import Source, Value, held, mapped, values_in


def without_dead_code(lines: list[Instruction], results: Any) -> list[Instruction]:
    """The instructions that results depend on, that write to inputs, or that draw random numbers."""
    live = {value for value in values_in(results)}
    memory = {value.memory for value in live}
    kept: list[Instruction] = []
    for line in reversed(lines):
        target = line.target
        wanted = bool(live.intersection(line.made)) or draws(line)
        if target is not None:
            wanted = wanted or target.memory in memory or target.memory.kind == "input"
        if wanted:
            kept.append(line)
            live.update(line.read)
            memory.update(value.memory for value in line.read)
    return kept[::-1]


def without_looks(lines: list[Instruction], inputs: list[Value]) -> list[Instruction]:
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


def with_folded_constants(lines: list[Instruction]) -> list[Instruction]:
    """The instructions, those of constants alone computed once for all."""
    written = written_memory(lines)
    folded: dict[Value, Value] = {}
    kept: list[Instruction] = []
    for line in renamed(lines, {}):
        arguments = mapped(line.arguments, lambda item: folded.get(item, item) if isinstance(item, Value) else item)
        line = line.replaced(arguments)
        fixed = all(value.kind == "constant" and value.memory not in written for value in line.read)
        if not fixed or draws(line) or line.target is not None or not line.made or any(v.memory in written for v in line.made):
            kept.append(line)
            continue
        for value, found in zip(line.made, values_computed(line)):
            constant = Value("constant", found, name=value.name)
            constant.data, constant.line = found, line.line
            folded[value] = constant
    return renamed(kept, folded)


def without_common_subexpressions(lines: list[Instruction]) -> list[Instruction]:
    """The instructions, each computed once where the same is asked for again."""
    written = written_memory(lines)
    found: dict[tuple, Instruction] = {}
    names: dict[Value, Value] = {}
    kept: list[Instruction] = []
    for line in lines:
        line = line.replaced(mapped(line.arguments, lambda item: names.get(item, item) if isinstance(item, Value) else item))
        fixed = line.target is None and not draws(line) and not any(v.memory in written for v in (*line.read, *line.made))
        key = (line.name, mapped(line.arguments, identity))
        first = found.setdefault((key[0], repr(key[1])), line) if fixed and line.made else line
        if first is line:
            kept.append(line)
        else:
            names.update(zip(line.made, first.made))
    return renamed(kept, names)


def identity(item: Any) -> Any:
    """What tells two arguments apart."""
    return f"<{id(item)}>" if isinstance(item, Value) else literal(item)


def draws(line: Instruction) -> bool:
    """Whether an instruction draws random numbers."""
    found: list[Any] = []
    mapped(line.arguments, lambda item: found.append(isinstance(item, Source)))
    return any(found)


def written_memory(lines: list[Instruction]) -> set[Value]:
    """The memory that is written to in place."""
    return {line.target.memory for line in lines if line.target is not None}


def values_computed(line: Instruction) -> list[np.ndarray]:
    """What an instruction of constants gives."""
    import gradspec as gs

    from ..support.dispatch import ops

    names = {value.name: gs.asarray(value.data) for value in line.read}
    outputs = eval(call_text(line), {"gs": gs, "ops": ops, "np": np, **names})
    arrays: list[np.ndarray] = []
    mapped(outputs, lambda item: arrays.append(held(item)))
    return [array.copy(order="K") for array in arrays if array is not None]

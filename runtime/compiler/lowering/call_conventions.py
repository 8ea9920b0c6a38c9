"""Call conventions: how a step calls an operator, by its wrapper's address or by its public function.

Decides how values replace arguments, which generators an operator draws from, which results are arrays, and which operators are
kernels that write their result into given memory.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ...kernels.fusion_engine.assignment import goes_into
from ..record.side_effects import CALLBACK, KEPT, called, kept
from ..tracing.calling import by_keyword
from ..tracing.entries import compiled_in, entry_of
from ..tracing.instructions import Instruction
from ..tracing.values import Value, held, mapped

OWN = {CALLBACK: called, KEPT: kept}  # instructions that are not operators
CAST = "cast"  # conversion to a different dtype: a kernel, but not an operator


@cache
def drawing(name: str) -> tuple[int, ...]:
    """The positions of an operator's random generators among its arguments."""
    entry = entry_of(name)
    kinds = [kind for _, kind, _, _ in entry.arguments] if entry else []
    return tuple(number for number, kind in enumerate(kinds) if kind.startswith("Generator"))


def generators_in(lines: list[Instruction]) -> list[Any]:
    """The random generators of instructions, each once: None for the default generator."""
    places = {name: drawing(name) for name in {line.name for line in lines}}
    found = [line.arguments[place] for line in lines for place in places[line.name]]
    return list({id(one): one for one in found}.values())


def is_kernel(line: Instruction) -> bool:
    """Whether an instruction is a kernel that writes its result to given memory and runs no Python."""
    out = line.outputs
    if line.target is not None or type(out) is not Value or not goes_into(line.name, len(line.arguments)):
        return False
    if not all(type(item) is Value and (item.dtype == out.dtype or line.name == CAST) for item in line.arguments):
        return False
    return out.memory is out and out.layout.c_contiguous and out.layout.count > 0


class Filler:
    """Replaces values by tensors, in lists and slices, too."""

    def __init__(self, names: dict[Value, int]) -> None:
        self.names = names

    def __call__(self, arguments: tuple, tensors: list) -> tuple:
        return mapped(arguments, lambda item: tensors[self.names[item]] if type(item) is Value else item)


def arrays_in(tree: Any) -> list[Any]:
    """The arrays and tensors of a tree, in the order of its values."""
    found: list[Any] = []
    mapped(tree, lambda item: found.append(item) if held(item) is not None else None)
    return found


@cache
def caller(name: str, count: int) -> Any:
    """The callable of an operator: its wrapper's capsule, or a function of its arguments in order."""
    entry = entry_of(name)
    if entry is None:
        import gradspec

        found = OWN.get(name) or getattr(gradspec, name, None)
        if found is None:
            raise NotImplementedError(f"compile: {name} is an operator that no entry has; a recording finds operators by name: "
                                      "call it outside of the compiled function")  # fmt: skip
        return found
    if not name.endswith(".out") and len(entry.arguments) == count:
        capsule = compiled_in(entry, "variable_type", f"op_{name.rpartition('.')[2]}")
        if capsule is not None:
            return capsule
    return by_keyword(name, entry, count)

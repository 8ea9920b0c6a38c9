"""Instructions: the tree of what was done as a straight list of operators.

Owns which operator stays whole.  It does, unless something outside uses a value that only its inside has: then its parts
stand in its place.  Tangents stand after the operator that they are the tangents of.  The same rule serves `decompose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .listening import STEPS, Call, reads
from .values import Value, mapped, values_in


class Instruction:
    """One line of a program.

    Attributes
    ----------
    name : str
        Of the operator: `add`, `add_` where it writes in place, `add.out`.
    arguments : tuple
        In the order of the entry; values for arrays.
    outputs : tree of Value
    line : tuple or None
        The user's line.
    """

    def __init__(self, name: str, arguments: tuple, outputs: Any, line: tuple | None) -> None:
        self.name, self.arguments, self.outputs, self.line = name, arguments, outputs, line

    def __repr__(self) -> str:
        return f"<Instruction {self.name}>"

    def replaced(self, arguments: tuple, outputs: Any = None) -> Instruction:
        """The same operator of other arguments."""
        return Instruction(self.name, arguments, self.outputs if outputs is None else outputs, self.line)

    @property
    def read(self) -> list[Value]:
        return values_in(self.arguments)

    @property
    def made(self) -> list[Value]:
        return values_in(self.outputs)

    @property
    def target(self) -> Value | None:
        """What it writes to, if it writes to something that was there before."""
        if self.name.endswith(".out"):
            return self.arguments[-1]
        return self.arguments[0] if self.name.endswith("_") else None


def straightened(root: Call, results: Iterable[Value], apart: Callable[[Call, int], bool]) -> list[Instruction]:
    """The instructions of a program.

    Parameters
    ----------
    root : Call
    results : iterable of Value
        What is used when the program is over.
    apart : callable
        Which operators are to be taken apart in any case, asked with the number of operators around.
    """
    around = {root: ()}
    surround(root, (), around)
    opened = {
        call for call in around
        if call.kind == "operator" and composed(call) and (apart(call, len(around[call])) or overtaken(call))
    }
    uses = [(value, call) for call in around if call.kind in STEPS for value in reads(call)]
    uses += [(value, root) for value in results]
    for value, user in uses:
        if value.definer is not None:
            outside = set(around[user]) | {user}
            hosts = [call for call in around.get(value.definer, ()) if call not in outside]
            opened.update(call for call in hosts if value not in values_in(call.outputs))
    lines: list[Instruction] = []
    for part in root.parts:
        place(part, opened, lines)
    return lines


def surround(call: Call, hosts: tuple[Call, ...], around: dict[Call, tuple[Call, ...]]) -> None:
    """Note for each call the operators around it, as far as the tangents that it is one of."""
    for part in call.parts:
        around[part] = hosts
        surround(part, () if part.kind == "tangent" else (*hosts, part) if part.kind == "operator" else hosts, around)


def inside(call: Call) -> Iterable[Call]:
    """What was done in an operator, its tangents left out."""
    for part in call.parts:
        if part.kind != "tangent":
            yield part
            yield from inside(part)


def composed(call: Call) -> bool:
    """Whether an operator's parts make all that it gives: then they may stand in its place."""
    if not call.parts:
        return False
    within = set(inside(call))
    if call.writes:
        value = call.target
        if values_in(call.outputs) == [value] or call.name.endswith(".out"):
            return any(part.writes and part.target.memory is value.memory for part in within)
    return all(value.definer is not call for value in values_in(call.outputs))


def overtaken(call: Call) -> bool:
    """Whether an operator writes over what the tangents inside of it were computed from."""
    return call.writes and any(part.kind == "tangent" for part in call.below())


def place(call: Call, opened: set[Call], lines: list[Instruction]) -> None:
    """Write down a call, or its parts in its place."""
    if call.kind not in STEPS:
        for part in call.parts:
            place(part, opened, lines)
        return
    if call in opened and composed(call):
        for part in call.parts:
            place(part, opened, lines)
        return
    later: list[Call] = list(tangents(call))
    if call in opened:  # its own work is none of its parts': what they make stands before it, what is made of tangents behind
        first = next((i for i, part in enumerate(call.parts) if part.kind == "tangent"), len(call.parts))
        for part in call.parts[:first]:
            place(part, opened, lines)
        later = call.parts[first:]
    lines.append(Instruction(call.name, call.arguments, call.outputs, call.line))
    for part in later:
        place(part, opened, lines)


def tangents(call: Call) -> Iterable[Call]:
    """The tangents in an operator that stands whole."""
    for part in call.parts:
        if part.kind == "tangent":
            yield part
        else:
            yield from tangents(part)


def renamed(lines: list[Instruction], names: dict[Value, Value]) -> list[Instruction]:
    """The instructions with some values in the place of others."""
    def other(item: Any) -> Any:
        return names.get(item, item) if isinstance(item, Value) else item

    return [line.replaced(mapped(line.arguments, other), mapped(line.outputs, other)) for line in lines]

"""Inspection of passes: print and check programs after each pass, and stop the pipeline at a pass.

Reads `GRADSPEC_PASSES`, words with commas between them: `show` prints the program that was recorded, and the program after each
pass that changes it; `check` looks for illegal instructions after each pass; the name of a pass is the last pass that runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from ..execute.low_level_ir import Blocks, Loop, Slot, Step, Sum, accesses
from ..tracing.instructions import Instruction
from ..tracing.values import Value, mapped
from .call_conventions import CAST, OWN

SETTINGS = set(filter(None, os.environ.get("GRADSPEC_PASSES", "").split(",")))
LEGAL = {CAST, *OWN}  # instructions that passes emit and that are not operators
PLACES = {"external", "constant", "planned", "offered", "fresh", "called", "view", "scratch"}
# Kind of a step -> the class of `given`, and the least number of slots that it writes.
STEPS = {
    "loop": (Loop, 1), "rows": (Loop, 1), "sum": (Sum, 1), "blocks": (Blocks, 0), "move": (tuple, 1), "into": (tuple, 1),
    "copy": (tuple, 1), "forward": (tuple, 0), "call": (tuple, 0), "guard": (tuple, 0), "allocate": (tuple, 1),
    "free": (tuple, 0),
}  # fmt: skip

_shown: dict[str, str] = {}


class BrokenPass(RuntimeError):
    """A pass emitted an illegal program: an error of the library."""


def is_last(name: str) -> bool:
    """Whether this pass is the last one to run."""
    return name in SETTINGS


class Inspection:
    """The instructions of one program, inspected after each pass.

    Parameters
    ----------
    lines : list of Instruction
        Recorded instructions.  Lowering refuses a recording that reads memory without a definition, so it is not a pass's fault.
    given : set of Value
        The memory of the inputs.
    returned : list of Value
    """

    def __init__(self, lines: list[Instruction], given: set[Value], returned: list[Value]) -> None:
        self.given, self.returned = given, returned
        self.recorded = {line.name for line in lines}
        self.unmade = unmade(lines, given, returned) if "check" in SETTINGS else {}
        self.after("record", lines)

    def after(self, name: str, lines: list[Instruction]) -> list[Instruction]:
        """The instructions after a pass, checked and printed if `GRADSPEC_PASSES` says so."""
        if "check" in SETTINGS:
            self.check(name, lines)
        if "show" in SETTINGS:
            show(name, text_of(lines, self.given, self.returned))
        return lines

    def check(self, name: str, lines: list[Instruction]) -> None:
        """Refuse a program with an unknown operator, or with a value that is read before its definition.

        Raises
        ------
        BrokenPass
        """
        for line in lines:
            if line.entry is None and line.name not in self.recorded and line.name not in LEGAL:
                raise BrokenPass(f"the pass {name} left {line.name!r}, which is not an instruction")
        for value, reader in unmade(lines, self.given, self.returned).items():
            if value not in self.unmade:
                raise BrokenPass(f"after the pass {name}, {reader} reads {value.type}, which no earlier instruction computes")


def unmade(lines: list[Instruction], given: set[Value], returned: list[Value]) -> dict[Value, str]:
    """Memory that is read before an instruction defines it and that is not a constant -> its reader."""
    made, found = set(given), {}
    for line in lines:
        found.update({value.memory: line.name for value in line.read if value.memory not in made and value.memory.data is None})
        made.update(value.memory for value in line.made)
    found.update({value.memory: "the result" for value in returned if value.memory not in made and value.memory.data is None})
    return found


def after_steps(name: str, slots: list[Slot], steps: list[Step]) -> list[Step]:
    """The steps after a pass, checked and printed if `GRADSPEC_PASSES` says so."""
    if "check" in SETTINGS:
        check_steps(name, slots, steps)
    if "show" in SETTINGS:
        show(name, "\n".join(f"    {step.kind} {step.name}: {step.reads} -> {step.writes}" for step in steps))
    return steps


def show(name: str, text: str) -> None:
    if _shown.get("program") != text:
        print(f"after {name}:\n{text}", file=sys.stderr)
    _shown["program"] = text


def text_of(lines: list[Instruction], given: Iterable[Value], returned: Iterable[Value]) -> str:
    """Instructions, one on each line; values are numbered in the order of their first use."""
    names: dict[Value, str] = {}

    def name(value: Value) -> str:
        if value in names:
            return names[value]
        names[value] = f"%{len(names)}"
        return f"{names[value]}:{value.type}"

    def of(tree: Any) -> str:
        return str(mapped(tree, lambda leaf: _Name(name(leaf)) if isinstance(leaf, Value) else leaf))

    head = f"    inputs {', '.join(map(name, given))}"
    body = [f"    {of(line.outputs)} = {line.name}({', '.join(map(of, line.arguments))})" for line in lines]
    return "\n".join([head, *body, f"    return {', '.join(map(name, returned))}"])


class _Name(str):
    __repr__ = str.__str__


def check_steps(name: str, slots: list[Slot], steps: list[Step]) -> None:
    """Refuse steps of unknown kinds, unknown slots, and reads of memory that is not yet written or already freed.

    Raises
    ------
    BrokenPass
    """
    for place, slot in enumerate(slots):
        if slot.place not in PLACES or slot.place == "view" and not 0 <= slot.root < len(slots):
            raise BrokenPass(f"the pass {name} left slot {place} in {slot.place!r}, which is not a place for slots")
    ready = {place for place, slot in enumerate(slots) if slot.place in ("external", "constant")}
    inside = size = rows = 0
    for step in steps:
        given, writes = STEPS.get(step.kind, (None, 0))
        if given is None or not isinstance(step.given, given) or len(step.writes) < writes:
            raise BrokenPass(f"the pass {name} left an invalid step {step.kind!r} ({step.name})")
        if inside and (accesses(slots, step, rows, size // rows) is None if rows else step.kind not in ("loop", "sum")):
            raise BrokenPass(f"the pass {name} left {step.kind!r} ({step.name}) among loops that run block by block")
        if step.kind == "blocks":
            size, rows = step.given.size, step.given.rows
        inside = step.given.loops if step.kind == "blocks" else max(inside - 1, 0)
        for place in step.reads:
            if not 0 <= place < len(slots) or _root(slots, place) not in ready:
                raise BrokenPass(f"after the pass {name}, {step.name} reads slot {place}, which nothing has written yet")
        ready.update(_root(slots, place) for place in step.writes)
        if step.kind == "free":
            ready.discard(step.given[0])


def _root(slots: list[Slot], place: int) -> int:
    while slots[place].place == "view":
        place = slots[place].root
    return place

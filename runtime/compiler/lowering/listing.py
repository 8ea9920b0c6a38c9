"""Listings: print an executable program as text, and draw it for graphviz.

Each step shows its results, its operands, the place of the result, and the user's line.
"""

from __future__ import annotations

import os
from math import prod

from ...api.flops import of_call
from ...support.dot import digraph
from ..execute.low_level_ir import Slot, Step
from ..record.side_effects import CALLBACK
from .lowering import Lowered

WIDTH = 64  # columns of a step, before its remark


def listing(lowered: Lowered, title: str) -> str:
    """A program as text, with one step on each line.

    Parameters
    ----------
    lowered : Lowered
    title : str
        Name of the program in the first line.
    """
    names = names_of(lowered)
    given = ", ".join(f"{names[place]}: {type_of(lowered.slots[place])}" for place in lowered.externals)
    lines = [f"{title}({given})"]
    inside = 0
    for step in lowered.steps:
        text = "    " * (2 if inside else 1) + statement(lowered, step, names)
        inside = step.given[0] if step.kind == "blocks" else max(inside - 1, 0)
        lines.append(f"{text:<{WIDTH}} # {remark(lowered, step)}" if step.writes else text)
    lines.append(f"    return {', '.join(names[place] for place in lowered.results)}")
    moved, flops = traffic(lowered)
    count = len(lowered.steps)
    lines.append(f"    # {count} steps, {lowered.memory} bytes planned, {moved} bytes read and written, {flops} flops")
    return "\n".join(lines)


def names_of(lowered: Lowered) -> list[str]:
    """A name for each slot: its letter shows the kind of its memory."""
    letters = {"external": "x", "constant": "c", "planned": "p", "offered": "o", "fresh": "y", "called": "v", "view": "w",
               "scratch": "s"}  # fmt: skip
    return [f"{letters[slot.place]}{number}" for number, slot in enumerate(lowered.slots)]


def type_of(slot: Slot) -> str:
    return f"{slot.dtype}[{', '.join(map(str, slot.shape))}]"


def statement(lowered: Lowered, step: Step, names: list[str]) -> str:
    """A step as a Python-like statement."""
    read = [value_of(lowered, place, names) for place in step.reads]
    if step.kind == "blocks":
        return f"block by block, {step.given[1]} elements:"
    if step.kind == "allocate":
        return f"{names[step.given[0]]} = new memory"
    if step.kind == "free":
        return f"del {names[step.given[0]]}"
    if step.kind == "guard":
        return f"go on only if {read[0]} is what it was"
    made = ", ".join(names[place] for place in step.writes)
    if step.kind == "move":
        return f"{made} = pieces of {', '.join(read) or 'zeros'} ({step.name})"
    if step.kind == "copy":
        return f"{made}[...] = {read[0]}"
    if step.name == CALLBACK:
        return f"{made or '_'} = {step.given[1][0].name}({', '.join(read)}), which is called back"
    others = [repr(item) for item in step.given[1] if item is not None] if step.kind in ("call", "forward") else []
    call = ", ".join(f"{name}({', '.join([*read, *others])})" for name in operators_of(step))
    return f"{made} = {call}" if made else call


def operators_of(step: Step) -> list[str]:
    """The operator of a step; both operators of a pair of loops."""
    return [step.name, step.given.second] if step.kind == "loop" and step.given.second else [step.name]


def value_of(lowered: Lowered, place: int, names: list[str]) -> str:
    """The name of a slot, or the digits of a scalar constant."""
    slot = lowered.slots[place]
    return repr(slot.data.item()) if slot.place == "constant" and slot.data.ndim == 0 else names[place]


def remark(lowered: Lowered, step: Step) -> str:
    """Dtype and shape of a step's result, its place in memory, the way it is computed, and the user's line."""
    slot = lowered.slots[step.writes[0]]
    lies = {"planned": f"at {slot.offset}", "offered": f"at {slot.offset}", "scratch": "in cache", "fresh": "new",
            "external": "in place",
            "view": "in a result" if is_view_of_result(lowered, slot) else ""}.get(slot.place, "")  # fmt: skip
    line = "" if step.line is None else f"{os.path.basename(step.line[0])}:{step.line[1]}"
    how = {"rows": "by rows", "forward": "by its forward", "call": "by its wrapper"}.get(step.kind, "")
    return ", ".join(filter(None, (type_of(slot), lies, how, line)))


def is_view_of_result(lowered: Lowered, slot: Slot) -> bool:
    """Whether a slot is a view of memory that is allocated at each call."""
    return slot.place == "view" and lowered.slots[slot.root].place == "fresh"


def traffic(lowered: Lowered) -> tuple[int, int]:
    """Bytes that all steps read and write outside the cache, and the known number of their operations."""
    moved = flops = 0
    for step in lowered.steps:
        if step.kind in ("allocate", "free", "blocks", "guard"):
            continue
        slots = [lowered.slots[place] for place in (*step.reads, *step.writes)]
        moved += sum(slot.dtype.itemsize * prod(slot.shape) for slot in slots if slot.place != "scratch")
        if step.kind != "copy" and step.writes:
            shapes = tuple(lowered.slots[place].shape for place in step.reads)
            try:
                flops += sum(of_call(name, shapes, lowered.slots[step.writes[0]].shape) for name in operators_of(step))
            except (TypeError, IndexError):  # no formula for arguments that are not arrays
                continue
    return moved, flops


def drawing(lowered: Lowered) -> str:
    """A program as DOT text, for graphviz: steps, and the slots between them."""
    names = names_of(lowered)
    makers = {place: f"x{place}" for place in lowered.externals}
    boxes = [(f"x{place}", f"{names[place]}: {type_of(lowered.slots[place])}", "shape=ellipse") for place in lowered.externals]
    arrows: list[tuple[str, str, str]] = []
    for number, step in enumerate(lowered.steps):
        if step.kind in ("allocate", "free", "blocks"):
            continue
        boxes.append((f"n{number}", " and ".join(operators_of(step)), "shape=box"))
        for place in dict.fromkeys(step.reads):
            root = place if place in makers else lowered.slots[place].root
            if root in makers:
                arrows.append((makers[root], f"n{number}", type_of(lowered.slots[place])))
        makers.update({place: f"n{number}" for place in step.writes})
    for place in dict.fromkeys(lowered.results):
        root = place if place in makers else lowered.slots[place].root
        if root in makers:
            arrows.append((makers[root], "result", ""))
    return digraph("program", boxes, arrows)

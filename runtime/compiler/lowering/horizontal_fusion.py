"""Horizontal fusion: replace two loops over one operand, which share most of their work, by one loop with two results.

Fuses loops if a kernel has their common loop, such as a function and its slope, and if the second may run as early as the first.
Then no step in between writes to the operand or uses the memory of the second result.
"""

from __future__ import annotations

from ...kernels.fusion_engine.pairs import is_pair
from ..execute.low_level_ir import Blocks, Loop, Slot, Step, has_blocks, root_of


def fuse_siblings(slots: list[Slot], steps: list[Step]) -> list[Step]:
    """The steps, with such pairs of loops joined inside each block group."""
    if not has_blocks(steps):
        return steps
    found: list[Step] = []
    end = 0
    for number, step in enumerate(steps):
        if step.kind == "blocks":
            end = number + 1 + step.given.loops
            loops = paired_in(slots, steps[number + 1 : end])
            found += [Step("blocks", Blocks(len(loops), *step.given[1:]), "blocks", None), *loops]
        elif number >= end:
            found.append(step)
    return found


def paired_in(slots: list[Slot], loops: list[Step]) -> list[Step]:
    """The loops of one group, with pairs joined."""
    found: list[Step] = []
    for step in loops:
        for number, other in enumerate(found):
            both = pair(slots, other, step)
            if both is not None and may_come_early(slots, step, found[number:]):
                found[number] = both
                break
        else:
            found.append(step)
    return found


def pair(slots: list[Slot], first: Step, second: Step) -> Step | None:
    """One step for two loops, if a kernel has a loop for both."""
    if first.kind != "loop" or second.kind != "loop" or first.reads != second.reads or len(first.reads) != 1:
        return None
    one, other = first.given, second.given
    if one.second or one.which != other.which or {*one.strides, *other.strides} != {slots[first.reads[0]].dtype.itemsize}:
        return None
    if is_pair(other.operator, one.operator, one.which):
        first, second, one, other = second, first, other, one
    elif not is_pair(one.operator, other.operator, one.which):
        return None
    writes = (*first.writes, *second.writes)
    strides = one.strides + other.strides[1:]
    both = Loop(one.operator, one.which, first.reads + writes, strides, one.size, second=other.operator)
    return Step("loop", both, first.name, first.line, first.reads, writes)


def may_come_early(slots: list[Slot], step: Step, before: list[Step]) -> bool:
    """Whether a loop may run before the given steps, and its result has its own memory."""
    made, read = root_of(slots, step.writes[0]), root_of(slots, step.reads[0])
    used = {root_of(slots, place) for other in before for place in (*other.reads, *other.writes)}
    written = {root_of(slots, place) for other in before for place in other.writes}
    return slots[made].place in ("planned", "fresh") and made not in used and read not in written

"""Planning: where in memory each value lies, and when what is held is let go.

Owns lifetimes.  What is dead is used again: for a result of a loop whose operand dies there, else for what is as large or
smaller.  Steps of one group of blocks live and die together, but for a result that takes its operand's very place.
"""

from __future__ import annotations

from .steps import Slot, Step, root_of


def groups_of(steps: list[Step]) -> list[int]:
    """For each step the number of the last one that runs with it, block by block."""
    ends = list(range(len(steps)))
    for number, step in enumerate(steps):
        if step.kind == "blocks":
            for inner in range(number, number + step.given[0] + 1):
                ends[inner] = number + step.given[0]
    return ends


def lifetimes(slots: list[Slot], steps: list[Step]) -> tuple[dict[int, int], dict[int, int]]:
    """The first and the last step that uses the memory of each slot that is no look."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, step in enumerate(steps):
        for place in (*step.reads, *step.writes):
            root = root_of(slots, place)
            first.setdefault(root, number)
            last[root] = number
    return first, last


def planned(slots: list[Slot], steps: list[Step]) -> int:
    """Give planned slots their places.

    Returns
    -------
    int
        Bytes of all together.
    """
    first, last = lifetimes(slots, steps)
    ends = groups_of(steps)
    born: dict[int, list[int]] = {}
    for place, number in first.items():
        if slots[place].place == "planned":
            born.setdefault(number, []).append(place)
    dying: dict[int, list[int]] = {}
    free: dict[int, list[int]] = {}  # offsets by size
    memory = 0
    for number, step in enumerate(steps):
        for place in born.get(number, ()):
            slot = slots[place]
            heir = operand_that_dies(slots, step, place, number, last)
            if heir is not None:
                slot.offset = slots[heir].offset
                dying[ends[number]].remove(heir)
            else:
                size = slot.bytes
                larger = min((other for other, there in free.items() if there and other > size), default=0)
                found = size if free.get(size) else larger
                if found:
                    slot.offset = free[found].pop()
                    if found > size:
                        free.setdefault(found - size, []).append(slot.offset + size)
                else:
                    slot.offset, memory = memory, memory + size
            dying.setdefault(ends[last[place]], []).append(place)
        for place in dying.pop(number, ()):
            free.setdefault(slots[place].bytes, []).append(slots[place].offset)
    return memory


def operand_that_dies(slots: list[Slot], step: Step, place: int, number: int, last: dict[int, int]) -> int | None:
    """An operand of a loop that nobody reads later, of the same size as the result: it may lie in the same place."""
    if step.kind != "loop" or step.writes != (place,):
        return None
    operands = list(zip(step.given[2][:-1], step.given[3][:-1]))
    for operand, stride in operands:
        slot = slots[operand]
        dies = slot.place == "planned" and last[operand] == number
        if dies and stride == step.given[3][-1] and slot.bytes == slots[place].bytes:
            if all(other == operand and apart == stride for other, apart in operands if root_of(slots, other) == operand):
                return operand
    return None


def released(slots: list[Slot], steps: list[Step], results: tuple[int, ...]) -> list[Step]:
    """The steps, with a release of what operators made behind its last use."""
    _, last = lifetimes(slots, steps)
    ends = groups_of(steps)
    kept = {root_of(slots, place) for place in results}
    freed: dict[int, list[int]] = {}
    for place, number in last.items():
        if slots[place].place in ("called", "fresh") and place not in kept:
            freed.setdefault(ends[number], []).append(place)
    found: list[Step] = []
    for number, step in enumerate(steps):
        found.append(step)
        found += [Step("free", (place,), "free", None) for place in freed.get(number, ())]
    return found

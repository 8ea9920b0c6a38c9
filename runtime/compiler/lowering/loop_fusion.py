"""Loop fusion: run loops over many elements together, block by block, so that intermediates stay in cache.

Fuses loops if each reads the results of the others only at its own index.  Sums of their results join the group.  An independent
step between two loops moves behind the group.  A value that only these loops use needs no memory but one block per thread.  When
memory is minimised, a loop is not fused if its result would be alive together with a large temporary.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ..execute.low_level_ir import Blocks, Slot, Step, has_blocks, largest_loop, root_of

LARGE = 4096  # fewest elements of a loop that runs block by block, and fewest bytes that count as large


class Run:
    """Loops that may run block by block, and the steps moved behind them."""

    def __init__(self, slots: list[Slot], steps: list[Step], sparing: bool) -> None:
        self.slots, self.sparing = slots, sparing
        self.last = {self.root(place): number for number, step in enumerate(steps) for place in step.reads}
        self.begin()

    def begin(self) -> None:
        self.before: list[Step] = []  # allocations of the loops' results
        self.loops: list[Step] = []
        self.sum: Step | None = None  # a sum of a loop's result
        self.waiting: list[Step] = []
        self.written: dict[int, tuple[int, int]] = {}
        self.read: dict[int, set[tuple[int, int]]] = {}
        self.waited_for: set[int] = set()  # memory that moved steps read
        self.coming: set[int] = set()  # memory that moved steps write
        self.large = False  # whether a moved step allocates large memory or is its last user

    def root(self, place: int) -> int:
        return root_of(self.slots, place)

    def takes(self, step: Step, number: int) -> bool:
        """Whether a loop may and should join the group."""
        if self.loops and self.loops[0].given.size != step.given.size or self.sum and self.sparing:
            return False
        if self.large and not self.has_room(step, number):
            return False
        summed, added = (self.root(place) for place in (*self.sum.reads, *self.sum.writes)) if self.sum else (-1, -1)
        *operands, out = zip(step.given.slots, step.given.strides)
        for operand in operands:
            root = self.root(operand[0])
            if root in self.coming or self.written.get(root, operand) != operand or root == added:
                return False
        root = self.root(out[0])
        if root in (summed, added) or root in self.coming or root in self.waited_for:
            return False
        if self.waiting and self.slots[root].place not in ("planned", "fresh"):
            return False
        return self.written.get(root, out) == out and self.read.get(root, {out}) == {out}

    def has_room(self, step: Step, number: int) -> bool:
        """Whether a loop's result can overwrite an operand or use memory that exists already."""
        out = self.slots[self.root(step.writes[0])]
        dying = {root for root in map(self.root, step.reads) if self.last[root] == number} - self.waited_for
        return out.place != "planned" or self.root(step.writes[0]) in self.written or any(
            self.slots[root].place == "planned" and self.slots[root].bytes >= out.bytes for root in dying)  # fmt: skip

    def sums(self, step: Step) -> bool:
        """Whether a step sums all elements of a result of the loops, and may join them."""
        if self.sum or not self.loops or self.loops[0].given.size != step.given.size:
            return False
        source, target = step.reads[0], self.root(step.writes[0])
        if self.written.get(source) != (source, self.slots[source].dtype.itemsize) or source in self.coming:
            return False
        return target not in self.coming | self.waited_for | self.read.keys() | self.written.keys()

    def add(self, step: Step) -> None:
        self.join(step, zip(step.given.slots, step.given.strides))

    def join(self, step: Step, accesses: Iterable[tuple[int, ...]]) -> None:
        """Add a step whose operands and result, in this order, are slots with their strides."""
        *operands, out = accesses
        for operand in operands:
            self.read.setdefault(self.root(operand[0]), set()).add(operand)
        self.written[self.root(out[0])] = out
        self.loops.append(step)

    def wait(self, step: Step, number: int) -> None:
        self.waiting.append(step)
        self.waited_for.update(self.root(place) for place in step.reads)
        self.coming.update(self.root(place) for place in step.writes)
        roots = {*map(self.root, step.writes), *(root for root in map(self.root, step.reads) if self.last[root] == number)}
        self.large = self.large or self.sparing and any(self.slots[root].bytes >= LARGE for root in roots)

    def closed(self) -> list[Step]:
        """The steps of the group in order; the next group begins empty."""
        loops = self.loops if self.sum is None else [*self.loops, self.sum]
        head = [Step("blocks", Blocks(len(loops), loops[0].given.size, 0), "blocks", None)] if loops else []
        steps = [*self.before, *head, *loops, *self.waiting]
        self.begin()
        return steps


def fuse_loops(slots: list[Slot], steps: list[Step], sparing: bool = False) -> list[Step]:
    """The steps, with large loops of one size grouped behind a "blocks" step; existing groups stay."""
    if largest_loop(steps) < LARGE:
        return steps
    found: list[Step] = []
    run = Run(slots, steps, sparing)
    end = -1  # of a group that exists already
    for number, step in enumerate(steps):
        if step.kind == "blocks":
            found += run.closed()
            end = number + step.given.loops
        if number <= end:
            found.append(step)
        elif step.kind == "loop" and step.given.size >= LARGE:
            if not run.takes(step, number):
                found += run.closed()
            run.add(step)
        elif step.kind == "sum" and run.sums(step):
            run.sum = step
        elif step.kind == "allocate" and run.loops:
            run.before.append(step)
        elif run.loops:
            run.wait(step, number)
        else:
            found.append(step)
    return found + run.closed()


def assign_blocks(slots: list[Slot], steps: list[Step]) -> list[Step]:
    """The steps, with blocks of scratch memory for values that only the loops of one group use."""
    if not has_blocks(steps):
        return steps
    group = -1
    users: dict[int, set[int]] = {}
    inside = 0
    for number, step in enumerate(steps):
        if step.kind == "blocks":
            group, inside = number, step.given.loops + 1
        for place in (*step.reads, *step.writes):
            users.setdefault(root_of(slots, place), set()).add(group if inside else -1)
        inside = max(inside - 1, 0)
    for slot in slots:
        if slot.place == "view":
            users.setdefault(slot.root, set()).add(-1)
    found = list(steps)
    for number, step in enumerate(steps):
        if step.kind == "blocks":
            loops = steps[number + 1 : number + 1 + step.given.loops]
            room = place_blocks(slots, loops, users, number, step.given.size)
            found[number] = Step("blocks", step.given._replace(room=room), "blocks", None)
    return found


def place_blocks(slots: list[Slot], loops: list[Step], users: dict[int, set[int]], group: int, size: int) -> int:
    """Assign blocks to values of `size` elements used only in this group; returns bytes for each element of all blocks together."""
    last = {place: number for number, loop in enumerate(loops) for place in loop.reads}
    free: dict[int, list[int]] = {}
    room = 0
    for number, loop in enumerate(loops):
        for out in loop.writes:
            slot = slots[out]
            if slot.place == "planned" and not slot.object and users[out] == {group} and out in last and prod(slot.shape) == size:
                slot.place = "scratch"
                item = slot.dtype.itemsize
                if free.get(item):
                    slot.offset = free[item].pop()
                else:
                    slot.offset, room = room, room + item
        for place in set(loop.reads):
            if slots[place].place == "scratch" and last[place] == number:
                free.setdefault(slots[place].dtype.itemsize, []).append(slots[place].offset)
    return room

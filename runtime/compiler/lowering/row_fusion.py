"""Row fusion: run sums of rows together with the loops before and behind them, some rows at a time, so that rows stay in cache.

Fuses loops over all elements, loops over rows, loops over one number a row, and sums of rows, if each reads what the others write
at its own rows only.  A block is a whole number of rows, so that no other order of the additions is needed.  A loop that only feeds
a sum of another kind, along columns or of everything, is left to `loop_fusion` together with that sum.
"""

from __future__ import annotations

from ..execute.low_level_ir import Blocks, Slot, Step, accesses
from .loop_fusion import LARGE, Run

LONGEST = 4096  # most elements of a row: several blocks must fit in the cache


class RowRun(Run):
    """Steps that may run some rows at a time, and the steps moved behind them."""

    def __init__(self, slots: list[Slot], steps: list[Step], sparing: bool, shapes: dict[int, tuple[int, int]]) -> None:
        super().__init__(slots, steps, sparing)
        self.shapes = shapes
        self.readers: dict[int, list[Step]] = {}
        for step in steps:
            for place in {self.root(place) for place in step.reads}:
                self.readers.setdefault(place, []).append(step)

    def begin(self) -> None:
        super().begin()
        self.all: list[Step] = []
        self.rows, self.length = 0, 0

    def starts(self, step: Step) -> bool:
        """Whether a step may be the first of a group, which has its shape from then on."""
        if step.kind == "loop":
            self.rows, self.length = self.shapes.get(step.given.size, (0, 0))
        else:
            self.rows, self.length = shape_of(step) or (0, 0)
        return self.rows > 0

    def matches(self, step: Step) -> bool:
        """Whether a step works on the group's rows, and does not feed only sums of another kind."""
        if accesses(self.slots, step, self.rows, self.length) is None:
            return False
        readers = self.readers.get(self.root(step.writes[0]), ()) if step.kind == "loop" else ()
        return not readers or not all(other.kind == "sum" and not self.matches(other) for other in readers)

    def takes(self, step: Step, number: int) -> bool:
        if self.large and not self.has_room(step, number):
            return False
        *operands, out = self.accesses(step)
        for operand in operands:
            root = self.root(operand[0])
            if root in self.coming or self.written.get(root, operand) != operand or self.read.get(root, {operand}) != {operand}:
                return False
        root = self.root(out[0])
        if root in self.coming or root in self.waited_for:
            return False
        if self.waiting and self.slots[root].place not in ("planned", "fresh"):
            return False
        return self.written.get(root, out) == out and self.read.get(root, {out}) == {out}

    def add(self, step: Step) -> None:
        self.join(step, self.accesses(step))

    def accesses(self, step: Step) -> list[tuple[int, int, int]]:
        """Memory and strides of a step's operands and result; a view from the start of memory is that memory."""
        found = accesses(self.slots, step, self.rows, self.length)
        return [(place if self.slots[place].offset else self.root(place), *strides) for place, *strides in found]

    def closed(self) -> list[Step]:
        """The steps of the group in order; unchanged if `loop_fusion` can join them.  The next group begins empty."""
        loops, steps = self.loops, self.all
        if len(loops) > 1 and any(step.kind == "rows" for step in loops) or any(step.kind == "sum" for step in loops[:-1]):
            head = Step("blocks", Blocks(len(loops), self.rows * self.length, 0, self.rows), "blocks", None)
            steps = [*self.before, head, *loops, *self.waiting]
        self.begin()
        return steps


def shape_of(step: Step) -> tuple[int, int] | None:
    """The number and the length of the rows that a step works on, if there are several rows of a length that fits in the cache."""
    if step.kind == "rows":
        rows, length = step.given.rows, step.given.size
    elif step.kind == "sum" and step.given.inner == 1:
        rows, length = step.given.outer, step.given.length
    else:
        return None
    return (rows, length) if rows > 1 and 1 < length <= LONGEST and rows * length >= LARGE else None


def shapes_in(steps: list[Step]) -> dict[int, tuple[int, int]]:
    """Number of elements -> the first shape of rows with so many."""
    found: dict[int, tuple[int, int]] = {}
    for step in steps:
        if (step.kind == "rows" or step.kind == "sum") and (shape := shape_of(step)):
            found.setdefault(shape[0] * shape[1], shape)
    return found


def fuse_rows(slots: list[Slot], steps: list[Step], sparing: bool = False) -> list[Step]:
    """The steps, with groups that run some rows at a time behind a "blocks" step."""
    shapes = shapes_in(steps)
    if not shapes:
        return steps
    run = RowRun(slots, steps, sparing, shapes)
    found: list[Step] = []
    for number, step in enumerate(steps):
        if run.loops and run.matches(step) and not run.takes(step, number):
            found += run.closed()
        if run.loops:
            run.all.append(step)
            if run.matches(step):
                run.add(step)
            elif step.kind == "allocate":
                run.before.append(step)
            else:
                run.wait(step, number)
        elif run.starts(step) and run.matches(step):
            run.all.append(step)
            run.add(step)
        else:
            found.append(step)
    return found + run.closed()

"""Lowering: instructions over values as a tape over slots.

Owns where each value lives: memory that dies inside the program is planned, and used again when it is dead; results are fresh;
views are places in other memory and cost nothing.  An operator that is one inner loop over plain arrays becomes that loop,
everything else calls its wrapper.  Loops over many elements that stand one behind the other run block by block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tracing.instructions import Instruction
from ..tracing.passes import shortened
from ..tracing.values import Value, copied, values_in
from .callers import Filler, arrays_in, caller
from .capture import GUARD, Unfit
from .gathering import gathered, scratched
from .layouts import count, is_dense
from .loops import loop_from, rows_from
from .moves import pieces_of
from .planning import Lifetimes, planned, released
from .steps import Slot, Step
from .tape import Tape

# Forms of operators whose results have shapes that their operands' shapes decide, where these are no indices and no masks.
STEADY = ("partial", "linear", "multilinear", "vjp_jvp")
BEFORE = Instruction("constant", (), None, None)


class Lowered:
    """A program that is ready to run.

    Attributes
    ----------
    tape : Tape
    results : list of Value
        What the tape returns, in order.
    """

    def __init__(
        self, lines: list[Instruction], inputs: list[Value], returned: list[Value], addresses: dict[Value, int]
    ) -> None:
        self.inputs, self.returned, self.addresses = inputs, list(dict.fromkeys(returned)), addresses
        self.lines = shortened(lines, self.returned)
        self.anchors: dict[Value, tuple[int, int]] = {}  # of memory: a slot that lies in it, and where that was
        self.slots: list[Slot] = []
        self.places: dict[Value, int] = {}
        self.numbers: dict[int, int] = {}
        self.steps: list[Step] = []
        self.externals: list[int] = []
        self.given: list[int] = []  # which of the arrays that are given the tape wants
        self.written: list[int] = []
        self.escaping = {value.memory for value in self.returned}
        self.shadows: dict[Value, int] = {}
        self.look_around()
        self.bind()
        for line in self.lines:
            self.lower(line)
        self.write_back()
        self.results = results = tuple(self.result(value) for value in self.returned)
        self.steps = scratched(self.slots, gathered(self.slots, self.steps))
        lives = Lifetimes(self.slots, self.steps)
        self.memory = planned(self.slots, self.steps, lives)
        self.steps = released(self.slots, self.steps, results, lives)
        self.tape = Tape(self.slots, self.steps, self.memory, tuple(self.externals), results)

    # Memory.

    def look_around(self) -> None:
        """Find what memory is used, and what was there before the program."""
        self.born = {value.memory for value in self.inputs}
        self.touched = set(self.escaping)
        self.constants: list[Value] = []
        made = set(self.born)
        for line in self.lines:
            for value in line.read:
                memory = value.memory
                self.touched.add(memory)
                if memory not in made:
                    self.constants.append(memory)
                    made.add(memory)
            for value in line.made:
                made.add(value.memory)
                self.touched.add(value.memory)
        self.constants += [value.memory for value in self.returned if value.memory not in made]

    def bind(self) -> None:
        """Slots for what is given, where the program uses it, and for constants."""
        inputs: dict[Value, int] = {}
        for number, value in enumerate(self.inputs):
            inputs.setdefault(value, number)
        targets = {line.target.memory for line in self.lines if line.target is not None}
        held_up = self.can_miss_behind_writes(targets & {value.memory for value in inputs})
        for value, number in inputs.items():
            if value.memory not in self.touched:
                continue
            self.anchor(value, self.slot("external", value))
            self.externals.append(self.places[value])
            self.given.append(number)
            if value.memory in targets:
                self.written.append(number)
                if held_up:
                    self.put_off(value)
        for value in dict.fromkeys(self.constants):
            if value.data is None:
                raise Unfit(f"{value.type} was made by nothing that can be heard of")
            if value in targets:
                self.anchor(value, self.slot("called", value))
                self.call(copied, (value.data,), self.places[value], BEFORE)
            else:
                self.anchor(value, self.slot("constant", value, data=copied(value.data)))
            self.born.add(value)

    def can_miss_behind_writes(self, targets: set[Value]) -> bool:
        """Whether something may turn out to be otherwise after the program has written to what it was given."""
        begun = False
        for line in self.lines:
            if begun and not self.is_steady(line):
                return True
            begun = begun or line.target is not None and line.target.memory in targets
        return False

    def is_steady(self, line: Instruction) -> bool:
        """Whether an instruction can be no guard, and gives results whose shapes do not hang on values."""
        return line.entry is not None and line.entry.form in STEADY and all(value.dtype.kind in "fc" for value in line.read)

    def put_off(self, value: Value) -> None:
        """Let the program write to a copy, which is put in the place of what was given at the end."""
        if value.memory is not value or not is_dense(value):
            raise Unfit("a write to memory of which the program was given a part, before a guard")
        outer = self.places[value]
        inner = self.slot("planned", value)
        self.anchor(value, inner)
        self.shadows[value] = outer
        self.copy(inner, outer, value)

    def write_back(self) -> None:
        """Put what the program wrote to in the place of what was given: nothing can turn out to be otherwise any more."""
        for value, outer in self.shadows.items():
            self.copy(outer, self.places[value], value)

    def copy(self, target: int, source: int, value: Value) -> None:
        size = value.dtype.itemsize * count(value)
        self.steps.append(Step("copy", (target, source, size), "copy", None, (source,), (target,)))

    def slot(self, place: str, value: Value, **more: Any) -> int:
        self.slots.append(Slot(place, value.dtype, value.shape, value.strides, **more))
        return len(self.slots) - 1

    def place(self, value: Value) -> int:
        """The slot of a value: its own, or a look at the memory that it shares."""
        if value in self.places:
            return self.places[value]
        if value.memory not in self.anchors:
            raise Unfit(f"{value.type} looks at memory that nothing has made")
        root, address = self.anchors[value.memory]
        self.places[value] = self.slot("look", value, root=root, offset=self.addresses[value] - address)
        return self.places[value]

    def anchor(self, value: Value, place: int) -> None:
        """Say that a value has a slot of its own, from which others of the same memory are found."""
        self.places[value] = place
        self.anchors[value.memory] = place, self.addresses.get(value, 0)  # a folded constant had none

    def result(self, value: Value) -> int:
        """The slot of what is returned: of what was given, that itself, and not the copy that the program wrote to."""
        if value.memory not in self.shadows:
            return self.place(value)
        outer = self.shadows[value.memory]
        if value is value.memory:
            return outer
        return self.slot("look", value, root=outer, offset=self.addresses[value] - self.addresses[value.memory])

    # Steps.

    def is_look(self, line: Instruction) -> bool:
        """Whether an instruction only looks at memory that is there."""
        return line.target is None and bool(line.made) and all([value.memory in self.born for value in line.made])

    def lower(self, line: Instruction) -> None:
        if line.name == GUARD:
            value, wanted = line.arguments
            place = self.place(value)
            if count(value) != 1:
                self.want(value)
            self.steps.append(Step("guard", (place, wanted), GUARD, line.line, (place,)))
        elif self.is_look(line):
            return
        elif not self.as_loop(line) and not self.as_move(line):
            self.as_call(line)
        for value in line.made:
            self.born.add(value.memory)

    def want(self, value: Value) -> int:
        """The slot of a value that some step wants as a tensor."""
        place = self.place(value)
        self.slots[place].object = True
        return place

    def as_loop(self, line: Instruction) -> bool:
        """Write an operator down as an inner loop, if it is one."""
        loop = loop_from(line) or rows_from(line)
        if loop is None:
            return False
        out = line.target or line.outputs
        memory = out.memory
        for value in line.read:
            if value.memory is memory and value is not out:
                return False
        if line.target is None:
            if memory is not out or out in self.places or out in self.escaping and not out.layout.c_contiguous:
                return False
            self.make(out, line)
        arguments = line.arguments
        places = [self.place(arguments[item]) if type(item) is int else self.number(item) for item in loop.operands]
        reads = tuple(places)
        places.append(self.place(out))
        given = (loop.base, loop.kind, tuple(places), loop.strides, loop.size)
        if loop.jumps:
            given += loop.rows, loop.jumps
        self.steps.append(Step("rows" if loop.jumps else "loop", given, line.name, line.line, reads, (places[-1],)))
        return True

    def make(self, out: Value, line: Instruction) -> None:
        """Memory for a result: fresh where it leaves the program."""
        fresh = out in self.escaping
        place = self.slot("fresh" if fresh else "planned", out)
        self.anchor(out, place)
        if fresh:
            self.steps.append(Step("allocate", (place,), line.name, line.line, (), (place,)))

    def as_move(self, line: Instruction) -> bool:
        """Write a linear operator down as pieces of memory that are copied, if that is all that it does."""
        out = line.outputs
        if line.target is not None or type(out) is not Value or out.memory is not out or out in self.places:
            return False
        pieces = pieces_of(line)
        if pieces is None:
            return False
        if out in self.escaping and not out.layout.c_contiguous:
            return False
        places = [self.place(value) for value in line.read]
        self.make(out, line)
        given = tuple((-1 if which < 0 else places[which], to, start, size) for which, to, start, size in pieces)
        target = self.places[out]
        self.steps.append(Step("move", (target, given), line.name, line.line, tuple(places), (target,)))
        return True

    def number(self, data: np.ndarray) -> int:
        """The slot of a number: one for all loops that are told the same array."""
        place = self.numbers.get(id(data))
        if place is None:
            self.slots.append(Slot("constant", data.dtype, (), (), data=data))
            place = self.numbers[id(data)] = len(self.slots) - 1
        return place

    def as_call(self, line: Instruction) -> None:
        """Write an operator down as a call of its wrapper."""
        made = line.made
        places = []
        for value in made:
            if value in self.places or line.target is not None:
                places.append(-1)
            else:
                place = self.slot("called", value)
                places.append(place)
                if value.memory in self.anchors:
                    self.places[value] = place
                else:
                    self.anchor(value, place)
        function = caller(line.name, len(line.arguments))
        target = None if line.target is None else self.place(line.target)
        if not made or target is not None:
            self.call(function, line.arguments, None, line, target)
        else:
            self.call(function, line.arguments, places[0] if type(line.outputs) is Value else tuple(places), line)

    def call(self, function: Any, arguments: tuple, outputs: Any, line: Any, target: int | None = None) -> None:
        if all(type(item) is Value or not values_in(item) for item in arguments):
            places = [(i, self.want(item)) for i, item in enumerate(arguments) if type(item) is Value]
            filled: Any = tuple(places)
            reads = tuple(place for _, place in places)
            arguments = tuple(None if type(item) is Value else item for item in arguments)
        else:
            filled = Filler({value: self.want(value) for value in values_in(arguments)})
            reads = tuple(filled.names.values())
        made = () if outputs is None else (outputs,) if type(outputs) is int else tuple(place for place in outputs if place >= 0)
        written = made if target is None else (*made, target)
        given = (function, arguments, filled, outputs, arrays_in)
        self.steps.append(Step("call", given, line.name, line.line, reads, written))

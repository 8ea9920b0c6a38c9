"""Lowering: instructions over values as a tape over slots.

Owns where each value lives: memory that dies inside the program is planned, and used again when it is dead; results are fresh;
views are places in other memory and cost nothing.  An operator that is one inner loop over plain arrays becomes that loop,
everything else calls its wrapper.  Loops over many elements that stand one behind the other run block by block.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ..support.dispatch import ops
from ..tracing.entries import entry_of
from ..tracing.instructions import Instruction
from ..tracing.values import Value, copied, mapped, values_in
from .capture import GUARD, Unfit
from .moves import pieces_of
from .tape import Tape, loop_of

LARGE = 4096  # elements from which on loops run block by block
ALIGNED = 64
SHORT = 4  # elements of a row below which the operator itself costs less


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
        self.lines = needed(lines, self.returned)
        self.anchors: dict[Value, tuple[int, int]] = {}  # of memory: a slot that lies in it, and where that was
        self.slots: list[dict[str, Any]] = []
        self.places: dict[Value, int] = {}
        self.steps: list[tuple[str, tuple, tuple]] = []
        self.externals: list[int] = []
        self.given: list[int] = []  # which of the arrays that are given the tape wants
        self.written: list[int] = []
        self.escaping = {value.memory for value in self.returned}
        self.shadows: dict[Value, int] = {}
        self.first: dict[Value, int] = {}
        self.last: dict[Value, int] = {}
        self.live()
        self.bind()
        self.finals: list[tuple[int, int]] = []
        for number, line in enumerate(self.lines):
            self.lower(number, line)
        self.write_back()
        memory = self.plan()
        self.group()
        results = tuple(self.result(value) for value in self.returned)
        self.release(results)
        self.tape = Tape(self.slots, self.steps, memory, tuple(self.externals), results)

    # Memory.

    def live(self) -> None:
        """From which line to which the memory of each value is used."""
        self.born = {value.memory for value in self.inputs}
        self.constants: list[Value] = []
        made = set(self.born)
        for number, line in enumerate(self.lines):
            read = line.read
            for value in (*read, *line.made):
                self.first.setdefault(value.memory, number)
                self.last[value.memory] = number
            self.constants += [value for value in read if value.memory not in made]
            made.update([value.memory for value in read])
            made.update([value.memory for value in line.made])
        self.constants += [value for value in self.returned if value.memory not in made]

    def bind(self) -> None:
        """Slots for what is given, where the program uses it, and for constants."""
        used = set(self.first) | self.escaping
        inputs: dict[Value, int] = {}
        for number, value in enumerate(self.inputs):
            inputs.setdefault(value, number)
        targets = {line.target.memory for line in self.lines if line.target is not None}
        held_up = self.can_miss_behind_writes(targets & {value.memory for value in inputs})
        for value, number in inputs.items():
            if value.memory not in used:
                continue
            self.anchor(value, self.slot("external", value))
            self.externals.append(self.places[value])
            self.given.append(number)
            if value.memory in targets:
                self.written.append(number)
                if held_up:
                    self.put_off(value)
        for value in dict.fromkeys(value.memory for value in self.constants):
            if value.data is None:
                raise Unfit(f"{value.type} was made by nothing that can be heard of")
            if value in targets:
                self.anchor(value, self.slot("called", value))
                self.call(copied, (value.data,), self.places[value], ("constant", None))
            else:
                self.anchor(value, self.slot("constant", value, data=copied(value.data)))
            self.born.add(value)

    def can_miss_behind_writes(self, targets: set[Value]) -> bool:
        """Whether something may turn out to be otherwise after the program has written to what it was given."""
        begun = False
        for line in self.lines:
            if begun and line.target is None:
                return True
            begun = begun or line.target is not None and line.target.memory in targets
        return False

    def put_off(self, value: Value) -> None:
        """Let the program write to a copy, which is put in the place of what was given at the end."""
        if value.memory is not value or not is_dense(value):
            raise Unfit("a write to memory of which the program was given a part, before a guard")
        outer = self.places[value]
        inner = self.slot("planned", value)
        self.anchor(value, inner)
        self.last[value] = len(self.lines)
        self.first[value] = -1
        size = value.dtype.itemsize * count(value)
        self.steps.append(("copy", (inner, outer, size), ("copy", None)))
        self.shadows[value] = outer

    def write_back(self) -> None:
        for value, outer in self.shadows.items():
            size = value.dtype.itemsize * count(value)
            self.steps.append(("copy", (outer, self.places[value], size), ("copy", None)))

    def slot(self, place: str, value: Value, **more: Any) -> int:
        self.slots.append({"place": place, "dtype": value.dtype, "shape": value.shape, "strides": value.strides,
                           "value": value, **more})  # fmt: skip
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
        self.anchors[value.memory] = place, self.addresses[value]

    def result(self, value: Value) -> int:
        """The slot of what is returned: of what was given, that itself, and not the copy that the program wrote to."""
        if value.memory not in self.shadows:
            return self.place(value)
        outer = self.shadows[value.memory]
        if value is value.memory:
            return outer
        return self.slot("look", value, root=outer, offset=self.addresses[value] - self.addresses[value.memory])

    def plan(self) -> int:
        """Give planned slots their places; bytes in all.

        What is dead is used again for what is as large, else for what is smaller: the rest of it is free as well.
        """
        dying: dict[int, list[tuple[int, int]]] = {}
        free: dict[int, list[int]] = {}  # offsets by size
        memory, now = 0, -1
        for slot in self.slots:  # in the order of their lines
            if slot["place"] != "planned":
                continue
            value = slot["value"]
            while now < self.first[value]:
                for size, offset in dying.pop(now, ()):
                    free.setdefault(size, []).append(offset)
                now += 1
            size = -(-value.dtype.itemsize * max(count(value), 1) // ALIGNED) * ALIGNED
            if "instead" in slot:
                slot["offset"] = self.slots[slot["instead"]]["offset"]
                dying[self.first[value]].remove((size, slot["offset"]))
            else:
                found = size if free.get(size) else min((other for other, places in free.items() if places and other > size), default=0)
                if found:
                    slot["offset"] = free[found].pop()
                    if found > size:
                        free.setdefault(found - size, []).append(slot["offset"] + size)
                else:
                    slot["offset"], memory = memory, memory + size
            dying.setdefault(self.last[value], []).append((size, slot["offset"]))
        return memory

    def release(self, results: tuple[int, ...]) -> None:
        """Let go of what wrappers and allocations made, behind its last use."""
        last: dict[int, int] = {}
        inside = 0  # of blocks
        for number, (kind, given, _) in enumerate(self.steps):
            inside = given[0] if kind == "blocks" else max(inside - 1, 0)
            for place in slots_of(kind, given):
                last[self.root(place)] = number + inside
        kept = {self.root(place) for place in results}
        freed: dict[int, list[int]] = {}
        for place, number in last.items():
            if self.slots[place]["place"] in ("called", "fresh") and place not in kept:
                freed.setdefault(number, []).append(place)
        steps = []
        for number, step in enumerate(self.steps):
            steps.append(step)
            steps += [("free", (place,), ("free", None)) for place in freed.get(number, ())]
        self.steps = steps

    # Steps.

    def is_look(self, line: Instruction) -> bool:
        """Whether an instruction only looks at memory that is there."""
        return line.target is None and bool(line.made) and all(value.memory in self.born for value in line.made)

    def lower(self, number: int, line: Instruction) -> None:
        if line.name == GUARD:
            value, wanted = line.arguments
            place = self.place(value)
            if count(value) != 1:
                self.want(value)
            self.steps.append(("guard", (place, wanted), (GUARD, line.line)))
        elif self.is_look(line):
            return
        elif not self.as_loop(number, line) and not self.as_move(line):
            self.as_call(line)
        self.born.update(value.memory for value in line.made)

    def want(self, value: Value) -> int:
        """The slot of a value that some step wants as a tensor."""
        place = self.place(value)
        self.slots[place]["object"] = True
        return place

    def as_loop(self, number: int, line: Instruction) -> bool:
        """Write an operator down as an inner loop, if it is one."""
        base, operands, out = line.name.removesuffix(".out"), list(line.arguments), line.outputs
        if line.name.endswith(".out"):
            out = operands.pop()
        elif line.name.endswith("_"):
            base, out = base[:-1], operands[0]
        if type(out) is not Value or not all(type(item) in (Value, int, float) for item in operands) or not is_dense(out):
            return False
        size = count(out)
        found = loop_of(base, tuple(item.dtype if type(item) is Value else None for item in operands))
        if found is None or found[1] != out.dtype or size == 0:
            return False
        kind, dtype, _, cost = found
        of = np.dtype(("float32", "float64", "complex64", "complex128")[kind]) if kind < 4 else np.dtype(bool)
        slots, strides = [], []
        for item in operands:
            if type(item) is not Value:
                with np.errstate(all="ignore"):
                    data = np.array(item, of)
                if not np.isfinite(data) and np.isfinite(item):
                    return False
                slots.append(("number", data))
                strides.append(0)
                continue
            step = step_of(item, out)
            if item.memory is out.memory and item is not out:
                return False
            slots.append(("value", item))
            strides.append(step)
        target = line.target
        jumps: list[int] = []
        if None in strides:
            rows = rows_of([item for how, item in slots if how == "value"], out)
            if rows is None:
                return False
            count_of_rows, size, found_steps = rows
            steps = iter(found_steps)
            pairs = [next(steps) if how == "value" else (0, 0) for how, _ in slots] + [found_steps[-1]]
            strides, jumps = [inner for _, inner in pairs[:-1]], [outer for outer, _ in pairs]
        if target is None:
            if out.memory is not out or out in self.places:
                return False
            fresh = out in self.escaping
            if fresh and not is_c_contiguous(out):
                return False
            more = {} if fresh or jumps else self.in_place_of(slots, strides, out, number)
            self.anchor(out, self.slot("fresh" if fresh else "planned", out, **more))
            if fresh:
                self.steps.append(("allocate", (self.places[out],), (line.name, line.line)))
        places = tuple(self.place(item) if how == "value" else self.number(item) for how, item in slots) + (self.place(out),)
        if jumps:
            step = (base, kind, places, (*strides, out.dtype.itemsize), size, count_of_rows, tuple(jumps))
            self.steps.append(("rows", step, (line.name, line.line)))
        else:
            self.steps.append(("loop", (base, kind, places, (*strides, out.dtype.itemsize), size), (line.name, line.line)))
        return True

    def as_move(self, line: Instruction) -> bool:
        """Write a linear operator down as pieces of memory that are copied, if that is all that it does."""
        out = line.outputs
        if line.target is not None or type(out) is not Value or out.memory is not out or out in self.places:
            return False
        pieces = pieces_of(line)
        if pieces is None:
            return False
        fresh = out in self.escaping
        if fresh and not is_c_contiguous(out):
            return False
        places = [self.place(value) for value in line.read]
        self.anchor(out, self.slot("fresh" if fresh else "planned", out))
        if fresh:
            self.steps.append(("allocate", (self.places[out],), (line.name, line.line)))
        given = tuple((-1 if which < 0 else places[which], to, start, size) for which, to, start, size in pieces)
        self.steps.append(("move", (self.places[out], given), (line.name, line.line)))
        return True

    def in_place_of(self, slots: list, strides: list[int], out: Value, number: int) -> dict[str, int]:
        """The operand that dies here, and whose memory the result may take."""
        for (how, item), stride in zip(slots, strides):
            if how == "value" and stride and item.memory is item and self.last[item] == number and item.dtype == out.dtype and (
                item.shape == out.shape
            ):
                place = self.places[item]
                twice = [other for _, other in slots if type(other) is Value and other is not item and other.memory is item]
                if self.slots[place]["place"] == "planned" and not twice:
                    return {"instead": place}
        return {}

    def number(self, data: np.ndarray) -> int:
        self.slots.append({"place": "constant", "dtype": data.dtype, "shape": (), "strides": (), "data": data})
        return len(self.slots) - 1

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
        if not made or line.target is not None:
            self.call(function, line.arguments, None, (line.name, line.line))
        elif type(line.outputs) is Value:
            self.call(function, line.arguments, places[0], (line.name, line.line))
        else:
            self.call(function, line.arguments, tuple(places), (line.name, line.line))

    def call(self, function: Any, arguments: tuple, outputs: Any, line: tuple) -> None:
        direct = all(type(item) is Value or not values_in(item) for item in arguments)
        filled: Any
        if direct:
            filled = tuple((i, self.want(item)) for i, item in enumerate(arguments) if type(item) is Value)
            arguments = tuple(None if type(item) is Value else item for item in arguments)
        else:
            filled = Filler({value: self.want(value) for value in values_in(arguments)})
        self.steps.append(("call", (function, arguments, filled, outputs, arrays_in), line))

    def group(self) -> None:
        """Put loops over many elements that stand one behind the other into blocks."""
        steps: list[tuple[str, tuple, tuple]] = []
        run = Run(self)
        for step in self.steps:
            if step[0] == "loop" and step[1][4] >= LARGE:
                if not run.takes(step[1]):
                    steps += run.closed()
                run.add(step)
            else:
                steps += run.closed()
                steps.append(step)
        self.steps = steps + run.closed()

    def root(self, place: int) -> int:
        while self.slots[place]["place"] == "look":
            place = self.slots[place]["root"]
        return place


def needed(lines: list[Instruction], returned: list[Value]) -> list[Instruction]:
    """The instructions that results, guards, draws and writes to what was given need."""
    live = set(returned)
    memory = {value.memory for value in live}
    kept: list[Instruction] = []
    for line in reversed(lines):
        target = line.target
        wanted = line.name == GUARD or generators_of(line) or not live.isdisjoint(line.made)
        if wanted or target is not None and (target.memory in memory or target.memory.kind == "input"):
            kept.append(line)
            live.update(line.read)
            memory.update(value.memory for value in line.read)
    return kept[::-1]


def generators_of(line: Instruction) -> list[Any]:
    """What an instruction draws random numbers from: None for the default generator."""
    entry = entry_of(line.name)
    if entry is None:
        return []
    return [item for item, (_, kind, _, _) in zip(line.arguments, entry.arguments) if kind.startswith("Generator")]


class Run:
    """Loops that may run block by block: each reads what the others write only where it is itself."""

    def __init__(self, lowered: Lowered) -> None:
        self.root = lowered.root
        self.steps: list[tuple[str, tuple, tuple]] = []
        self.written: dict[int, tuple[int, int]] = {}
        self.read: dict[int, set[tuple[int, int]]] = {}

    def takes(self, given: tuple) -> bool:
        if not self.steps:
            return True
        if self.steps[0][1][4] != given[4]:
            return False
        *operands, out = zip(given[2], given[3])
        for place, stride in operands:
            if self.written.get(self.root(place), (place, stride)) != (place, stride):
                return False
        root = self.root(out[0])
        return self.written.get(root, out) == out and self.read.get(root, {out}) == {out}

    def add(self, step: tuple[str, tuple, tuple]) -> None:
        *operands, out = zip(step[1][2], step[1][3])
        for place, stride in operands:
            self.read.setdefault(self.root(place), set()).add((place, stride))
        self.written[self.root(out[0])] = out
        self.steps.append(step)

    def closed(self) -> list[tuple[str, tuple, tuple]]:
        steps = self.steps
        if steps:
            steps = [("blocks", (len(steps), steps[0][1][4], 0), ("blocks", None)), *steps]
        self.steps, self.written, self.read = [], {}, {}
        return steps


class Filler:
    """What puts tensors in the place of values, in lists and slices, too."""

    def __init__(self, names: dict[Value, int]) -> None:
        self.names = names

    def __call__(self, arguments: tuple, tensors: list) -> tuple:
        return mapped(arguments, lambda item: tensors[self.names[item]] if type(item) is Value else item)


def slots_of(kind: str, given: tuple) -> list[int]:
    """The slots that a step reads or fills."""
    if kind in ("loop", "rows"):
        return list(given[2])
    if kind == "move":
        return [given[0], *(place for place, _, _, _ in given[1] if place >= 0)]
    if kind == "copy":
        return list(given[:2])
    if kind != "call":
        return [given[0]] if kind in ("guard", "allocate") else []
    read = list(given[2].names.values()) if isinstance(given[2], Filler) else [place for _, place in given[2]]
    made = [] if given[3] is None else [given[3]] if type(given[3]) is int else [place for place in given[3] if place >= 0]
    return read + made


def arrays_in(tree: Any) -> list[Any]:
    """The arrays and tensors of a tree, in the order of its values."""
    from ..tracing.values import held

    found: list[Any] = []
    mapped(tree, lambda item: found.append(item) if held(item) is not None else None)
    return found


@cache
def caller(name: str, count: int) -> Any:
    """What computes an operator: its wrapper by its address, or a function of its arguments in order."""
    entry = entry_of(name)
    if entry is None:
        import gradspec

        return getattr(gradspec, name)
    if not name.endswith(".out") and len(entry.arguments) == count:
        module = importlib.import_module(f"gradspec.generated.variable_type.{entry.family}")
        capsule = module.__pyx_capi__.get(f"op_{name}")
        if capsule is not None:
            return capsule
    return by_keyword(name, entry, count)


def by_keyword(name: str, entry: Any, count: int) -> Callable[..., Any]:
    """An operator as a function of its arguments in order; `out=` is the last one."""
    function = getattr(ops, name.removesuffix(".out"))
    out = name.endswith(".out")

    def call(*arguments: Any) -> Any:
        given = list(arguments)
        keywords = {"out": given.pop()} if out else {}
        positional: list[Any] = []
        for (parameter, _, _, keyword_only), value in zip(entry.arguments, given):
            if f"Array[] *{parameter}" in entry.signature:
                positional += value
            elif keyword_only:
                keywords[parameter] = value
            else:
                positional.append(value)
        return function(*positional, **keywords)

    return call


def count(value: Value) -> int:
    """Elements."""
    return prod(value.shape)


def is_c_contiguous(value: Value) -> bool:
    step = value.dtype.itemsize
    for size, stride in zip(reversed(value.shape), reversed(value.strides)):
        if size > 1 and stride != step:
            return False
        step *= size
    return True


def is_dense(value: Value) -> bool:
    """Whether the elements fill one block of memory, from the first on."""
    step = value.dtype.itemsize
    for stride, size in sorted((stride, size) for stride, size in zip(value.strides, value.shape) if size > 1):
        if stride != step:
            return False
        step *= size
    return True


def rows_of(values: list[Value], out: Value) -> tuple[int, int, list[tuple[int, int]]] | None:
    """Operands of a loop, and behind them its result, as rows: their number, their length, and strides as (to the next row,
    inside of a row); None where more than two axes are left when those are joined that lie one behind the other."""
    ndim = len(out.shape)
    if not is_c_contiguous(out):
        return None
    strides = []
    for value in (*values, out):
        shape = (1,) * (ndim - len(value.shape)) + value.shape
        if len(shape) > ndim or any(a not in (1, b) for a, b in zip(shape, out.shape)):
            return None
        own = (0,) * (ndim - len(value.shape)) + value.strides
        strides.append(tuple(0 if size == 1 else stride for size, stride in zip(shape, own)))
    axes: list[tuple[int, list[int]]] = []
    for axis, size in enumerate(out.shape):
        if size == 1:
            continue
        here = [each[axis] for each in strides]
        if axes and all(outer == inner * size for outer, inner in zip(axes[-1][1], here)):
            axes[-1] = axes[-1][0] * size, here
        else:
            axes.append((size, here))
    if len(axes) != 2 or axes[1][0] < SHORT:
        return None
    return axes[0][0], axes[1][0], list(zip(axes[0][1], axes[1][1]))


def step_of(value: Value, out: Value) -> int | None:
    """Bytes from one element of an operand of a loop to the next, in the order of the result; None where there is no such step."""
    if count(value) == 1 and len(value.shape) <= len(out.shape):
        return 0
    if value.shape != out.shape:
        return None
    axes = [i for i, size in enumerate(out.shape) if size > 1]
    if all(value.strides[i] == 0 for i in axes):
        return 0
    if value.dtype.itemsize == out.dtype.itemsize:
        return value.dtype.itemsize if all(value.strides[i] == out.strides[i] for i in axes) else None
    if is_c_contiguous(value) and is_c_contiguous(out):
        return value.dtype.itemsize
    return None

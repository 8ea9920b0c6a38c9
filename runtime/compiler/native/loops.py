"""Loops: elementwise statements, sums and products over buffers, as the text of a C function.

Neighbouring statements over one shape become one loop, whose intermediates are local variables.  A buffer lives from its first
write to its last read; buffers that do not meet share places of the workspace.  Does not depend on NumPy's functions.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .spelling import TYPES, suffix

LONGEST = 256  # statements of a loop
LARGEST = 1 << 31  # elements of an array: loops count in `long`, which has 32 bits on controllers


class Unwritten(Exception):
    """Something that has no C; the message says why."""


class Buffer:
    """A block of memory of the function.

    Attributes
    ----------
    place : str
        "given" (an argument), "result", "constant" or "work".
    data : ndarray or None
        The numbers of a constant.
    whole, shift : Buffer and int
        The buffer that this one is a part of, and where; None for a buffer of its own.
    directions : bool
        Whether a constant consists of unit vectors: a product with a zero of it is zero.
    """

    directions = False
    whole: Buffer | None = None
    shift = 0

    def __init__(self, name: str, dtype: np.dtype, size: int, place: str, data: np.ndarray | None = None) -> None:
        if dtype not in TYPES:
            raise Unwritten(f"an array of {dtype} has no type in C here")
        if size >= LARGEST:
            raise Unwritten(f"an array of {size} elements is too large")
        self.name, self.dtype, self.size, self.place, self.data, self.offset = name, dtype, size, place, data, 0

    @property
    def root(self) -> Buffer:
        """The buffer that has the memory."""
        return self if self.whole is None else self.whole.root

    def place_in_root(self) -> int:
        return 0 if self.whole is None else self.shift + self.whole.place_in_root()


class Access(NamedTuple):
    """The elements of a buffer that a loop visits: the first one, and a stride for each axis."""

    buffer: Buffer
    first: int
    strides: tuple[int, ...]

    def bounds(self, shape: tuple[int, ...]) -> tuple[int, int]:
        ends = [(size - 1) * stride for size, stride in zip(shape, self.strides)]
        return self.first + sum(min(end, 0) for end in ends), self.first + sum(max(end, 0) for end in ends)

    def repeats(self, shape: tuple[int, ...]) -> bool:
        """Whether the loop may visit an element twice."""
        reach = 0
        for stride, size in sorted((abs(stride), size) for stride, size in zip(self.strides, shape) if size > 1):
            if stride <= reach:
                return True
            reach += stride * (size - 1)
        return False


def access(buffer: Buffer, index: np.ndarray) -> Access | None:
    """The access to elements at these positions, in axes longer than one; None if no strides lead there."""
    index = index.reshape([size for size in index.shape if size > 1])
    first = int(index[(0,) * index.ndim])
    strides = tuple(int(index[tuple(int(i == axis) for i in range(index.ndim))]) - first for axis in range(index.ndim))
    here = np.asarray(first)
    for axis, (size, stride) in enumerate(zip(index.shape, strides)):
        here = here + (np.arange(size) * stride).reshape((size,) + (1,) * (index.ndim - axis - 1))
    return Access(buffer, first, strides) if np.array_equal(here, index) else None


class Statement(NamedTuple):
    """`name = text` of the variables and literals `read`; then stored at `target`, unless it is a load."""

    name: str
    dtype: np.dtype
    text: str
    read: tuple[str, ...]
    inputs: tuple[np.dtype, ...]  # of the literals
    target: Access | None
    load: Access | None


class Item(NamedTuple):
    """An elementwise statement as the operators gave it; the text has `{0}`, `{1}`, ... for its operands."""

    shape: tuple[int, ...]
    text: str
    dtype: np.dtype
    reads: list[Access | str]
    inputs: tuple[np.dtype, ...]  # of the literals
    target: Access
    note: str


Body = Callable[[dict[Access, str]], list[str]]


def is_kept(buffer: Buffer, wanted: set[Buffer]) -> bool:
    """Whether what is written to a buffer is read later."""
    return buffer.root in wanted or buffer.root.place in ("given", "result")


class Loop:
    """Statements over one shape, one after the other for each element."""

    joined = False

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape, self.statements = shape, []
        self.notes: list[str] = []

    def clashes(self, one: Access, write: bool) -> bool:
        """Whether an access meets another of this loop at different elements, so that their order would change."""
        low, high = one.bounds(self.shape)
        repeats = one.repeats(self.shape)
        for statement in self.statements:
            other = statement.target or (statement.load if write else None)
            if other is not None and other.buffer.root is one.buffer.root and (other != one or repeats):
                if other.buffer is not one.buffer:
                    return True
                first, last = other.bounds(self.shape)
                if first <= high and low <= last:
                    return True
        return False

    def value(self, one: Access) -> str | None:
        """The variable that holds an element already."""
        for statement in reversed(self.statements):
            if one in (statement.target, statement.load):
                return statement.name
        return None

    def live(self, wanted: set[Buffer]) -> bool:
        """Drop unread statements, add the buffers that are read to `wanted`, and say whether a statement is left."""
        needed: set[str] = set()
        kept: list[Statement] = []
        for one in reversed(self.statements):
            stored = one.target is not None and is_kept(one.target.buffer, wanted)
            if stored or one.name in needed:
                needed.update(one.read)
                kept.append(one if stored else one._replace(target=None))
        self.statements = kept[::-1]
        wanted.update(one.load.buffer.root for one in kept if one.load is not None)
        return bool(kept)

    def work(self) -> int:
        """The elements that it visits, about."""
        return prod(self.shape)

    def buffers(self) -> list[Buffer]:
        return [one.buffer for one in self.accesses()]

    def written(self) -> list[Buffer]:
        return [one.target.buffer for one in self.statements if one.target is not None]

    def read(self) -> list[Buffer]:
        return [one.load.buffer for one in self.statements if one.load is not None]

    def accesses(self) -> list[Access]:
        return [one for statement in self.statements for one in (statement.load, statement.target) if one is not None]

    def lines(self) -> list[str]:
        def body(places: dict[Access, str]) -> list[str]:
            found = []
            for one in self.statements:
                text = places[one.load] if one.load is not None else one.text.format(*one.read)
                used = one.target is None or any(one.name in other.read for other in self.statements)
                if used:
                    found.append(f"const {TYPES[one.dtype]} {one.name} = {text};")
                if one.target is not None:
                    found.append(f"{places[one.target]} = {one.name if used else text};")
            return found

        return nested(self.shape, self.accesses(), body)


class Block:
    """Text of several loops, with the buffers that it reads and writes, and how it is written number by number (`scalars`).

    Attributes
    ----------
    joined : bool
        Whether blocks share their variables; each one is needed.
    """

    joined = False

    def __init__(
        self, lines: list[str], reads: list[Buffer], writes: list[Buffer], scalars: Any = None, note: str = ""
    ) -> None:  # fmt: skip
        self.text, self.reads, self.writes, self.scalars, self.note = lines, reads, writes, scalars, note
        self.notes: list[str] = []

    def live(self, wanted: set[Buffer]) -> bool:
        if not self.joined and not any(is_kept(one, wanted) for one in self.writes):
            return False
        wanted.update(one.root for one in self.reads)
        return True

    def work(self) -> int:
        return max(buffer.size for buffer in self.buffers())

    def buffers(self) -> list[Buffer]:
        return [*self.reads, *self.writes]

    def written(self) -> list[Buffer]:
        return self.writes

    def read(self) -> list[Buffer]:
        return self.reads

    def lines(self) -> list[str]:
        return self.text


def nested(shape: tuple[int, ...], accesses: list[Access], body: Body, depth: int = 0) -> list[str]:
    """Loops over a shape around a body, which gets the element of each access; axes that continue one another are joined."""
    accesses = list(dict.fromkeys(accesses))
    axes: list[tuple[int, list[int]]] = []
    for axis, size in enumerate(shape):
        here = [one.strides[axis] for one in accesses]
        if size == 1:
            continue
        if axes and all(outer == inner * size for outer, inner in zip(axes[-1][1], here)):
            axes[-1] = axes[-1][0] * size, here
        else:
            axes.append((size, here))
    names = [f"i{depth + number}" for number in range(len(axes))]
    places = {one: f"{one.buffer.name}[{position(one.first, [(name, strides[i]) for name, (_, strides) in zip(names, axes)])}]"
              for i, one in enumerate(accesses)}  # fmt: skip
    lines = body(places)
    for name, (size, _) in reversed(list(zip(names, axes))):
        lines = [f"for (long {name} = 0; {name} < {size}; {name}++) {{", *(f"    {line}" for line in lines), "}"]
    return lines


def position(first: int, terms: list[tuple[str, int]]) -> str:
    """A position as C."""
    text = "" if first == 0 and any(stride > 0 for _, stride in terms) else str(first)
    for name, stride in sorted((one for one in terms if one[1]), key=lambda one: one[1] < 0):
        part = name if abs(stride) == 1 else f"{abs(stride)} * {name}"
        text = f"{text} {'-' if stride < 0 else '+'} {part}" if text else part
    return text


class Room:
    """Places of a workspace: its size, and the gaps in it as first place -> length, in order."""

    def __init__(self) -> None:
        self.size, self.gaps = 0, []

    def take(self, size: int) -> int:
        """The first gap of a size, or the end."""
        for number, (first, length) in enumerate(self.gaps):
            if length >= size:
                self.gaps[number : number + 1] = [(first + size, length - size)] if length > size else []
                return first
        first = self.size
        if self.gaps and sum(self.gaps[-1]) == self.size:
            first = self.gaps.pop()[0]
        self.size = first + size
        return first

    def give_back(self, first: int, length: int) -> None:
        number = bisect(self.gaps, (first, length))
        if number < len(self.gaps) and self.gaps[number][0] == first + length:
            length += self.gaps.pop(number)[1]
        if number and sum(self.gaps[number - 1]) == first:
            number -= 1
            first, length = self.gaps[number][0], self.gaps.pop(number)[1] + length
        self.gaps.insert(number, (first, length))


def spans_of(parts: list[Any], time: int = 0) -> tuple[dict[Buffer, list[int]], int]:
    """The first and the last use of each buffer, and the time after them; a loop of parts has its own buffers for a part only."""
    spans: dict[Buffer, list[int]] = {}
    for part in parts:
        begun, inner = time, dict.fromkeys((one.root for one in part.buffers()), [time, time])
        if hasattr(part, "body"):
            found, time = spans_of(part.body, time)
            inner |= {one: span if one in part.local else [begun, time] for one, span in found.items()}
        for buffer, (first, last) in inner.items():
            spans[buffer] = [min(first, spans.get(buffer, [first])[0]), last]
        time += 1
    return spans, time


class Code:
    """The statements of a function.

    Attributes
    ----------
    items : list of Item or Block
        As the operators gave them.
    parts : list
        The loops and blocks of the text; `repetition` makes them.
    products : int
        Multiplications of the largest product or factorisation.
    factorises : bool
        Whether it factorises a matrix.
    failure : Buffer or None
        An integer that is not 0 if a matrix was singular.
    """

    def __init__(self) -> None:
        self.items: list[Item | Block] = []
        self.parts: list[Any] = []
        self.functions: set[tuple[str, np.dtype]] = set()
        self.constants: dict[tuple, Buffer] = {}
        self.count, self.note, self.products = 0, "", 0
        self.factorises = False
        self.failure: Buffer | None = None

    def failed(self) -> str:
        """The start of a statement that notes a failure: NumPy would raise."""
        return f"{self.failure.name}[0] |= " if self.failure is not None else "(void) "

    def name(self, letter: str = "t") -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def buffer(self, dtype: np.dtype, size: int) -> Buffer:
        return Buffer(self.name("w"), np.dtype(dtype), size, "work")

    def constant(self, data: np.ndarray, directions: bool = False) -> Buffer:
        """A table of numbers."""
        key = data.dtype, data.tobytes(), directions
        if key not in self.constants:
            self.constants[key] = Buffer(self.name("c"), data.dtype, data.size, "constant", data)
            self.constants[key].directions = directions
        return self.constants[key]

    def block(self, lines: list[str], reads: list[Buffer], writes: list[Buffer], scalars: Any = None) -> None:
        self.items.append(Block(lines, reads, writes, scalars, self.note))

    def statement(
        self, shape: tuple[int, ...], text: str, dtype: np.dtype, reads: list[Access | str], inputs: Any, target: Access
    ) -> None:
        """An elementwise statement, whose literals have the dtypes `inputs`; operands that its text leaves out, as in `x**0`, are not read."""
        reads = [one if f"{{{place}}}" in text else "" for place, one in enumerate(reads)]
        self.items.append(Item(tuple(size for size in shape if size > 1), text, dtype, reads, tuple(inputs), target, self.note))

    def add(self, part: Any, note: str) -> None:
        """Add a part of the function."""
        if note and note not in part.notes:
            part.notes.append(note)
        if not self.parts or self.parts[-1] is not part:
            self.parts.append(part)

    def write(self, item: Item | Block) -> None:
        """Add a block, or a statement to the last loop; begin a loop if that has another shape or another order would be wrong."""
        if type(item) is Block:
            self.add(item, item.note)
            return
        shape, text, dtype, reads, inputs, target, note = item
        loop = self.parts[-1] if self.parts else None
        loads = [one for one in reads if isinstance(one, Access)]
        fits = isinstance(loop, Loop) and loop.shape == shape and len(loop.statements) < LONGEST
        fits = fits and not any(loop.clashes(one, False) for one in loads)
        if not fits or loop.clashes(target, True):
            loop = Loop(shape)
        self.add(loop, note)
        names: list[str] = []
        for one in reads:
            found = one if isinstance(one, str) else loop.value(one)
            if found is None:
                found = self.name()
                loop.statements.append(Statement(found, one.buffer.dtype, "", (), (), None, one))
            names.append(found)
        loop.statements.append(Statement(self.name(), dtype, text, tuple(names), inputs, target, None))

    def settle(self) -> dict[np.dtype, int]:
        """Drop what no result needs, and place the buffers in the workspace; the elements that each dtype needs."""
        wanted: set[Buffer] = set()
        self.parts = [part for part in reversed(self.parts) if part.live(wanted)][::-1]
        spans, _ = spans_of(self.parts)
        self.used = list(spans)
        self.written = {buffer.root.name for part in self.parts for buffer in part.written()}
        rooms: dict[np.dtype, Room] = {}
        ends: list[tuple[int, int, Buffer]] = []
        for number, (buffer, (first, last)) in enumerate(sorted(spans.items(), key=lambda one: one[1][0])):
            if buffer.place != "work":
                continue
            while ends and ends[0][0] < first:
                dead = heappop(ends)[2]
                rooms[dead.dtype].give_back(dead.offset, dead.size)
            buffer.offset = rooms.setdefault(buffer.dtype, Room()).take(buffer.size)
            heappush(ends, (last, number, buffer))
        for buffer in (one for part in self.parts for one in part.buffers() if one.whole is not None):
            buffer.offset = buffer.root.offset + buffer.place_in_root()
        return {dtype: max(room.size, 1) for dtype, room in rooms.items()}

    def functions_used(self) -> set[tuple[str, np.dtype]]:
        """The functions of functions_template.h that the text calls."""
        text = "\n".join(line for part in self.parts for line in part.lines())
        return {(name, dtype) for name, dtype in self.functions if f"gs_{name}{suffix(dtype)}(" in text}

    def parts_with_notes(self) -> Iterator[tuple[Any, list[str]]]:
        """The loops and blocks, each with the user's lines that are new."""
        last: list[str] = []
        for part in self.parts:
            yield part, [note for note in part.notes if note not in last]
            last = part.notes

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
    directions : bool
        Whether a constant consists of unit vectors: a product with a zero of it is zero.
    """

    directions = False

    def __init__(self, name: str, dtype: np.dtype, size: int, place: str, data: np.ndarray | None = None) -> None:
        if dtype not in TYPES:
            raise Unwritten(f"an array of {dtype} has no type in C here")
        if size >= LARGEST:
            raise Unwritten(f"an array of {size} elements is too large")
        self.name, self.dtype, self.size, self.place, self.data, self.offset = name, dtype, size, place, data, 0


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


Body = Callable[[dict[Access, str]], list[str]]


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
            if other is not None and other.buffer is one.buffer and (other != one or repeats):
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
            stored = one.target is not None and (one.target.buffer in wanted or one.target.buffer.place in ("given", "result"))
            if stored or one.name in needed:
                needed.update(one.read)
                kept.append(one if stored else one._replace(target=None))
        self.statements = kept[::-1]
        wanted.update(one.load.buffer for one in kept if one.load is not None)
        return bool(kept)

    def work(self) -> int:
        """The elements that it visits, about."""
        return prod(self.shape)

    def buffers(self) -> list[Buffer]:
        return [one.buffer for one in self.accesses()]

    def written(self) -> list[Buffer]:
        return [one.target.buffer for one in self.statements if one.target is not None]

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
        Whether it reads variables of the block before.
    """

    joined = False

    def __init__(self, lines: list[str], reads: list[Buffer], writes: list[Buffer], scalars: Any = None) -> None:
        self.text, self.reads, self.writes, self.scalars = lines, reads, writes, scalars
        self.notes: list[str] = []

    def live(self, wanted: set[Buffer]) -> bool:
        if not any(one in wanted or one.place in ("given", "result") for one in self.writes):
            return False
        wanted.update(self.reads)
        return True

    def work(self) -> int:
        return max(buffer.size for buffer in self.buffers())

    def buffers(self) -> list[Buffer]:
        return [*self.reads, *self.writes]

    def written(self) -> list[Buffer]:
        return self.writes

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


class Code:
    """The statements of a function.

    Attributes
    ----------
    products : int
        Multiplications of the largest product or factorisation.
    factorises : bool
        Whether it factorises a matrix.
    failure : Buffer or None
        An integer that is not 0 if a matrix was singular.
    """

    def __init__(self) -> None:
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

    def add(self, part: Any) -> None:
        if self.note and self.note not in part.notes:
            part.notes.append(self.note)
        if not self.parts or self.parts[-1] is not part:
            self.parts.append(part)

    def block(self, lines: list[str], reads: list[Buffer], writes: list[Buffer], scalars: Any = None) -> None:
        self.add(Block(lines, reads, writes, scalars))

    def statement(
        self, shape: tuple[int, ...], text: str, dtype: np.dtype, reads: list[Access | str], inputs: Any, target: Access
    ) -> None:
        """An elementwise statement; the text has `{0}`, `{1}`, ... for its operands, and literals have the dtypes `inputs`."""
        shape = tuple(size for size in shape if size > 1)
        loop = self.parts[-1] if self.parts else None
        loads = [one for one in reads if isinstance(one, Access)]
        fits = isinstance(loop, Loop) and loop.shape == shape and len(loop.statements) < LONGEST
        fits = fits and not any(loop.clashes(one, False) for one in loads)
        if not fits or loop.clashes(target, True):
            loop = Loop(shape)
        self.add(loop)
        names: list[str] = []
        for place, one in enumerate(reads):
            if f"{{{place}}}" not in text:  # x**0
                names.append("")
                continue
            found = one if isinstance(one, str) else loop.value(one)
            if found is None:
                found = self.name()
                loop.statements.append(Statement(found, one.buffer.dtype, "", (), (), None, one))
            names.append(found)
        loop.statements.append(Statement(self.name(), dtype, text, tuple(names), tuple(inputs), target, None))

    def settle(self, rewritten: Callable[..., Any]) -> dict[np.dtype, int]:
        """Drop what no result needs, and place the buffers in the workspace; the elements that each dtype needs.

        Parameters
        ----------
        rewritten : callable
            Takes the parts, and returns others in their place.
        """
        wanted: set[Buffer] = set()
        self.parts = rewritten([part for part in reversed(self.parts) if part.live(wanted)][::-1])
        spans: dict[Buffer, list[int]] = {}
        for place, part in enumerate(self.parts):
            for buffer in part.buffers():
                spans.setdefault(buffer, [place, place])[1] = place
        self.used = list(spans)
        self.written = {buffer.name for part in self.parts for buffer in part.written()}
        rooms: dict[np.dtype, Room] = {}
        ends: list[tuple[int, int, Buffer]] = []
        for number, (buffer, (first, last)) in enumerate(spans.items()):  # in the order of their first use
            if buffer.place != "work":
                continue
            while ends and ends[0][0] < first:
                dead = heappop(ends)[2]
                rooms[dead.dtype].give_back(dead.offset, dead.size)
            buffer.offset = rooms.setdefault(buffer.dtype, Room()).take(buffer.size)
            heappush(ends, (last, number, buffer))
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

"""Scalars: small functions with a variable for each number, in place of loops.

An element that is copied costs nothing, sums of literals are literals, and a product with 1.0 is its other factor: the bits of a
replay stay.  Products with the zeros of a sparse derivative's directions are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from .loops import Access, Block, Buffer, Loop
from .spelling import TYPES, number

MOST = 100_000  # elements that are tried
LONGEST = 10000  # statements of a function
TIMES = 2  # as many statements as the loops have
COPY, ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATIVE, SQUARE = (
    "{0}", "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "-{0}", "{0} * {0}",
)  # fmt: skip
CHOICE = "{0} ? {1} : {2}"
KNOWN = {ADD: np.add, SUBTRACT: np.subtract, MULTIPLY: np.multiply, DIVIDE: np.divide, NEGATIVE: np.negative, SQUARE: np.square}
LITERAL = re.compile(r"\(?(-?\d[\d.]*(?:e[+-]?\d+)?)(f?)\)?")


class Scalar:
    """A number: a variable, or a literal if it has a value.

    Attributes
    ----------
    zero : bool
        Whether it is a zero of a direction.
    plain : bool
        Whether it is never -0.0.
    """

    def __init__(self, text: str, dtype: np.dtype, operands: tuple[Scalar, ...] = (), value: Any = None) -> None:
        self.text, self.dtype, self.operands, self.value = text, dtype, operands, value
        self.name, self.zero, self.needed, self.buffer = "", False, False, None
        self.plain = value is not None and not (value == 0 and np.signbit(value))

    def is_(self, value: float) -> bool:
        return self.value is not None and self.value == value and np.signbit(self.value) == np.signbit(value)


class Scalars:
    """The numbers of a function, while its parts are written out one after the other.

    Parameters
    ----------
    name : callable
        Returns a new name.
    """

    def __init__(self, name: Callable[[], str]) -> None:
        self.new_name = name
        self.held: dict[Buffer, dict[int, Scalar]] = {}  # the elements that are known
        self.stale: dict[Buffer, set[int]] = {}  # those that memory does not have
        self.known: dict[tuple, Scalar] = {}
        self.items: list[Any] = []  # scalars, stores (buffer, position, scalar) and lines, in order

    def load(self, buffer: Buffer, at: int) -> Scalar:
        """An element."""
        here = self.held.setdefault(buffer, {})
        if at not in here:
            if buffer.place == "constant":
                here[at] = self.literal(number(buffer.data.ravel()[at], buffer.dtype), buffer.dtype)
                if buffer.directions and buffer.data.ravel()[at] == 0:
                    here[at] = self.nothing(buffer.dtype)
            else:
                here[at] = self.made(f"{buffer.name}[{at}]", buffer.dtype)
                here[at].buffer = buffer
        return here[at]

    def store(self, buffer: Buffer, at: int, one: Scalar) -> None:
        """Let an element be a number."""
        self.held.setdefault(buffer, {})[at] = one
        self.stale.setdefault(buffer, set()).add(at)

    def literal(self, text: str, dtype: np.dtype) -> Scalar:
        """A literal; a number of floating point has a value."""
        found = LITERAL.fullmatch(text) if dtype.kind == "f" else None
        one = Scalar(text, dtype, (), found and dtype.type(found[1]))
        one.name = text
        return one

    def nothing(self, dtype: np.dtype) -> Scalar:
        """A zero of a direction."""
        one = self.literal(number(0, dtype), dtype)
        one.zero = True
        return one

    def made(self, text: str, dtype: np.dtype, operands: tuple[Scalar, ...] = ()) -> Scalar:
        one = Scalar(text, dtype, operands)
        one.name = self.new_name()
        one.plain = text == SQUARE or text == ADD and any(part.plain for part in operands)
        self.items.append(one)
        return one

    def emit(self, text: str, dtype: np.dtype, operands: list[Scalar]) -> Scalar:
        """The value of an expression."""
        if text == COPY and operands[0].dtype == dtype:
            return operands[0]
        found = self.simpler(text, dtype, operands) if dtype.kind == "f" else None
        if found is not None:
            return found
        names = [one.name for one in operands]
        key = text, dtype, *(sorted(names) if text in (ADD, MULTIPLY) else names)
        if key not in self.known:
            self.known[key] = self.made(text, dtype, tuple(operands))
        return self.known[key]

    def simpler(self, text: str, dtype: np.dtype, operands: list[Scalar]) -> Scalar | None:
        """The value of an expression that is another number's, or a literal."""
        if text == CHOICE:
            return self.nothing(dtype) if operands[1].zero and operands[2].zero else None
        if text == f"(({TYPES[dtype]}) {{0}})" and operands[0].value is not None:
            return self.nothing(dtype) if operands[0].zero else self.literal(number(operands[0].value, dtype), dtype)
        if any(one.dtype != dtype for one in operands):
            return None
        a, b = [*operands, None, None][:2]
        if text in (NEGATIVE, SQUARE) and a.zero or text == MULTIPLY and (a.zero or b.zero) or text == DIVIDE and a.zero:
            return self.nothing(dtype)
        if text == ADD and (a.zero or b.zero):
            return b if a.zero else a
        if text == SUBTRACT and (a.zero or b.zero):
            return a if b.zero else self.emit(NEGATIVE, dtype, [b])
        if text in KNOWN and all(one.value is not None for one in operands):
            with np.errstate(all="ignore"):
                value = KNOWN[text](*(one.value for one in operands))
            return self.literal(number(value, dtype), dtype)
        if text == MULTIPLY and (a.is_(1.0) or b.is_(1.0)):
            return b if a.is_(1.0) else a
        if text == ADD and (a.is_(-0.0) or a.is_(0.0) and b.plain):
            return b
        if (
            text == ADD
            and (b.is_(-0.0) or b.is_(0.0) and a.plain)
            or text == SUBTRACT
            and b.is_(0.0)
            or text == DIVIDE
            and b.is_(1.0)
        ):
            return a
        if text in (NEGATIVE, SUBTRACT) and operands[-1].text == NEGATIVE:
            inner = operands[-1].operands
            return inner[0] if text == NEGATIVE else self.emit(ADD, dtype, [a, *inner])
        if text == ADD and NEGATIVE in (a.text, b.text):
            return self.emit(SUBTRACT, dtype, [a, *b.operands] if b.text == NEGATIVE else [b, *a.operands])
        return None

    def loop(self, loop: Loop) -> None:
        """The statements of a loop."""
        for index in np.ndindex(loop.shape):
            here: dict[str, Scalar] = {}
            for one in loop.statements:
                if one.load is not None:
                    found = self.load(one.load.buffer, place(one.load, index))
                else:
                    operands = [here.get(name) or self.literal(name, one.inputs[i]) for i, name in enumerate(one.read) if name]
                    numbers = count()
                    used = [f"{{{next(numbers)}}}" if name else "" for name in one.read]
                    found = self.emit(one.text.format(*used), one.dtype, operands)
                here[one.name] = found
                if one.target is not None:
                    self.store(one.target.buffer, place(one.target, index), found)

    def flush(self, buffers: list[Buffer]) -> None:
        """Store the elements of some buffers."""
        for buffer in dict.fromkeys(buffers):
            for at in sorted(self.stale.pop(buffer, ())):
                self.items.append((buffer, at, self.held[buffer][at]))

    def block(self, part: Block) -> None:
        """A part that stays."""
        self.flush(part.buffers())
        self.items += part.lines()
        for buffer in part.writes:
            self.held.pop(buffer, None)

    def sum(self, row: list[Scalar]) -> Scalar:
        """The sum of `gs_sum`."""
        size, dtype = len(row), row[0].dtype
        if size > 128:
            half = size // 2 - size // 2 % 8
            return self.emit(ADD, dtype, [self.sum(row[:half]), self.sum(row[half:])])
        whole = size - size % 8
        total = self.eight([row[k:whole:8] for k in range(8)]) if whole else self.literal(number(-0.0, dtype), dtype)
        for one in row[whole:]:
            total = self.emit(ADD, dtype, [total, one])
        return total

    def eight(self, parts: list[list[Scalar]]) -> Scalar:
        """The sum of eight parts."""
        sums = []
        for part in parts:
            total = part[0]
            for one in part[1:]:
                total = self.emit(ADD, one.dtype, [total, one])
            sums.append(total)
        while len(sums) > 1:
            sums = [self.emit(ADD, sums[0].dtype, sums[k : k + 2]) for k in range(0, len(sums), 2)]
        return sums[0]


def place(one: Access, index: tuple[int, ...]) -> int:
    return one.first + sum(i * stride for i, stride in zip(index, one.strides))


def written_out(parts: list[Any], name: Callable[[], str]) -> list[Any]:
    """The parts with a variable for each number if these are few statements; else the given parts."""
    if sum(part.work() * (len(part.statements) if type(part) is Loop else 1) for part in parts) > MOST:
        return parts
    scalars, ends = Scalars(name), []
    for part in parts:
        if type(part) is Loop:
            scalars.loop(part)
        elif part.scalars is not None:
            part.scalars(scalars)
        else:
            scalars.block(part)
        ends.append(len(scalars.items))
    scalars.flush([buffer for buffer in scalars.held if buffer.place in ("given", "result")])
    for item in reversed(scalars.items):
        if type(item) is tuple:
            item[2].needed = True
        elif type(item) is Scalar and item.needed:
            for one in item.operands:
                one.needed = True
    kept = sum(type(item) is not Scalar or item.needed for item in scalars.items)
    if kept > min(LONGEST, TIMES * sum(len(part.lines()) for part in parts)):
        return parts
    ends[-1:] = [len(scalars.items)]
    return [rewritten(part, scalars.items[first:last]) for part, first, last in zip(parts, [0, *ends], ends) if first < last]


def rewritten(part: Any, items: list[Any]) -> Block:
    """A part with these statements."""
    whole = type(part) is Block and part.scalars is None
    lines, reads, writes = [], list(part.reads if whole else ()), list(part.writes if whole else ())
    for item in items:
        if type(item) is str:
            lines.append(item)
        elif type(item) is tuple:
            lines.append(f"{item[0].name}[{item[1]}] = {item[2].name};")
            writes.append(item[0])
        elif item.needed:
            lines.append(f"const {TYPES[item.dtype]} {item.name} = {item.text.format(*(one.name for one in item.operands))};")
            reads += [] if item.buffer is None else [item.buffer]
    found = Block(lines, reads, writes)
    found.notes, found.joined = part.notes if lines else [], True
    return found

"""Values: the names of a program, known by the memory that they look at.

Owns identity.  Saved variables, `detach()` and views make other objects of the same array, so a value is an address, a shape,
strides and a dtype, among arrays that are kept alive while a trace is taken.  What nobody has computed is a constant, of which
the trace keeps a copy.  Knows nothing of operators.
"""

from __future__ import annotations

from bisect import bisect_right
from copy import deepcopy
from typing import Any

import numpy as np

from ..support.generator import Holder
from .arrays import bounds, held, instances_in, key_of, mapped, owner_of

__all__ = ["Memory", "Source", "Value", "bounds", "copied", "held", "held_generator", "key_of", "mapped", "owner_of",
           "same_bits", "values_in"]  # fmt: skip


class Value:
    """A name in a program.

    Attributes
    ----------
    name : str
    kind : str
        "input", "constant" or "result".
    shape : tuple of int
    dtype : numpy.dtype
    strides : tuple of int
        Where it lay in memory, in bytes.
    memory : Value
        The first value that was seen of the memory that it shares: a write to one of them is seen through all.
    data : ndarray or None
        A constant's numbers, as they were when they were first seen.
    line : tuple or None
        The user's line that brought a constant.
    hosts : list of Call
        What was going on when a constant was first seen.
    """

    def __init__(self, kind: str, array: np.ndarray, memory: Value | None = None, name: str = "") -> None:
        self.kind, self.name = kind, name
        self.shape, self.dtype, self.strides = array.shape, array.dtype, array.strides
        self.memory = self if memory is None else memory
        self.data: np.ndarray | None = None
        self.definer: Any = None
        self.line: tuple | None = None
        self.inner: str | None = None
        self.hosts: list[Any] = []

    def __repr__(self) -> str:
        return self.name or "<value>"

    @property
    def type(self) -> str:
        """Dtype and shape, as they are printed."""
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


class Source:
    """A generator of random numbers: a parameter of the program.

    Attributes
    ----------
    name : str
    state : numpy.random.Generator
        A copy of it as it was before the first draw.
    path : str
        Where it stands among the arguments of the call, if it does: `generator`, `options['rng']`.
    """

    def __init__(self, generator: Any, name: str) -> None:
        self.name, self.generator, self.path = name, generator, ""
        self.state = deepcopy(generator)

    def __repr__(self) -> str:
        return self.name


class Memory:
    """Every array that a program has met, and the value that each one is."""

    def __init__(self) -> None:
        self.values: dict[tuple, Value] = {}
        self.alive: list[np.ndarray] = []
        self.starts: list[int] = []
        self.blocks: list[tuple[int, Value, np.ndarray]] = []
        self.sources: dict[int, Source] = {}
        self.reserved: set[str] = set()  # names of parameters, which no generator of the program's own has

    def known(self, array: np.ndarray) -> Value | None:
        """The value that an array is, if the program has it."""
        return self.values.get(key_of(array))

    def enter(self, array: np.ndarray, kind: str) -> Value:
        """A new value for an array that is not known."""
        self.alive.append(array)
        block = self.block(array)
        value = Value(kind, array, None if block is None else block[1])
        self.values[key_of(array)] = value
        if block is None:
            low, high = bounds(owner_of(array))
            place = bisect_right(self.starts, low)
            self.starts.insert(place, low)
            self.blocks.insert(place, (high, value, array))
        return value

    def block(self, array: np.ndarray) -> tuple[int, Value, np.ndarray] | None:
        """The known memory that an array lies in: where it ends, the first value seen of it, and that one's array."""
        if array.size == 0:
            return None
        low, high = bounds(array)
        place = bisect_right(self.starts, low) - 1
        for block in self.blocks[max(place, 0) : place + 2]:
            if low < block[0] and bounds(owner_of(block[2]))[0] < high:
                return block
        return None

    def source(self, generator: Any, name: str = "") -> Source:
        """The parameter that a generator is; of that name, where an argument is one."""
        found = self.sources.get(id(generator))
        if found is None:
            taken = self.reserved | {source.name for source in self.sources.values()}
            count = 1
            while not name:
                word = "generator" if count == 1 else f"generator_{count}"
                count, name = count + 1, "" if word in taken else word
            found = self.sources[id(generator)] = Source(generator, name)
        return found


def held_generator(value: Any) -> Any:
    """A generator of random numbers, or None."""
    if isinstance(value, Holder):
        return value.generator
    return value if type(value).__module__.startswith("numpy.random") and hasattr(value, "bit_generator") else None


def copied(array: np.ndarray) -> np.ndarray:
    """The same numbers at the same strides, in memory of their own."""
    if array.size == 0 or array.flags.forc:
        return array.copy(order="K")
    low, high = bounds(array)
    first = array.__array_interface__["data"][0] - low
    result = np.ndarray(array.shape, array.dtype, np.zeros(high - low, np.uint8), first, array.strides)
    result[...] = array
    return result


def same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays have the same dtype, shape and bits; NaN is NaN."""
    if a is None or a.dtype != b.dtype or a.shape != b.shape:
        return False
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if a.tobytes() == b.tobytes():
        return True
    return a.dtype.kind in "fc" and bool(np.all((a == b) & (np.signbit(a.real) == np.signbit(b.real)) | (a != a) & (b != b)))


def values_in(tree: Any) -> list[Value]:
    """The values among the leaves of a tree."""
    return instances_in(tree, Value)

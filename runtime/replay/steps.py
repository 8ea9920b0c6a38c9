"""Slots and steps: a program between instructions and a tape, as the passes see it.

Owns which slots a step reads and which it writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np

ALIGNED = 64


@dataclass(slots=True)
class Slot:
    """A place for an array.

    Attributes
    ----------
    place : str
        "external" (given with each call), "constant", "planned" (in memory that is there for good), "offered" (there, if the
        forward that makes it takes what it is offered, else an array of its own), "fresh" (allocated at each call), "called"
        (made by an operator), "look" (at the memory of the slot `root`, `offset` bytes further), or "scratch".
    data : ndarray or None
        Of a constant.
    object : bool
        Whether some step wants it as a tensor.
    """

    place: str
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    root: int = -1
    offset: int = 0
    data: Any = None
    object: bool = False

    @property
    def bytes(self) -> int:
        """That it takes, a multiple of what vectors are aligned to."""
        return -(-self.dtype.itemsize * max(prod(self.shape), 1) // ALIGNED) * ALIGNED


class Loop(NamedTuple):
    """An inner loop, once or on each of some rows."""

    operator: str
    which: int  # of the operator's loops
    slots: tuple[int, ...]  # operands and result
    strides: tuple[int, ...]
    size: int  # elements, of a row where there are rows
    rows: int = 0
    jumps: tuple[int, ...] = ()  # from row to row


class Blocks(NamedTuple):
    """Loops that run block by block: the ones that follow."""

    loops: int
    size: int  # elements
    room: int  # bytes of scratch memory for each element


@dataclass(slots=True)
class Step:
    """Something that is done.

    Attributes
    ----------
    kind : str
        "loop", "rows", "move", "into", "forward", "call", "allocate", "free", "guard", "copy", and "blocks" before loops that
        run block by block.
    given : tuple
        As `Tape.add_step` reads it: `Loop` of "loop" and "rows", `Blocks` of "blocks".
    name : str
        Of the operator.
    line : tuple or None
        The user's.
    reads, writes : tuple of int
        Slots.
    """

    kind: str
    given: tuple
    name: str
    line: tuple | None
    reads: tuple[int, ...] = field(default=())
    writes: tuple[int, ...] = field(default=())


def root_of(slots: list[Slot], place: int) -> int:
    """The slot whose memory a slot lies in."""
    return slots[place].root if slots[place].place == "look" else place

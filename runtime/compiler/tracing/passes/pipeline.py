"""Passes: a program made shorter, one idea each, with the same results.

Owns their order.  Each takes the instructions and the values that are used when the program is over, and gives instructions; it
can be taken out of the table.  What is written to in place is left alone: a pass asks of memory, not of names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..instructions import Instruction
from ..values import Value
from .common_subexpressions import once
from .constant_folding import folded
from .copy_elision import uncopied
from .dead_code import needed

PASSES: dict[str, Callable[..., Any]] = {"folded": folded, "needed": needed, "once": once, "uncopied": uncopied}


def shortened(lines: list[Instruction], returned: Iterable[Value]) -> list[Instruction]:
    """The instructions after all passes."""
    returned = list(returned)
    for one in PASSES.values():
        lines = one(lines, returned)
    return lines

"""Passes: from the instructions of a recording to a program that is ready to run.

Owns their order, and which of the orders that the instructions may have is taken: the one that needs least memory, and whether
loops run twice for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..lowering.lowering import Lowered
from ..record.side_effects import waiting
from ..tracing.instructions import Instruction
from ..tracing.passes.pipeline import shortened
from ..tracing.values import Value
from .decomposition import cast, spelled
from .identity_elimination import unchanged
from .memory_scheduling import frugal
from .rematerialisation import recomputed
from .store_sinking import is_call, is_steady, late

WORTH = 0.95  # of what is planned: another order has to need less,
WORTH_LOOPS = 0.8  # and much less where loops run twice
LARGE = 1 << 16  # bytes that are planned, from which on they may


def lowered(lines: list[Instruction], inputs: list[Value], returned: Iterable[Value]) -> Lowered:
    """A program that is ready to run.

    Parameters
    ----------
    lines : list of Instruction
    inputs : list of Value
        What the program is given, in order.
    returned : iterable of Value
        What it returns, each once.

    Returns
    -------
    Lowered
    """
    returned = list(dict.fromkeys(returned))
    given = {value.memory for value in inputs}
    lines = waiting(late(cast(shortened(unchanged(spelled(lines), returned), returned)), given), is_steady, is_call)
    escaping = {value.memory for value in returned}
    first, *others = (Lowered(order, inputs, returned) for order in frugal(lines, given, escaping))
    best = min(others, key=lambda program: program.memory, default=first)
    best = best if best.memory < WORTH * first.memory else first
    again = recomputed(best.lines, given, escaping) if best.memory >= LARGE else best.lines
    if again is best.lines:
        return best
    other = Lowered(again, inputs, returned)
    return other if other.memory < WORTH_LOOPS * best.memory else best

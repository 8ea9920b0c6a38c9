"""Pass pipeline: compile the instructions of a recording to an executable.

Holds the table of the passes over instructions, in order, and chooses the memory schedule: the order of the instructions that
needs the least memory, with or without rematerialisation.  `inspection` prints and checks a program after each pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..lowering.failures import is_call, is_steady
from ..lowering.inspection import Inspection, is_last
from ..lowering.lowering import Lowered
from ..record.side_effects import sink_callbacks
from ..tracing.instructions import Instruction
from ..tracing.passes.common_subexpressions import share_subexpressions
from ..tracing.passes.constant_folding import fold_constants
from ..tracing.passes.copy_elision import elide_copies
from ..tracing.passes.dead_code import eliminate_dead_code
from ..tracing.values import Value
from .decomposition import decompose, lower_casts
from .identity_elimination import eliminate_identities
from .memory_scheduling import memory_schedules
from .rematerialisation import rematerialise
from .store_sinking import sink_stores

WORTH = 0.95  # another order is used if it needs less than this fraction of the planned memory
WORTH_LOOPS = 0.8  # the same fraction if loops run twice
LARGE = 1 << 16  # fewest bytes of planned memory for rematerialisation

# Name -> a pass over the instructions, with the memory of the inputs and the returned values.  In order.
PASSES: dict[str, Callable[[list[Instruction], set[Value], list[Value]], list[Instruction]]] = {
    "decompose": lambda lines, given, returned: decompose(lines),
    "eliminate_identities": lambda lines, given, returned: eliminate_identities(lines, returned),
    "fold_constants": lambda lines, given, returned: fold_constants(lines, returned),
    "eliminate_dead_code": lambda lines, given, returned: eliminate_dead_code(lines, returned),
    "share_subexpressions": lambda lines, given, returned: share_subexpressions(lines, returned),
    "elide_copies": lambda lines, given, returned: elide_copies(lines, returned),
    "lower_casts": lambda lines, given, returned: lower_casts(lines),
    "sink_stores": lambda lines, given, returned: sink_stores(lines, given),
    "sink_callbacks": lambda lines, given, returned: sink_callbacks(lines, is_steady, is_call),
}


def lowered(lines: list[Instruction], inputs: list[Value], returned: Iterable[Value]) -> Lowered:
    """Compile instructions to a program that is ready to run.

    Parameters
    ----------
    lines : list of Instruction
    inputs : list of Value
        The inputs, in order.
    returned : iterable of Value
        The results, each once.

    Returns
    -------
    Lowered

    Raises
    ------
    BrokenPass
        A pass made an illegal program (with `GRADSPEC_PASSES=check`).
    """
    returned = list(dict.fromkeys(returned))
    given = {value.memory for value in inputs}
    inspection = Inspection(lines, given, returned)
    for name, one in PASSES.items():
        lines = inspection.after(name, one(lines, given, returned))
        if is_last(name):
            return Lowered(lines, inputs, returned)
    escaping = {value.memory for value in returned}
    orders = [inspection.after("schedule_memory", order) for order in memory_schedules(lines, given, escaping)]
    first, *others = (Lowered(order, inputs, returned) for order in orders)
    best = min(others, key=lambda program: program.memory, default=first)
    best = best if best.memory < WORTH * first.memory else first
    if best.memory < LARGE or is_last("schedule_memory"):
        return best
    again = rematerialise(best.lines, given, escaping)
    if again is best.lines:
        return best
    other = Lowered(inspection.after("rematerialise", again), inputs, returned)
    return other if other.memory < WORTH_LOOPS * best.memory else best

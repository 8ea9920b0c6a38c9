"""The order of entries, alphabetical inside a family, an adjoint below its operator, and that of the lets of an entry.

Owns which entries stand wrong, the fewest whose removal leaves the others in order, and which lets.  Knows nothing of YAML.
"""

from __future__ import annotations

from .formula import calls_in, grad_names
from .model import Op

_OF = ("both modes", "the cotangents", "the tangents")


def misplaced(ops: list[Op]) -> list[tuple[Op, str]]:
    """The entries that stand wrong, and where each belongs.

    An adjoint is led by the entry above it when each of the two calls the other in its vjp.  A private operator stands
    where it would stand if it were public.
    """
    leaders: list[Op] = []
    for op in ops:
        if not (leaders and _calls(leaders[-1], op) and _calls(op, leaders[-1])):
            leaders.append(op)
    kept = _longest_rising(leaders)
    found = []
    for before, op in zip([None, *leaders], leaders):
        if any(op is o for o in kept):
            continue
        above = next((o for o in kept if _place(o) > _place(op)), None)
        where = f"above {above.name}" if above else f"below {kept[-1].name}"
        if above and above is before and len(_longest_rising([op if o is above else o for o in kept])) == len(kept):
            where += ", or that one below it"
        found.append((op, where))
    return found


def misplaced_lets(op: Op) -> list[tuple[str, str]]:
    """The lets that stand wrong, and what is wrong: those of both modes first, then those of `grad`, then those of `x_t`."""
    tangents = {f"{a.name}_t" for a in op.signature.arrays} - op.lets.keys()
    of: dict[str, int] = {}
    found, last = [], ""
    for name, formula in op.lets.items():
        own = 2 if formula.names & tangents else 1 if formula.names & grad_names(op).keys() else 0
        of[name] = max([own, *(of[other] for other in formula.names if other in of)])
        if last and of[name] < of[last]:
            found.append((name, f"lets of {', then of '.join(_OF)}: it belongs above '{last}'"))
        else:
            last = name if not last or of[name] > of[last] else last
    return found


def _place(op: Op) -> str:
    return op.name.lstrip("_")


def _longest_rising(ops: list[Op]) -> list[Op]:
    """The most entries that stand in alphabetical order; of two neighbours, the upper one."""
    lengths = [1] * len(ops)
    for i in range(len(ops) - 2, -1, -1):
        lengths[i] += max((lengths[j] for j in range(i + 1, len(ops)) if _place(ops[j]) >= _place(ops[i])), default=0)
    kept: list[Op] = []
    for op, length in zip(ops, lengths):
        if length == max(lengths, default=0) - len(kept) and (not kept or _place(kept[-1]) <= _place(op)):
            kept.append(op)
    return kept


def _calls(caller: Op, callee: Op) -> bool:
    formulas = [*caller.vjp.values(), *caller.lets.values()]
    return any(call.func.id in (callee.name, *callee.aliases) for f in formulas for call in calls_in(f.tree))

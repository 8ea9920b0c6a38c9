"""Order: check the order of the entries and of the lets of an entry.

Entries are alphabetical in a family.  An adjoint follows its operator, and a private operator follows its only caller.  The
reported entries are the fewest whose removal leaves the others in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .formula import called_by, grad_names
from .model import Location, Op

_OF = ("both modes", "the cotangents", "the tangents")


def owners(ops: Iterable[Op]) -> dict[str, str]:
    """The private operators whose only caller is in their family, each with the caller's name."""
    by_name = {op.name: op for op in ops}
    users: dict[str, set[str]] = {name: set() for name, op in by_name.items() if op.private}
    first: dict[Location, str] = {}  # the first operator of each entry
    for op in by_name.values():
        entry = first.setdefault(op.location, op.name)
        for name in called_by(op) & users.keys() - {op.name}:
            users[name].add(entry)
    only = {name: next(iter(found)) for name, found in users.items() if len(found) == 1}
    return {name: user for name, user in only.items() if by_name[user].family == by_name[name].family}


def misplaced(ops: Sequence[Op], owner_of: Mapping[str, str]) -> list[tuple[Op, str]]:
    """The misplaced entries of a family, each with a message about its right place.

    A private operator with one caller is below its caller, together with the private operators that it alone calls.  An
    adjoint may be below its operator: each of the two calls the other in its vjp.  All other entries are alphabetical,
    ignoring a leading underscore.
    """
    leaders, found = [], []
    above: list[Op] = []  # the entries that own the last entry, and the last entry
    for before, op in zip([None, *ops], ops):
        if before and before.location == op.location:  # another rank of the same entry
            continue
        owner = owner_of.get(op.name)
        if owner:
            up = next((o for o in above if o.name == owner), None)
        else:
            up = next((o for o in reversed(above) if _calls(o, op) and _calls(op, o)), None)
        if up:
            above = above[: above.index(up) + 1]
        elif owner:
            found.append((op, f"only {owner} calls it: it belongs directly below {owner}"))
        else:
            leaders.append(op)
            above = []
        above = [*above, op]
    return found + _out_of_order(leaders)


def _out_of_order(leaders: list[Op]) -> list[tuple[Op, str]]:
    kept = _longest_rising(leaders)
    found = []
    for before, op in zip([None, *leaders], leaders):
        if any(op is o for o in kept):
            continue
        above = next((o for o in kept if _place(o) > _place(op)), None)
        where = f"above {above.name}" if above else f"below {kept[-1].name}"
        if above and above is before and len(_longest_rising([op if o is above else o for o in kept])) == len(kept):
            where += ", or that one below it"
        found.append((op, f"entries are alphabetical: it belongs {where}"))
    return found


def misplaced_lets(op: Op) -> list[tuple[str, str]]:
    """The misplaced lets, each with a message: first the lets of both modes, then those with `grad`, then those with `x_t`."""
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
    """A longest subsequence of entries in alphabetical order; of two neighbours it keeps the upper one."""
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
    return any(name in formula.calls for formula in formulas for name in (callee.name, *callee.aliases))


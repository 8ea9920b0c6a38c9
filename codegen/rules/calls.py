"""What the formulas of an entry call, once they are resolved: operators, helpers and kernels.

Owns the walk from an entry to all that its value and its rules rest on.  Knows nothing of how any of it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from ..errors import ErrorList
from ..spec.expression import Call, Expression, Foreign, Helper, walk
from ..spec.formula import formulas_of
from ..spec.model import Op, Spec

T = TypeVar("T")


def expressions_of(op: Op) -> Iterator[Expression]:
    """What an op is computed by, with the rules that follow from what the entry writes, and what it is held to."""
    for formula in (*formulas_of(op).values(), *op.laws):
        if formula.expression is not None:
            yield formula.expression
    if op.derived is not None:
        yield from op.derived.vjp.values()
        yield from op.derived.jvp.values()


def ops_of(op: Op) -> set[str]:
    """The operators that it calls."""
    return {node.op for expression in expressions_of(op) for node in walk(expression) if isinstance(node, Call) and node.op}


def helpers_of(op: Op) -> set[str]:
    """The helpers of formulas that it calls."""
    return {node.function for expression in expressions_of(op) for node in walk(expression) if isinstance(node, Helper)}


def kernels_of(op: Op) -> set[str]:
    """The kernels that it names."""
    nodes = (node for expression in expressions_of(op) for node in walk(expression))
    return {node.path[0] for node in nodes if isinstance(node, Foreign) and node.root == "kernels"}


def reached(start: T, called: Callable[[T], Iterable[T]]) -> set[T]:
    """Something and all that is called from it, by any number of steps."""
    found, pending = {start}, [start]
    while pending:
        more = {other for other in called(pending.pop()) if other not in found}
        found |= more
        pending += more
    return found


def rank(errors: ErrorList, ops: Mapping[str, Op]) -> None:
    """Puts what is wrong with an operator before what is wrong with its callers; two in a circle stand as in the file."""
    wrong = {error.op for error in errors.errors} & ops.keys()
    calls = {name: reached(name, lambda other: ops_of(ops[other]) & ops.keys()) for name in wrong}
    for error in errors.errors:
        if error.op in wrong:
            error.rank = sum(error.op not in calls[other] for other in calls[error.op] & wrong)


def without(spec: Spec, refused: set[str]) -> Spec:
    """The spec without some of its entries, and without those that call any of them."""
    if not refused:
        return spec
    kept = {name: op for name, op in spec.ops.items() if name not in refused}
    while gone := [name for name, op in kept.items() if not ops_of(op) <= kept.keys()]:
        for name in gone:
            del kept[name]
    families = (replace(family, ops=tuple(kept[op.name] for op in family.ops if op.name in kept)) for family in spec.families)
    return replace(spec, families=tuple(families))

"""Calls: find the operators, helpers and kernels that the resolved formulas of an entry use.

Walks from an entry to everything that its value and its rules depend on.
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
    """The expressions of an op: its formulas, its derived rules and its laws."""
    for formula in (*formulas_of(op).values(), *op.laws):
        if formula.expression is not None:
            yield formula.expression
    if op.derived is not None:
        yield from op.derived.vjp.values()
        yield from op.derived.jvp.values()


def ops_of(op: Op) -> set[str]:
    """The operators that the op calls."""
    return {node.op for expression in expressions_of(op) for node in walk(expression) if isinstance(node, Call) and node.op}


def helpers_of(op: Op) -> set[str]:
    """The formula helpers that the op calls."""
    return {node.function for expression in expressions_of(op) for node in walk(expression) if isinstance(node, Helper)}


def kernels_of(op: Op) -> set[str]:
    """The kernels that the op names."""
    nodes = (node for expression in expressions_of(op) for node in walk(expression))
    return {node.path[0] for node in nodes if isinstance(node, Foreign) and node.root == "kernels"}


def reached(start: T, called: Callable[[T], Iterable[T]]) -> set[T]:
    """`start` and everything that it calls, directly or indirectly."""
    found, pending = {start}, [start]
    while pending:
        more = {other for other in called(pending.pop()) if other not in found}
        found |= more
        pending += more
    return found


def rank(errors: ErrorList, ops: Mapping[str, Op]) -> None:
    """Order the errors of an operator before the errors of its callers; ops that call each other keep the order of the file."""
    wrong = {error.op for error in errors.errors} & ops.keys()
    calls = {name: reached(name, lambda other: ops_of(ops[other]) & ops.keys()) for name in wrong}
    for error in errors.errors:
        if error.op in wrong:
            error.rank = sum(error.op not in calls[other] for other in calls[error.op] & wrong)


def without(spec: Spec, refused: set[str]) -> Spec:
    """The spec without the entries `refused` and their callers."""
    if not refused:
        return spec
    kept = {name: op for name, op in spec.ops.items() if name not in refused}
    while gone := [name for name, op in kept.items() if not ops_of(op) <= kept.keys()]:
        for name in gone:
            del kept[name]
    families = (replace(family, ops=tuple(kept[op.name] for op in family.ops if op.name in kept)) for family in spec.families)
    return replace(spec, families=tuple(families))

"""Elementwise operators: find operators whose result at a position depends only on their arguments at that position.

Also decides which of them have a value in NumPy's functions or in a `reference:`, which can be computed to any precision.  Reads
resolved formulas and computes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .expression import Call, Expression, Foreign, walk
from .model import Op
from .numpy_names import functions

_PLAIN = ("Array", "float", "Scalar", "int", "str")


def is_elementwise(op: Op, ops: Mapping[str, Op]) -> bool:
    """Whether an entry is a partial, or a composite of partials, and takes only arrays, numbers and strings."""
    arguments = op.signature.arguments
    if any(a.type.base not in _PLAIN or a.type.is_list for a in arguments) or any(a.name == "axis" for a in arguments):
        return False
    if len(op.signature.outputs) != 1:
        return False
    if op.form != "composite":
        return op.form == "partial"
    called = [ops[name] for name in called_by(op)]
    return bool(re.fullmatch(r"\w+(, \w+)* -> (\w+|broadcast\(.*\))", op.shape or "")) and op not in called and all(
        is_elementwise(other, ops) for other in called
    )


def has_value(op: Op, ops: Mapping[str, Op]) -> bool:
    """Whether an elementwise entry computes NumPy functions, has a `reference:`, or is a composite of such operators."""
    if op.composite is not None:
        return all(has_value(ops[name], ops) for name in called_by(op))
    if op.reference is not None or op.forward is None:
        return op.reference is not None
    parts = list(walk(op.forward.expression)) if op.forward.expression is not None else []
    kernels = {node.path[0] for node in parts if isinstance(node, Foreign) and node.root == "kernels"}
    return kernels <= functions()  # a kernel with the name of a NumPy function computes that function


def called_by(op: Op) -> list[str]:
    """The operators that a composite calls, directly or in its lets."""
    expressions = [op.composite.expression if op.composite else None, *op.let_expressions.values()]
    return [name for expression in expressions if expression is not None for name in _names(expression)]


def _names(expression: Expression) -> Iterator[str]:
    for node in walk(expression):
        if isinstance(node, Call) and node.op:
            yield node.op

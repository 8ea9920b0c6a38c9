"""Samples by shape: select samples for an entry by its `shape:`, so that the entry writes only special ones.

Decides which shapes are equivalent (`a, b -> broadcast(a, b)` and `x, target -> broadcast(x, target)`), and which calls of a list
fit the signature, dtype and domain of an entry.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from ..errors import SpecError
from .formula import bind_call
from .model import Argument, Formula, Op

_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_FUNCTIONS = ("broadcast", "reduce")
_AXIS = ("axis", "axes")
_LITERALS = {"int": (int,), "float": (int, float), "Scalar": (int, float), "Array": (int, float)}


def alike(shape: str) -> str:
    """A shape with its names numbered in order: equal for equivalent shapes."""
    names: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        return match[0] if match[0] in _FUNCTIONS else names.setdefault(match[0], f"n{len(names)}")

    return "".join(_NAME.sub(renamed, shape).split())


def fitting(calls: Iterable[Formula], op: Op) -> tuple[Formula, ...]:
    """The calls that an op takes; none if its domain has an equality, because no values can be drawn into it."""
    comparisons = [n for n in ast.walk(op.domain.tree) if isinstance(n, ast.Compare)] if op.domain else []
    if any(isinstance(operator, ast.Eq) for n in comparisons for operator in n.ops):
        return ()
    return tuple(call for call in calls if isinstance(call.tree, ast.Call) and _fits(call.tree, op))


def _fits(call: ast.Call, op: Op) -> bool:
    try:
        bound = bind_call(call, op.signature)
    except SpecError:
        return False
    if any(a.name in _AXIS and not a.type.optional for a in op.signature.arguments) and any(map(_no_axis, bound.values())):
        return False
    return all(_takes(op, op.signature.argument(name), value) for name, value in bound.items())


def _no_axis(value: ast.expr) -> bool:
    """Whether an expression is a maker of a 0-d array."""
    return isinstance(value, ast.Call) and not value.args


def _takes(op: Op, argument: Argument, value: ast.expr) -> bool:
    kind = argument.type
    if any(isinstance(node, ast.Call) for node in ast.walk(value)):
        return kind.is_array and not kind.is_list
    literal = ast.literal_eval(value)
    if isinstance(literal, tuple):
        return kind.is_list and kind.length is None and kind.base == "int"
    if argument.is_array and op.dtype in ("int", "bool") and not isinstance(literal, int):
        return False
    if isinstance(literal, bool) or kind.base == "bool":
        return isinstance(literal, bool) and kind.base == "bool"
    return isinstance(literal, _LITERALS.get(kind.base, ()))


def repeated(own: Iterable[Formula], given: Iterable[Formula], op: Op) -> Iterator[Formula]:
    """The samples of an entry that are already given or written twice, in any spelling."""
    seen = {_spelled(call, op) for call in given}
    for call in own:
        spelled = _spelled(call, op)
        if spelled in seen:
            yield call
        seen.add(spelled)


def _spelled(call: Formula, op: Op) -> str:
    """A call with all arguments by name, without arguments that equal their default."""
    if not isinstance(call.tree, ast.Call):
        return call.source
    try:
        bound = bind_call(call.tree, op.signature)
    except SpecError:  # reported elsewhere
        return call.source
    defaults = {a.name: a.default and ast.unparse(ast.parse(a.default, mode="eval")) for a in op.signature.arguments}
    return ", ".join(f"{name}={ast.unparse(v)}" for name, v in sorted(bound.items()) if ast.unparse(v) != defaults[name])

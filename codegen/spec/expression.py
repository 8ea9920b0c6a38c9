"""Resolved formulas: expressions whose names, calls and operators are known.

Defines the nodes of expressions, their kinds and places, and the walks over them.  An operator between arrays is a Call of the op
that implements it.  A Call has one argument for each parameter of its op.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from .model import Location

ARRAY, ARRAYS, STATIC = "array", "arrays", "static"


@dataclass(frozen=True)
class Expression:
    """An expression whose value is an ARRAY, ARRAYS (a list or tuple of arrays) or STATIC (plain Python data)."""

    kind: str = field(default=STATIC, kw_only=True)
    at: Location | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True)
class Name(Expression):
    """An input, an output, a cotangent, a tangent or a let."""

    name: str


@dataclass(frozen=True)
class Constant(Expression):
    value: Any


@dataclass(frozen=True)
class Metadata(Expression):
    """`x.shape`, `x.ndim`, `x.dtype` or `x.size` of an input or output, which saves no array."""

    name: str
    attribute: str


@dataclass(frozen=True)
class Call(Expression):
    """A call of an op; `arguments` are in the order of its parameters, with None for a default."""

    op: str  # by Python name; empty for NumPy's operator, if no entry has it
    arguments: tuple[Expression | None, ...]
    operator: str = ""  # "*" if it is written as an operator


@dataclass(frozen=True)
class Helper(Expression):
    """A call of a helper, a function of static values."""

    function: str
    arguments: tuple[Expression, ...]
    keywords: tuple[tuple[str, Expression], ...] = ()


@dataclass(frozen=True)
class Foreign(Expression):
    """A name in `np` or `kernels`, or an attribute of a value; a call if `arguments` is not None.

    Only `forward`, `inplace` and `placed` contain it.  A `pointwise` function runs in inner loops, element by element.
    """

    root: Expression | str
    path: tuple[str, ...]
    arguments: tuple[Expression, ...] | None = None
    keywords: tuple[tuple[str, Expression], ...] = ()
    pointwise: bool = False


@dataclass(frozen=True)
class Operation(Expression):
    """Python's own operators on static values, possibly a chain of comparisons."""

    operators: tuple[str, ...]  # "not", "-", "+" with one operand; else one between two neighbours
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Conditional(Expression):
    """One of two values, selected by a test that is static except in NumPy formulas."""

    test: Expression
    body: Expression
    orelse: Expression


@dataclass(frozen=True)
class Sequence(Expression):
    items: tuple[Expression, ...]
    is_list: bool = False


@dataclass(frozen=True)
class Item(Expression):
    value: Expression
    index: Expression


@dataclass(frozen=True)
class Slice(Expression):
    """start:stop:step inside an Item."""

    bounds: tuple[Expression | None, Expression | None, Expression | None]


# All node types, for passes that must handle each of them.
NODES = (Name, Constant, Metadata, Call, Helper, Foreign, Operation, Conditional, Sequence, Item, Slice)


def children(expression: Expression) -> list[Expression]:
    """The child expressions, in the order of the source."""
    found: list[Expression] = []
    for part in _parts(type(expression)):
        _add_expressions(getattr(expression, part), found)
    return found


@functools.cache
def _parts(node: type[Expression]) -> tuple[str, ...]:
    """The fields of a node type, except the fields of every Expression."""
    return tuple(part.name for part in fields(node) if part.name not in ("kind", "at"))


def _add_expressions(value: Any, found: list[Expression]) -> None:
    if isinstance(value, Expression):
        found.append(value)
    elif isinstance(value, tuple):
        for item in value:
            _add_expressions(item, found)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all its subexpressions, in the order of the source."""
    pending = [expression]
    while pending:
        expression = pending.pop()
        yield expression
        pending += reversed(children(expression))


def names_of(expression: Expression) -> list[str]:
    """The names whose values an expression reads, in order of first use, without names whose metadata alone is read."""
    return list(dict.fromkeys(node.name for node in walk(expression) if isinstance(node, Name)))


def mapped(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with `change` applied to each child expression."""

    def inside(value: Any) -> Any:
        if isinstance(value, Expression):
            return change(value)
        return tuple(map(inside, value)) if isinstance(value, tuple) else value

    return replace(expression, **{part.name: inside(getattr(expression, part.name)) for part in fields(expression)})


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """The expression with some names replaced by other names."""
    if isinstance(expression, Name):
        return replace(expression, name=names.get(expression.name, expression.name))
    return mapped(expression, lambda part: renamed(part, names))


def substituted(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """The expression with some names replaced by expressions."""
    if isinstance(expression, Name):
        return values.get(expression.name, expression)
    return mapped(expression, lambda part: substituted(part, values))


def wider(*kinds: str) -> str:
    """The kind of a value that is computed from values of the given kinds."""
    return next((kind for kind in (ARRAYS, ARRAY) if kind in kinds), STATIC)


def terms(expression: Expression) -> list[tuple[Expression, bool]]:
    """The summands of an expression, each with whether it is subtracted."""
    match expression:
        case Call(operator="+", arguments=(left, right)):
            return terms(left) + terms(right)
        case Call(operator="-", arguments=(left, right)):
            return terms(left) + [(term, not minus) for term, minus in terms(right)]
        case Call(operator="-", arguments=(Call(operator="+" | "-", arguments=(_, _)) as sum_,)):
            return [(term, not minus) for term, minus in terms(sum_)]
    return [(expression, False)]


def lets_in(expression: Expression, lets: Mapping[str, Expression]) -> tuple[str, ...]:
    """The lets that an expression needs, directly or through other lets, in the order of their definition."""
    needed: set[str] = set()
    pending = [expression]
    while pending:
        for node in walk(pending.pop()):  # `.dtype` of a let needs the let
            if isinstance(node, Name | Metadata) and node.name in lets and node.name not in needed:
                needed.add(node.name)
                pending.append(lets[node.name])
    return tuple(name for name in lets if name in needed)


def values_in(expression: Expression, lets: Mapping[str, Expression]) -> list[tuple[str, str | None]]:
    """The values that an expression reads, directly or through lets: (name, attribute or None), in order of first use."""
    found: dict[tuple[str, str | None], None] = {}
    for part in [*(lets[name] for name in lets_in(expression, lets)), expression]:
        for node in walk(part):
            if isinstance(node, Metadata):
                found[node.name, node.attribute] = None
            elif isinstance(node, Name) and node.name not in lets:
                found[node.name, None] = None
    return list(found)

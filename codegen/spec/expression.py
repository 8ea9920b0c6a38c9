"""The resolved formula: an expression whose names, calls and operators are known.

Owns the nodes that every pass after resolution matches on, their kinds and places, and the walks over them.  An
operator between arrays is a call of the op that it means; a call has every argument in the place of its parameter.
Knows nothing of forms, of text or of how an expression is run.
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
    """Something that has a value: ARRAY, ARRAYS (a list or tuple of arrays) or STATIC (plain Python data)."""

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
    """An op; `arguments` follow its parameters and hold None where the default stands."""

    op: str  # by Python name; empty for an operator that no entry has, which is then NumPy's
    arguments: tuple[Expression | None, ...]
    operator: str = ""  # "*" where it is written so


@dataclass(frozen=True)
class Helper(Expression):
    """A function of static values."""

    function: str
    arguments: tuple[Expression, ...]
    keywords: tuple[tuple[str, Expression], ...] = ()


@dataclass(frozen=True)
class Foreign(Expression):
    """A name below `np` or `kernels`, or an attribute of a value; called where `arguments` is not None.

    Stands in `forward` and `inplace` only.  A `pointwise` one runs by inner loops, element by element.
    """

    root: Expression | str
    path: tuple[str, ...]
    arguments: tuple[Expression, ...] | None = None
    keywords: tuple[tuple[str, Expression], ...] = ()
    pointwise: bool = False


@dataclass(frozen=True)
class Operation(Expression):
    """Python's own operators on static values; a comparison may be a chain."""

    operators: tuple[str, ...]  # "not", "-", "+" before one operand; else one between each two
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Conditional(Expression):
    """One of two values, by a static test."""

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


# Every node: what resolution makes, and what evaluation and spelling have to know.
NODES = (Name, Constant, Metadata, Call, Helper, Foreign, Operation, Conditional, Sequence, Item, Slice)


def children(expression: Expression) -> list[Expression]:
    """The expressions directly inside, in the order in which they are read."""
    found: list[Expression] = []
    for part in _parts(type(expression)):
        _add_expressions(getattr(expression, part), found)
    return found


@functools.cache
def _parts(node: type[Expression]) -> tuple[str, ...]:
    """The fields of a kind of node, without those of every expression."""
    return tuple(part.name for part in fields(node) if part.name not in ("kind", "at"))


def _add_expressions(value: Any, found: list[Expression]) -> None:
    if isinstance(value, Expression):
        found.append(value)
    elif isinstance(value, tuple):
        for item in value:
            _add_expressions(item, found)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all inside it, in the order in which they are read."""
    pending = [expression]
    while pending:
        expression = pending.pop()
        yield expression
        pending += reversed(children(expression))


def names_of(expression: Expression) -> list[str]:
    """The names whose values are read, in order of first use; metadata is not among them."""
    return list(dict.fromkeys(node.name for node in walk(expression) if isinstance(node, Name)))


def mapped(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with `change` applied to each expression directly inside."""

    def inside(value: Any) -> Any:
        if isinstance(value, Expression):
            return change(value)
        return tuple(map(inside, value)) if isinstance(value, tuple) else value

    return replace(expression, **{part.name: inside(getattr(expression, part.name)) for part in fields(expression)})


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """The expression with some names read as others."""
    if isinstance(expression, Name):
        return replace(expression, name=names.get(expression.name, expression.name))
    return mapped(expression, lambda part: renamed(part, names))


def substituted(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """The expression with some names replaced by expressions."""
    if isinstance(expression, Name):
        return values.get(expression.name, expression)
    return mapped(expression, lambda part: substituted(part, values))


def wider(*kinds: str) -> str:
    """The kind of what is made of values of these kinds."""
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
    """The lets that an expression needs, those that its lets need included, in the order of their definition."""
    needed: set[str] = set()
    pending = [expression]
    while pending:
        for node in walk(pending.pop()):  # `.dtype` of a let needs the let
            if isinstance(node, Name | Metadata) and node.name in lets and node.name not in needed:
                needed.add(node.name)
                pending.append(lets[node.name])
    return tuple(name for name in lets if name in needed)


def values_in(expression: Expression, lets: Mapping[str, Expression]) -> list[tuple[str, str | None]]:
    """What an expression reads, lets included: (name, attribute or None), in order of first use."""
    found: dict[tuple[str, str | None], None] = {}
    for part in [*(lets[name] for name in lets_in(expression, lets)), expression]:
        for node in walk(part):
            if isinstance(node, Metadata):
                found[node.name, node.attribute] = None
            elif isinstance(node, Name) and node.name not in lets:
                found[node.name, None] = None
    return list(found)

"""Coverage: find the parts of an entry that no sample tries.

Records a run: the side that each conditional took, and the outcomes of each condition on arrays.  The parts to try are arguments
with other values than their defaults, branches, the words of string arguments, conditions on arrays both ways, and comparisons
at equality.  Must not depend on derivatives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..spec.cases import ELSE, Chosen, case_of
from ..spec.model import Op, Span

SHOWN = 40  # characters of a branch that a message shows
Place = tuple[int, int, int, int]  # the first and last position of a node


class Record:
    """The outcomes in formulas since `clear`; a node is identified by its place in the file."""

    def __init__(self) -> None:
        self.seen: dict[Place, set[bool]] = {}  # the outcomes of conditionals and of conditions on arrays
        self.last: dict[Place, bool] = {}  # the last side that each conditional took
        self.level: set[Place] = set()  # comparisons of arrays with an equal pair of elements

    def clear(self) -> None:
        self.seen.clear()
        self.level.clear()

    def took(self, at: Span, test: Any) -> bool:
        """Record the side that a conditional takes, and return it."""
        side = bool(test)
        self.seen.setdefault(_span(at), set()).add(side)
        self.last[_span(at)] = side
        return side

    def chosen(self, tree: ast.expr) -> Chosen:
        """The case of a formula that was taken last, and its name; the name is empty without cases."""
        found = (tree, "")
        while case := case_of(tree):
            side = self.last.get(_place(tree))
            if side is None:
                break
            tree, found = (tree.body, (tree.body, case)) if side else (tree.orelse, (tree.orelse, ELSE))
        return found

    def came_to(self, at: Span | None, value: Any) -> Any:
        """Record the values in an array of booleans."""
        if isinstance(at, Span) and _is_condition(value):
            seen = self.seen.setdefault(_span(at), set())
            seen.update(side for side in (False, True) if side not in seen and np.any(value == side))
        return value

    def compared(self, at: Span | None, value: Any, left: Any, right: Any) -> Any:
        """Record the outcomes of a comparison of arrays, and whether some elements are equal."""
        self.came_to(at, value)
        if isinstance(at, Span) and _is_condition(value) and np.any(np.equal(left, right)):
            self.level.add(_span(at))
        return value


def _is_condition(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.bool_)) and value.dtype == bool


def _span(at: Span) -> Place:
    return at.line, at.column - 1, at.end_line, at.end_column - 1


class Word(str):
    """A string argument that no op knows; it records the strings that it is compared with."""

    def __new__(cls) -> Word:
        word = super().__new__(cls, "?")
        word.known = set()
        return word

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            self.known.add(str(other))
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def still(value: Any, default: Any) -> bool:
    """Whether an argument equals its default."""
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return False
    return value is default or type(value) is type(default) and value == default or _same_number(value, default)


def untried(tree: ast.expr, record: Record) -> Iterator[tuple[ast.expr, str]]:
    """The parts of an expression that no run tried: each with its node and the message."""
    for node in ast.walk(tree):
        seen = record.seen.get(_place(node), set()) if isinstance(node, ast.expr) else set()
        if case := case_of(node):
            chosen = [(case, True, node.body), *([] if case_of(node.orelse) else [(ELSE, False, node.orelse)])]
            yield from ((body, f"no sample takes the case `{name}`") for name, side, body in chosen if side not in seen)
        elif isinstance(node, ast.IfExp):
            if True not in seen:
                yield node.body, f"no sample takes the branch `{_short(f'{_text(node.body)} if {_text(node.test)}')}`"
            if False not in seen and not isinstance(node.orelse, ast.IfExp):
                yield node.orelse, f"no sample takes the branch `{_short(f'else {_text(node.orelse)}')}`"
        elif isinstance(node, ast.Compare) and seen and _place(node) not in record.level:
            yield node, f"no sample and no kink stands on `{_text(node.left)} == {_text(node.comparators[0])}`"
        elif seen:  # a condition on arrays, in a branch that was taken
            for value in sorted({True, False} - seen):
                yield node, f"no sample and no kink makes `{_short(_text(node))}` {str(value).lower()}"


def string_arguments(op: Op) -> list[str]:
    return [a.name for a in op.signature.arguments if a.type.base == "str" and not a.type.is_list]


def _same_number(value: Any, default: Any) -> bool:
    numbers = (int, float, complex)
    return isinstance(value, numbers) and isinstance(default, numbers) and value == default


def _place(node: ast.expr) -> Place:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


_text = ast.unparse


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 4].rstrip() + " ..."

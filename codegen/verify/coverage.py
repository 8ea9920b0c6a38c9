"""Coverage: what the samples of an entry have not tried, in the words of the entry.

Owns the record of a run (the side that each conditional took, the outcome of each condition on arrays) and the list of what has
to be tried: every argument away from its default, every branch, every word that a string argument knows, every condition on
arrays both ways, and every comparison at equal sides.  Must not know what a derivative is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..spec.cases import ELSE, Chosen, case_of
from ..spec.model import Op, Span

SHOWN = 40  # characters of a branch that a message shows
Place = tuple[int, int, int, int]  # where a node starts and ends


class Record:
    """What formulas did since `clear`; nodes are told apart by where they stand in the file."""

    def __init__(self) -> None:
        self.seen: dict[Place, set[bool]] = {}  # conditionals, and conditions on arrays: what they came to
        self.last: dict[Place, bool] = {}  # conditionals: the side that each took last
        self.level: set[Place] = set()  # comparisons of arrays whose sides were equal somewhere

    def clear(self) -> None:
        self.seen.clear()
        self.level.clear()

    def took(self, at: Span, test: Any) -> bool:
        """Notes on which side a conditional goes on."""
        side = bool(test)
        self.seen.setdefault(_span(at), set()).add(side)
        self.last[_span(at)] = side
        return side

    def chosen(self, tree: ast.expr) -> Chosen:
        """The case of a formula that was taken last, and its name; nothing of one without cases."""
        found = (tree, "")
        while case := case_of(tree):
            side = self.last.get(_place(tree))
            if side is None:
                break
            tree, found = (tree.body, (tree.body, case)) if side else (tree.orelse, (tree.orelse, ELSE))
        return found

    def came_to(self, at: Span | None, value: Any) -> Any:
        """Notes which values an array of booleans holds."""
        if isinstance(at, Span) and _is_condition(value):
            seen = self.seen.setdefault(_span(at), set())
            seen.update(side for side in (False, True) if side not in seen and np.any(value == side))
        return value

    def compared(self, at: Span | None, value: Any, left: Any, right: Any) -> Any:
        """Notes what a comparison of arrays came to, and whether its sides are equal somewhere."""
        self.came_to(at, value)
        if isinstance(at, Span) and _is_condition(value) and np.any(np.equal(left, right)):
            self.level.add(_span(at))
        return value


def _is_condition(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.bool_)) and value.dtype == bool


def _span(at: Span) -> Place:
    return at.line, at.column - 1, at.end_line, at.end_column - 1


class Word(str):
    """A string argument that no op knows, and that notes what it is compared with."""

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
    """Whether an argument is what it would be if it were not given."""
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return False
    return value is default or type(value) is type(default) and value == default or _same_number(value, default)


def untried(tree: ast.expr, record: Record) -> Iterator[tuple[ast.expr, str]]:
    """What of an expression no run tried: a node, and the message that says so."""
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

"""Coverage: what the samples of an entry have not tried, in the words of the entry.

Owns the record of a run (which side each conditional took) and what has to be tried: every argument away from its default,
every branch, every word that a string argument knows.  Must not know what a derivative is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..spec.model import Op

SHOWN = 40  # characters of a branch that a message shows
Place = tuple[int, int]  # line and column of a node


class Record:
    """What formulas did since `clear`; nodes are told apart by where they stand in the file."""

    def __init__(self) -> None:
        self.taken: set[tuple[Place, bool]] = set()

    def clear(self) -> None:
        self.taken.clear()

    def took(self, line: int, column: int, test: Any) -> bool:
        """Notes on which side a conditional goes on."""
        side = bool(test)
        self.taken.add(((line, column), side))
        return side

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """What the nodes that `watched` puts into a formula call."""
        return {"took()": self.took}


def watched(tree: ast.expr) -> ast.expr:
    """The expression with conditionals that tell a Record where they go; changes it in place."""
    return ast.fix_missing_locations(_Watch().visit(tree))


class _Watch(ast.NodeTransformer):
    def visit_IfExp(self, node: ast.IfExp) -> ast.IfExp:
        self.generic_visit(node)
        node.test = ast.Call(ast.Name("took()", ast.Load()), [*map(ast.Constant, _place(node)), node.test], [])
        return node


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


def untaken(trees: Iterable[ast.expr], record: Record) -> Iterator[tuple[ast.expr, str]]:
    """The branches that no run took, each with its text."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.IfExp):
                place = _place(node)
                if (place, True) not in record.taken:
                    yield node.body, _short(f"{ast.unparse(node.body)} if {ast.unparse(node.test)}")
                if (place, False) not in record.taken and not isinstance(node.orelse, ast.IfExp):
                    yield node.orelse, _short(f"else {ast.unparse(node.orelse)}")


def string_arguments(op: Op) -> list[str]:
    return [a.name for a in op.signature.arguments if a.type.base == "str" and not a.type.is_list]


def _same_number(value: Any, default: Any) -> bool:
    numbers = (int, float, complex)
    return isinstance(value, numbers) and isinstance(default, numbers) and value == default


def _place(node: ast.expr) -> Place:
    return node.lineno, node.col_offset


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 4].rstrip() + " ..."

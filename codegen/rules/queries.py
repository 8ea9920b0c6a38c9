"""Queries: record the entries and library names that an analysis reads, so that it is repeated only when they change.

Defines the kinds of queries and when two answers are equal.  Must not depend on the purpose of a query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..spec.library import Library
from ..spec.model import Op
from .resolve import Vocabulary

Answers = Mapping[tuple[str, str], str]
OP, OPERATOR, HELPER, KERNEL = "op", "operator", "helper", "kernel"


class Asked:
    """A vocabulary and a library that record queries."""

    def __init__(self, ops: Iterable[Op], library: Library):
        self._vocabulary, self._library = Vocabulary.of(ops, library.helpers, library.operators.values()), library
        self._noted: set[tuple[str, str]] = set()
        known = self._vocabulary
        self.vocabulary = Vocabulary(*(_Noted(names, kind, self._noted) for names, kind in (
            (known.ops, OP), (known.helpers, HELPER), (known.operators, OPERATOR))))  # fmt: skip
        kernels = {name: _NotedNames(getattr(library, name), self._noted) for name in ("kernels", "unexported", "pointwise")}
        self.library = replace(library, **kernels)

    def answers(self) -> Answers:
        """The answers to the queries since the last call."""
        found = {question: self._answer(*question) for question in self._noted}
        self._noted.clear()
        return found

    def same(self, answers: Answers) -> bool:
        """Whether all queries still have these answers."""
        return all(self._answer(*question) == answer for question, answer in answers.items())

    def _answer(self, kind: str, name: str) -> str:
        known, library = self._vocabulary, self._library
        if kind == OP:
            return _said(known.ops[name]) if name in known.ops else ""
        if kind == HELPER:
            return known.helpers[name].source if name in known.helpers else ""
        if kind == OPERATOR:
            return known.operators.get(name, "")
        return "".join("01"[name in names] for names in (library.kernels, library.unexported, library.pointwise))


def _said(op: Op) -> str:
    """The part of an entry that its callers depend on, without its formulas and rules."""
    return f"{op.signature.source}: {op.name} {op.operator} {op.form} {op.view} {op.shape}"


class _Noted(dict[str, Any]):
    def __init__(self, known: Mapping[str, Any], kind: str, noted: set[tuple[str, str]]):
        super().__init__(known)
        self._kind, self._into = kind, noted

    def __contains__(self, name: object) -> bool:
        self._into.add((self._kind, name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> Any:
        self._into.add((self._kind, name))
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default


class _NotedNames(frozenset[str]):
    _into: set[tuple[str, str]]

    def __new__(cls, names: Iterable[str], noted: set[tuple[str, str]]):
        self = super().__new__(cls, names)
        self._into = noted
        return self

    def __contains__(self, name: object) -> bool:
        self._into.add((KERNEL, name))
        return super().__contains__(name)

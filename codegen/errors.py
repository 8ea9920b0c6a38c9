"""Refusals of the spec: what is wrong, where, and how it is shown.

Owns the form `derivatives.yaml:LINE:COL: error: OP: KEY: message` with the source line and a caret below it, and collects several
refusals in one run.  Knows nothing of what a spec may hold.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .spec.model import Location


_COMPARED = 60  # characters of a name: comparing takes their number times that of the known names


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name; empty where nothing known is near."""
    near = difflib.get_close_matches(name[:_COMPARED], list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


class SpecError(Exception):
    """One refusal.

    Whoever finds it gives the message and the place: a Location, or a node of a formula, whose positions are those of
    the file.  The ErrorList that catches it adds the file, the entry, the key and the source line.
    """

    def __init__(self, message: str, at: Location | ast.AST, *, suggestion: str = ""):
        super().__init__(message)
        self.message = message + suggestion
        self.suggestion = suggestion
        if isinstance(at, ast.AST):
            self.file, self.line, self.column = getattr(at, "file", ""), at.lineno, at.col_offset + 1
        else:
            self.file, self.line, self.column = at.file, at.line, at.column
        self.op = self.key = self.source_line = ""
        self.rank = 0  # how many wrong operators the entry's formulas call, which may be why it is wrong

    def __str__(self) -> str:
        parts = [f"{self.file}:{self.line}:{self.column}", "error", self.op, self.key, self.message]
        return "\n".join([": ".join(part for part in parts if part), self.source_line, " " * (self.column - 1) + "^"])


class SpecErrors(Exception):
    """Every refusal of one run, those of an operator before those of its callers, else in the order of the file."""

    def __init__(self, errors: Iterable[SpecError]):
        self.errors = tuple(sorted(errors, key=lambda e: (e.rank, e.file, e.line, e.column)))
        super().__init__("\n".join(str(error) for error in self.errors))


class ErrorList:
    """Collects refusals while reading, analysing or checking one file, and `others` by their names."""

    def __init__(self, file: str, source: str, others: Mapping[str, str] = MappingProxyType({})):
        self.file = file
        self.errors: list[SpecError] = []
        self._lines = {name: text.split("\n") for name, text in (*others.items(), (file, source))}

    def __bool__(self) -> bool:
        return bool(self.errors)

    def expect(self, file: str, source: str, others: Mapping[str, str]) -> None:
        """Says which file is read, and which beside it, where that was not known at first."""
        self.file = file
        for name, text in (*others.items(), (file, source)):
            self.add_source(name, text)

    def add_source(self, file: str, source: str) -> None:
        """Lets refusals point into a second file, such as one of runtime/formulas."""
        self._lines[file] = source.split("\n")

    def add(self, message: str, at: Location | ast.AST, op: str = "", key: str = "", *, suggestion: str = "") -> None:
        self._keep(SpecError(message, at, suggestion=suggestion), op, key)

    @contextmanager
    def catch(self, op: str = "", key: str = "") -> Iterator[None]:
        """Keeps a refusal raised inside, so that the run goes on to the next."""
        try:
            yield
        except SpecError as error:
            self._keep(error, op, key)

    def raise_if_any(self) -> None:
        if self.errors:
            raise SpecErrors(self.errors)

    def _keep(self, error: SpecError, op: str, key: str) -> None:
        error.file = error.file or self.file
        error.op, error.key = error.op or op, error.key or key
        lines = self._lines.get(error.file, [])
        error.source_line = lines[error.line - 1] if 0 < error.line <= len(lines) else ""
        if not any(str(error) == str(other) for other in self.errors):
            self.errors.append(error)

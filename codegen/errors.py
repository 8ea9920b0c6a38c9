"""Errors in a spec: the message, the place and how both are shown.

Defines the form `derivatives.yaml:LINE:COL: error: OP: KEY: message`, with the source line and a caret below it, and collects
the errors of one run.  Does not depend on the grammar of a spec.
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


_COMPARED = 60  # compared characters of a name: the cost is this number times the characters of the known names


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name; empty if no known name is similar."""
    near = difflib.get_close_matches(name[:_COMPARED], list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


class SpecError(Exception):
    """One error in a spec.

    The caller gives the message and the place: a Location, or a node of a formula, whose positions are positions in the
    file.  The ErrorList that catches the error adds the file, the entry, the key and the source line.
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
        self.rank = 0  # number of rejected operators that the entry's formulas call, which may cause this error

    def __str__(self) -> str:
        parts = [f"{self.file}:{self.line}:{self.column}", "error", self.op, self.key, self.message]
        return "\n".join([": ".join(part for part in parts if part), self.source_line, " " * (self.column - 1) + "^"])


class SpecErrors(Exception):
    """All errors of one run: an operator before its callers, otherwise in the order of the file."""

    def __init__(self, errors: Iterable[SpecError]):
        self.errors = tuple(sorted(errors, key=lambda e: (e.rank, e.file, e.line, e.column)))
        super().__init__("\n".join(str(error) for error in self.errors))


class ErrorList:
    """Collects errors while one file is read, analysed or checked; `others` maps the names of further files to their texts."""

    def __init__(self, file: str, source: str, others: Mapping[str, str] = MappingProxyType({})):
        self.file = file
        self.errors: list[SpecError] = []
        self._lines = {name: text.split("\n") for name, text in (*others.items(), (file, source))}

    def __bool__(self) -> bool:
        return bool(self.errors)

    def expect(self, file: str, source: str, others: Mapping[str, str]) -> None:
        """Set the file that is read and the files beside it, for a list that was created before they were known."""
        self.file = file
        for name, text in (*others.items(), (file, source)):
            self.add_source(name, text)

    def add_source(self, file: str, source: str) -> None:
        """Let errors point into a further file, such as a module of runtime/formulas."""
        self._lines[file] = source.split("\n")

    def add(self, message: str, at: Location | ast.AST, op: str = "", key: str = "", *, suggestion: str = "") -> None:
        self._keep(SpecError(message, at, suggestion=suggestion), op, key)

    @contextmanager
    def catch(self, op: str = "", key: str = "") -> Iterator[None]:
        """Keep an error raised inside the block, so that the run continues."""
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

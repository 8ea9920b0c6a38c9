"""Check an entry written at run time, like an entry of a package, and write the module that defines it.

Writes the document around the entry and maps the places of errors back into the entry's text.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from .errors import ErrorList, SpecError, SpecErrors
from .package import Package
from .rules.analyze import analyze
from .rules.guests import check_guest
from .spec.library import Library
from .spec.reader import read_text
from .spec.table import GRAMMAR, table
from .verify.check import check
from .write.guests import render_one

FILE = "entry"  # the name of the text in errors
_NOWHERE = Path(__file__).parent / "nowhere"  # a text has no files beside it
_HEAD = f"grammar: {GRAMMAR}\n---\nfamily: defined\nabout: Operators of a text.\nops:\n"


class Written(NamedTuple):
    """The module of some entries, and the operators that they define."""

    source: str
    names: list[str]


def of_text(text: str, kernels: ModuleType) -> Written:
    """The module for one entry, or for several that begin with a dash; raises SpecErrors with places in the text."""
    dashed = text.startswith("- op:")
    source = _HEAD + (text if dashed else "- " + re.sub(r"\n(?=.)", "\n  ", text)) + "\n"
    package = Package(_NOWHERE, name=FILE, spec=FILE, runtime="", formulas="formulas", kernels="kernels", required=())
    errors = ErrorList(FILE, source)
    try:
        spec = read_text(source, FILE, offered=table(), errors=errors)
        spec = analyze(spec, package, Library({}, frozenset(vars(kernels)), other_spec=FILE), errors)
        check_guest(spec, table(), {}, errors)
        first = next(iter(spec.ops.values()), None)
        if first is not None and first.private:
            message = f"'{first.name}' is private: formulas alone could call it; name it '{first.name.lstrip('_')}'"
            errors.add(message, first.location, first.name, "op")
        errors.raise_if_any()
        check(spec, package, kernels=kernels, errors=errors)
        errors.raise_if_any()
    except SpecErrors as refused:
        for error in refused.errors:
            _moved(error, 0 if dashed else 2)
        raise SpecErrors(refused.errors) from None
    return Written(render_one(spec), [op.name for op in spec.ops.values() if not op.private])


def _moved(error: SpecError, indented: int) -> None:
    """Change an error's place from the surrounding document to the text."""
    if error.file == FILE:
        error.line = max(error.line - _HEAD.count("\n"), 1)
        error.column = max(error.column - indented, 1)
        error.source_line = error.source_line[indented:]

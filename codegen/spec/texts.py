"""Texts: which lines of a spec's files are whose.

Owns where an entry begins and ends, in the spec and in the file of further samples.  Knows nothing of what the lines say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .model import Spec

_OPERATOR = re.compile(r"(\w+):")


def entries(spec: Spec) -> dict[str, str]:
    """The lines of each entry by the name of its operator, and under "" those that stand outside of entries."""
    starts: dict[int, str] = {}
    for op in spec.ops.values():
        starts.setdefault(op.location.line, op.name)
    lines = spec.source.splitlines(keepends=True)
    texts = _divided((starts.get(number, "" if line.startswith("---") else None), line) for number, line in enumerate(lines, 1))
    return texts | {op.name: texts[starts[op.location.line]] for op in spec.ops.values()}


def further(spec: Spec) -> dict[str, str]:
    """The lines of each operator in the files of further samples, and under "" those above the first of a file."""
    lines = [line for text in spec.further.values() for line in ["#\n", *text.splitlines(keepends=True)]]
    return _divided((_name_of(line) if line[0] not in " \n" else None, line) for line in lines)


def _name_of(line: str) -> str:
    found = _OPERATOR.match(line)
    return found[1] if found else ""


def _divided(lines: Iterable[tuple[str | None, str]]) -> dict[str, str]:
    """Lines by owner; one of None belongs to the one above."""
    texts, owner = {"": ""}, ""
    for name, line in lines:
        owner = owner if name is None else name
        texts[owner] = texts.get(owner, "") + line
    return texts

"""Texts: the files of a spec, and which of their lines are whose.

Owns where further samples stand, and where an entry begins and ends.  Knows nothing of what the lines say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ..errors import SpecError, SpecErrors
from .model import Location, Spec

FOLDER = "samples"  # beside the spec: a file for each family whose entries have more samples or examples than they show

_OPERATOR = re.compile(r"(\w+):")


def texts(path: str | os.PathLike[str]) -> tuple[str, dict[str, str]]:
    """The text of a spec, and those of further samples by the names of their files."""
    path = Path(path)
    files = {f"{FOLDER}/{more.name}": more for more in sorted((path.parent / FOLDER).glob("*.yaml"))}
    return decode(path.read_bytes(), path.name), {name: decode(more.read_bytes(), name) for name, more in files.items()}


def decode(data: bytes, file: str) -> str:
    """The text of a file, line ends made those of Unix; SpecErrors where it is not UTF-8."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        line = before.count("\n") + 1
        refusal = SpecError("not UTF-8", Location(file, line, len(before) - before.rfind("\n")))
        refusal.source_line = data.split(b"\n")[line - 1].decode("utf-8", "replace").rstrip("\r")
        raise SpecErrors([refusal]) from None


def entries(spec: Spec) -> dict[str, str]:
    """The lines of each entry by the names of its operators, under "" those outside of entries, under "-" of refused ones."""
    starts: dict[int, str] = {}
    for op in spec.ops.values():
        starts.setdefault(op.location.line, op.name)
    others = {"-": "-", "--": ""}  # by the first characters of a line
    lines = spec.source.splitlines(keepends=True)
    texts = _divided((starts.get(number, others.get(line[:2].strip())), line) for number, line in enumerate(lines, 1))
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

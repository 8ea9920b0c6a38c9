"""Read the files of a spec and divide their lines among entries.

Finds the files of further samples, and the first and last line of each entry.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ..errors import SpecError, SpecErrors
from .model import Location, Spec

FOLDER = "samples"  # beside the spec: one file for each family with more samples or examples than its entries show

_OPERATOR = re.compile(r"(\w+):")


def texts(path: str | os.PathLike[str]) -> tuple[str, dict[str, str]]:
    """The text of a spec, and the texts of further samples by the names of their files."""
    path = Path(path)
    files = {f"{FOLDER}/{more.name}": more for more in sorted((path.parent / FOLDER).glob("*.yaml"))}
    return decode(path.read_bytes(), path.name), {name: decode(more.read_bytes(), name) for name, more in files.items()}


def decode(data: bytes, file: str) -> str:
    """The text of a file with Unix line ends; SpecErrors if it is not UTF-8."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        line = before.count("\n") + 1
        refusal = SpecError("not UTF-8", Location(file, line, len(before) - before.rfind("\n")))
        refusal.source_line = data.split(b"\n")[line - 1].decode("utf-8", "replace").rstrip("\r")
        raise SpecErrors([refusal]) from None


def entries(spec: Spec) -> dict[str, str]:
    """The lines of each entry by its operators' names; "" has the lines outside entries, "-" the lines of rejected entries."""
    starts: dict[int, str] = {}
    for op in spec.ops.values():
        starts.setdefault(op.location.line, op.name)
    others = {"-": "-", "--": ""}  # by the first two characters of a line
    lines = spec.source.splitlines(keepends=True)
    texts = _divided((starts.get(number, others.get(line[:2].strip())), line) for number, line in enumerate(lines, 1))
    return texts | {op.name: texts[starts[op.location.line]] for op in spec.ops.values()}


def further(spec: Spec) -> dict[str, str]:
    """The lines of each operator in the files of further samples; "" has the lines above the first operator of a file."""
    lines = [line for text in spec.further.values() for line in ["#\n", *text.splitlines(keepends=True)]]
    return _divided((_name_of(line) if line[0] not in " \n" else None, line) for line in lines)


def _name_of(line: str) -> str:
    found = _OPERATOR.match(line)
    return found[1] if found else ""


def _divided(lines: Iterable[tuple[str | None, str]]) -> dict[str, str]:
    """Lines by owner; a line with owner None belongs to the owner of the line above."""
    texts, owner = {"": ""}, ""
    for name, line in lines:
        owner = owner if name is None else name
        texts[owner] = texts.get(owner, "") + line
    return texts

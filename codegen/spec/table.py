"""Load gradspec's operators from generated/library.json, for the formulas of other packages.

Defines the version of the grammar, and turns each record of the table into an operator without formulas.  The file is installed
with this program, so nothing of the runtime is imported.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from .formula import parse_formula
from .model import Formula, Location, Op, Text
from .signature import parse_signature

GRAMMAR = 1  # version, stated as `grammar: 1`; raised when a valid spec becomes invalid or changes its meaning
FIELDS = ("signature", "form", "shape", "aliases", "operator", "view", "dtype", "family", "loops")
FILE = Path(__file__).parents[2] / "generated" / "library.json"
OWNER = "gradspec"


@dataclass(frozen=True)
class Table:
    operators: dict[str, Op]  # the public ones, by name and by alias
    private: frozenset[str]
    presets: dict[str, tuple[str, ...]]
    shapes: dict[str, tuple[str, ...]]  # a shape -> the presets with its samples


@functools.cache
def table() -> Table:
    """The operators, presets and shapes of gradspec."""
    data = json.loads(FILE.read_text(encoding="utf-8"))
    found: dict[str, Op] = {}
    for line, (name, record) in enumerate(data["operators"].items(), 1):
        if not name.startswith("_"):
            op = _op(dict(zip(FIELDS, record)), line)
            found |= dict.fromkeys((op.name, *op.aliases), op)
    private = frozenset(name for name in data["operators"] if name.startswith("_"))
    presets = {name: tuple(calls) for name, calls in data["presets"].items()}
    shapes = {shape: tuple(names if isinstance(names, list) else [names]) for shape, names in data["shapes"].items()}
    return Table(found, private, presets, shapes)


def given_calls(calls: tuple[str, ...], file: str) -> tuple[Formula, ...]:
    """Calls of gradspec's presets as samples, placed above the first line of a file."""
    return tuple(parse_formula(Text(call, file, ((0, 1),) * (len(call) + 1))) for call in calls)


def _op(facts: dict[str, object], line: int) -> Op:
    source = str(facts.pop("signature"))
    text = Text(source, OWNER, tuple((line, i + 1) for i in range(len(source) + 1)))
    aliases = tuple(facts.pop("aliases"))
    return Op(signature=parse_signature(text), doc="", location=Location(OWNER, line, 1), aliases=aliases, **facts)

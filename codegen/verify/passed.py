"""Entries that passed the check and are still what they were, so that another one is added without running all again.

Owns what an entry's check rests on: its text and that of the entries whose operators its formulas call, what stands in the
spec outside of entries, and everything else: the sources of the generator and the runtime, the kernels that are built, the
versions of what computes.  Where any of these is another, the entry is checked again.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from ..package import Package
from ..spec.expression import Call, Expression, walk
from ..spec.model import Op, Spec
from ..spec.texts import entries, further

_SOURCES = (".py", ".pyx", ".pxd", ".txt", ".build")
_COMPUTING = ("numpy", "scipy")


class Passed:
    """What passed in a checkout; kept in the folder of builds, which may go at any time."""

    def __init__(self, spec: Spec, place: Package | Path | str):
        package = Package.at(place)
        self.file = package.path("build") / "checked.txt"
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        self.known = dict(words for line in lines if len(words := line.split()) == 2)
        self.found: dict[str, str] = {}
        self.ops, texts, more = spec.ops, entries(spec), further(spec)
        outside = _digest([*_world(package), texts.pop("")])
        self.own = {name: _digest([outside, text, more.get(name, "")]) for name, text in texts.items()}

    def holds(self, op: Op) -> bool:
        """Whether an entry passed as it is; if so it is noted again."""
        mark = self.mark(op)
        if self.known.get(op.name) == mark:
            self.found[op.name] = mark
        return op.name in self.found

    def note(self, op: Op) -> None:
        self.found[op.name] = self.mark(op)

    def write(self) -> None:
        """Keep what was noted, where there is a folder of builds."""
        if self.file.parent.is_dir():
            self.file.write_text("".join(f"{name} {mark}\n" for name, mark in self.found.items()))

    def mark(self, op: Op) -> str:
        """A number for an entry and all that its formulas call."""
        seen: set[str] = set()
        pending = [op.name]
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending += _called(self.ops[name])
        return _digest(self.own[name] for name in sorted(seen))


def _called(op: Op) -> Iterator[str]:
    for expression in _expressions(op):
        for node in walk(expression):
            if isinstance(node, Call) and node.op:
                yield node.op


def _expressions(op: Op) -> Iterator[Expression]:
    """What an op is computed by, with the rules that follow from what the entry writes."""
    rules = (*op.lets.values(), *op.partials.values(), *op.vjp.values(), *op.jvp.values())
    for formula in (op.forward, op.inplace, op.composite, op.rows, *rules, *op.laws):
        if formula is not None and formula.expression is not None:
            yield formula.expression
    if op.derived is not None:
        yield from op.derived.vjp.values()
        yield from op.derived.jvp.values()


def _world(package: Package) -> Iterator[str]:
    """Everything outside of the spec."""
    yield sys.version
    for name in _COMPUTING:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"no {name}"
    for folder in (Path(__file__).parents[1], package.path(package.runtime)):
        for path in sorted(path for path in folder.rglob("*") if path.suffix in _SOURCES):
            yield f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    for path in sorted(package.path("build").glob(f"*/{package.kernels}/*.so")):
        yield f"{path.relative_to(package.root)} {path.stat().st_mtime_ns} {path.stat().st_size}"


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

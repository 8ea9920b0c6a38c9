"""Cache the analysed spec of a checkout between runs.

Computes the key from all inputs of reading and analysis: the generator's sources, the versions of Python and of the libraries it
uses, the text of the spec and the runtime's sources.  An unchanged family is neither read nor analysed again.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import ErrorList, SpecErrors
from .package import Package
from .packages import taken
from .rules.guests import check_guest
from .spec.cache_format import packed, uncollected, unpacked
from .spec.library import Library, read_library
from .spec.model import Family, Spec
from .spec.source_files import FOLDER, texts
from .spec.table import table

if TYPE_CHECKING:
    from .rules.queries import Answers

Progress = Callable[[int, int, str], None]
FILE = "build/spec.pickle"
_SOURCES = (".py", ".pyx", ".pxd", ".txt")
_READING = ("PyYAML", "numpy")  # their versions decide how a text is parsed and which names exist
_HERE = Path(__file__).parent


def analysed(package: Package, errors: ErrorList | None = None, progress: Progress | None = None, more: str = "") -> Spec:
    """The spec of a checkout; errors are raised together, or added to `errors`, and the rejected entries are left out.

    `more` is the text of further families, appended to the spec; with it nothing is stored.
    """
    collected = ErrorList("", "") if errors is None else errors
    with uncollected():
        spec = _Reading(package, progress, more).analysed(collected)
    if not package.is_library:
        check_guest(spec, table(), taken(package), collected)
    if errors is None:
        collected.raise_if_any()
    return spec


def read(package: Package, progress: Progress | None = None) -> Spec:
    """The spec, read but analysed only where the cache has the analysis: its unchanged families, or all of it."""
    errors = ErrorList("", "")
    with uncollected():
        reading = _Reading(package, progress)
        spec = reading.kept() or reading.read(errors)
    errors.raise_if_any()
    return spec


class _Reading:
    """One reading of a spec, with the cached content of the last one."""

    def __init__(self, package: Package, progress: Progress | None, more: str = ""):
        self.package, self.file, self.progress, self.done = package, Path(package.spec).name, progress, 0
        source, self.further = texts(package.path(package.spec))
        self.source, self.more = source + more, more
        self.keys = dict(_families(self.source, self.further))
        self.runtime = _digest(line for folder in package.folders for line in _files(folder, _SOURCES))
        self.offered = None if package.is_library else table()
        self.store = _Store(package)
        self.known: dict[str, bytes] = self.store.get("families", {})

    def kept(self) -> Spec | None:
        """The cached analysed spec, if all its inputs are unchanged; else None."""
        if self.store.get("whole") != self._whole():
            return None
        presets = unpacked(self.store["presets"])
        return Spec(tuple(self._unpacked().values()), self.file, self.source, presets, self.further)

    def read(self, errors: ErrorList) -> Spec:
        """The spec; its unchanged families are already analysed."""
        from .spec.reader import Stale, read_text

        errors.expect(self.file, self.source, self.further)
        before, kept = len(errors.errors), self._unpacked()
        try:
            spec = read_text(self.source, self.file, self.further, errors, kept, self._step, self.offered)
        except Stale:
            wrong = True
        else:  # an error outside entries may come from a family that was not read
            wrong = bool(kept) and not all(error.op for error in errors.errors[before:])
        if wrong:
            del errors.errors[before:]
            self.known = {}
            spec = read_text(self.source, self.file, self.further, errors, progress=self._step, offered=self.offered)
        return spec

    def analysed(self, errors: ErrorList) -> Spec:
        spec = self.kept()
        if spec is not None:
            return spec
        from .rules.analyze import analyze

        before = self.read(errors)
        library = self._library(errors)
        if not all(error.op for error in errors.errors):  # the set of entries to analyse is not known
            errors.raise_if_any()
        answers = {name: said for name, said in self.store.get("answers", {}).items() if name in self._names(before, self.known)}
        spec = analyze(before, self.package, library, errors, answers, self._step)
        if not errors and not self.more:
            same = {family.name for family, other in zip(spec.families, before.families) if family is other}
            self._keep(spec, same, library, answers)
        return spec

    def _library(self, errors: ErrorList) -> Library | None:
        digest, data = self.store.get("library", ("", b""))
        try:
            return unpacked(data) if digest == self.runtime else read_library(self.package)
        except SpecErrors as wrong:
            errors.errors += wrong.errors
            return None

    def _step(self, what: str) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, max(self.done, 2 * len(self.keys)), what)

    def _whole(self) -> str:
        return _digest([self.runtime, self.source, *self.further, *self.further.values()])

    def _unpacked(self) -> dict[range, Family]:
        """The unchanged families, by their lines."""
        return {lines: unpacked(self.known[key], lines.start) for lines, key in self.keys.items() if key in self.known}

    def _names(self, spec: Spec, keys: Container[str]) -> dict[str, range]:
        """The families whose keys are in `keys`, with their lines."""
        parts = [lines for lines, key in self.keys.items() if key in keys]
        return {family.name: lines for family in spec.families for lines in parts if family.location.line in lines}

    def _keep(self, spec: Spec, same: Container[str], library: Library, answers: dict[str, Answers]) -> None:
        families, named = {}, {family.name: family for family in spec.families}
        for name, lines in self._names(spec, self.keys.values()).items():
            key = self.keys[lines]
            data = self.known.get(key) if name in same else None
            families[key] = data or packed(named[name], self.file, lines.start)
        self.store.write({
            "whole": self._whole(), "library": (self.runtime, packed(library)), "presets": packed(spec.presets),
            "families": families, "answers": answers,
        })  # fmt: skip


class _Store(dict[str, Any]):
    """The cache file; a damaged file, or one of another generator version, counts as empty.

    Specs of other packages are small, and are not cached.
    """

    def __init__(self, package: Package):
        self._package = package
        self._mark = _digest([sys.version, repr(package), *_versions(), *_own_sources()]).encode()
        try:
            mark, checksum, data = package.path(FILE).read_bytes().split(b"\n", 2)
            super().__init__(pickle.loads(data) if mark == self._mark and checksum == _checksum(data) else {})
        except (OSError, ValueError):
            super().__init__()

    def write(self, content: dict[str, Any]) -> None:
        """Store all content in place of the last."""
        if self._package.is_library:
            data = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
            self._package.keep(FILE, b"\n".join([self._mark, _checksum(data), data]))


def _families(source: str, further: Mapping[str, str]) -> Iterator[tuple[range, str]]:
    """The line range of each document with a family, from 1, and a digest of its texts and of the text outside families."""
    lines = source.split("\n")
    starts = [number for number, line in enumerate(lines) if re.match(r"---(\s|$)", line)]
    parts = {range(a + 1, b + 1): "\n".join(lines[a:b]).rstrip() for a, b in zip([0, *starts], [*starts, len(lines)])}
    families = {part: found[1] for part, text in parts.items() if (found := re.search(r"^family:\s*(\w+)", text, re.MULTILINE))}
    outside = [text for part, text in parts.items() if part not in families]
    for part, name in families.items():
        yield part, _digest([*outside, parts[part], further.get(f"{FOLDER}/{name}.yaml", "")])


def _own_sources() -> Iterator[str]:
    """Text or digests of the modules that read and analyse: this module and the modules it uses."""
    for name in ("spec_cache.py", "errors.py", "package.py"):
        yield (_HERE / name).read_text(encoding="utf-8")
    for folder in ("spec", "rules"):
        yield from _files(_HERE / folder, _SOURCES)


def _files(folder: Path, suffixes: tuple[str, ...]) -> Iterator[str]:
    for path in sorted(path for path in folder.rglob("*") if path.suffix in suffixes):
        yield f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def _versions() -> Iterator[str]:
    for name in _READING:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"no {name}"


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()

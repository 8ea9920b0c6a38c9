"""Cache passed checks: skip entries whose checks passed and whose dependencies are unchanged.

An entry's check depends on its text, on the entries that its formulas call, and on the sources of their kernels and helpers.  It
also depends on the text of the spec outside entries, the generator's sources, the compiler flags of kernels, and the versions of
Python, NumPy and SciPy.
"""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Collection, Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Self

from ..package import Package
from ..rules.calls import helpers_of, kernels_of, ops_of, reached
from ..spec.model import Op, Spec
from ..spec.source_files import entries, further
from .sources import Sources

_GENERATOR = Path(__file__).parents[1]
_CHECKING = ("errors.py", "package.py", "spec/*", "rules/*", "verify/*")  # the parts of the generator that a verdict depends on
_FLAGS = ("meson.build", "runtime/kernels/meson.build")  # the files with the compiler flags of kernels
_COMPUTING = ("numpy", "scipy")
_FILE = "build/checked.txt"


class Passed:
    """The passed entries of a checkout; on exit they are stored in the build folder, which may be deleted at any time."""

    def __init__(self, spec: Spec, place: Package | Path | str):
        self._package = package = Package.at(place)
        file = package.path(_FILE)
        lines = file.read_text().splitlines() if package.is_library and file.exists() else []
        self.known = dict(words for line in lines if len(words := line.split()) == 2)
        self._spec, self._texts, self._sources = spec, entries(spec), Sources(package)
        self._further = further(spec)
        self._outside = _digest([*_world(package), self._texts.pop("")])
        self._called = functools.cache(lambda name: ops_of(spec.ops[name]) & spec.ops.keys())
        self._own = functools.cache(self._find_own)
        self._mark = functools.cache(lambda name: _digest(self._own(other)[0] for other in sorted(reached(name, self._called))))

    def holds(self, op: Op) -> bool:
        """Whether an entry passed and is unchanged since."""
        return self.known.get(op.name) == self.mark(op)

    def note(self, op: Op) -> None:
        self.known[op.name] = self.mark(op)

    def forget(self, names: Collection[str]) -> None:
        self.known = {name: mark for name, mark in self.known.items() if name not in names}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Store the passed entries that still exist; other packages than gradspec are small and store nothing."""
        if self._package.is_library:
            text = "".join(f"{name} {mark}\n" for name, mark in self.known.items() if name in self._texts)
            self._package.keep(_FILE, text.encode())

    def callers(self, names: Collection[str]) -> set[str]:
        """The entries whose formulas call any of `names`."""
        return {name for name in self._spec.ops if not self._called(name).isdisjoint(names)}

    def unbuilt(self, op: Op) -> bool:
        """Whether a kernel that the check runs was built from an older source."""
        return any(self._own(name)[1] for name in reached(op.name, self._called))

    def mark(self, op: Op) -> str:
        """A digest of an entry and of everything that its formulas call."""
        return self._mark(op.name)

    def _find_own(self, name: str) -> tuple[str, bool]:
        """A digest of the direct dependencies of one entry, and whether one of its kernels is older than its source."""
        op, sources = self._spec.ops[name], self._sources
        files = frozenset().union(*map(sources.of_kernel, kernels_of(op)), *map(sources.of_helper, helpers_of(op)))
        own = [self._outside, self._texts[name], self._further.get(name, ""), sources.digest(files)]
        return _digest(own), sources.unbuilt(files)


def _world(package: Package) -> Iterator[str]:
    """All dependencies outside the spec and the kernels."""
    yield platform.python_version()
    for name in _COMPUTING:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"no {name}"
    generator = {path for part in _CHECKING for path in _GENERATOR.glob(part) if path.suffix in (".py", ".txt")}
    for path in sorted(generator):
        yield f"{path.relative_to(_GENERATOR)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    for name in _FLAGS:
        path = package.path(name)
        yield f"{name} {path.read_text() if path.exists() else ''}"


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

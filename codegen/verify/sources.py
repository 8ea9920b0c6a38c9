"""Find the source files of the kernels and helpers that an entry names.

Reads the sources to find the module that defines a name, and the modules that it imports, cimports and includes.  So the folders
may have any layout.  Builds and imports nothing.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..package import Package
from ..rules.calls import reached

COMPILED = (".pyx", ".pxd", ".pxi", ".h", ".c")
_MODULES = (".py", ".pyx", ".pxd")
_DEFINED = re.compile(r"^(?:def|cpdef)\s+(?:[^(\n]*[\s*])?(\w+)\s*\(|^(\w+)(?:\s*:[^=\n]*)?\s*=[^=]", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from\s+([.\w]+)\s+c?import\s+(?:\(([^)]*)\)|((?:[^\n#\\]|\\\n)+))", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*c?import\s+([.\w]+)", re.MULTILINE)
_INCLUDED = re.compile(r"""^[ \t]*(?:cdef\s+extern\s+from|include|#[ \t]*include)\s+["'](\w[^"'<>]*)["']""", re.MULTILINE)


class Sources:
    """The sources of a package's runtime, read on demand."""

    def __init__(self, package: Package):
        self.package, self._top = package, package.path(package.runtime)
        self._files, self._defining = functools.cache(self._find_files), functools.cache(self._find_defining)
        self._uses, self._with_used = functools.cache(self._find_uses), functools.cache(self._find_with_used)
        self._text = functools.cache(lambda path: path.read_text(encoding="utf-8"))
        self._built, self._translated = functools.cache(self._find_built), functools.cache(self._find_translated)

    def of_kernel(self, name: str) -> frozenset[Path]:
        """The source files of a kernel: all kernel files if no module defines its name."""
        return self._of(self.package.path(self.package.kernels), name)

    def of_helper(self, name: str) -> frozenset[Path]:
        """The source files of a helper of formulas."""
        return self._of(self.package.path(self.package.formulas), name)

    def digest(self, paths: Iterable[Path]) -> str:
        """A digest of the text of some files, independent of their paths."""
        return hashlib.sha256("\0".join(sorted(map(self._text, paths))).encode()).hexdigest()

    def unbuilt(self, paths: Iterable[Path]) -> bool:
        """Whether the compiled form of some files is older than they are."""
        compiled = [path for path in paths if path.suffix in COMPILED]
        modules = [self._translated(path) for path in compiled if path.suffix == ".pyx"]
        return any((time := path.stat().st_mtime_ns) > self._built(path.parent) and time > self._read(path, modules) for path in compiled)

    # Names.

    def _of(self, folder: Path, name: str) -> frozenset[Path]:
        found = self._defining(folder).get(name) or self._files(folder)
        return frozenset().union(*map(self._with_used, found))

    def _find_defining(self, folder: Path) -> dict[str, set[Path]]:
        """The modules in a folder, or in the file with its name, by the names that they define."""
        found: dict[str, set[Path]] = {}
        for path in self._files(folder):
            for names in _DEFINED.findall(self._text(path)):
                found.setdefault("".join(names), set()).add(path)
        return found

    def _find_files(self, folder: Path) -> list[Path]:
        files = folder.rglob("*") if folder.is_dir() else [folder.with_suffix(".py")]
        return sorted(path for path in files if path.suffix in _MODULES and path.exists() and path.stem != "__init__")

    # Dependencies of a file.

    def _find_with_used(self, path: Path) -> frozenset[Path]:
        """A file and all files that it uses, directly or indirectly."""
        return frozenset(reached(path, self._uses))

    def _find_uses(self, path: Path) -> frozenset[Path]:
        text = self._text(path)
        found = {other for suffix in _MODULES if (other := path.with_suffix(suffix)).exists()}
        for module in _IMPORT.findall(text):
            found |= self._modules(path, module)
        for module, in_brackets, plain in _FROM.findall(text):
            for part in re.sub(r"#.*|\\\n", "", in_brackets or plain).split(","):
                if words := part.split():
                    found |= self._imported(path, module, words[0])
        found |= {other for name in _INCLUDED.findall(text) if (other := path.parent / name).exists()}
        return frozenset(found)

    def _imported(self, path: Path, module: str, name: str) -> set[Path]:
        """A submodule of the name, else the module itself; in a package, the modules that define the name."""
        if found := self._modules(path, f"{module}.{name}" if module.strip(".") else f"{module}{name}"):
            return found
        place = self._place(path, module)
        if place is not None and place.is_dir():
            return set(self._defining(place).get(name) or self._files(place))
        return self._modules(path, module)

    def _modules(self, path: Path, module: str) -> set[Path]:
        place = self._place(path, module)
        return {other for suffix in _MODULES if place is not None and (other := place.with_name(place.name + suffix)).exists()}

    def _place(self, path: Path, module: str) -> Path | None:
        """The path of a module of the package, without suffix; None for a module of another package."""
        name = module.lstrip(".")
        if dots := len(module) - len(name):
            return path.parents[dots - 1].joinpath(*name.split(".")) if name else path.parents[dots - 1]
        package, *parts = name.split(".")
        return self._top.joinpath(*parts) if package == self.package.name else None

    # Build times.

    def _find_built(self, folder: Path) -> int:
        """The build time of the extension of a folder, or of the nearest folder above it that has one."""
        times = [path.stat().st_mtime_ns for path in self._extensions(folder.relative_to(self._top))]
        if times or folder == self._top:  # another package may be installed anywhere: it does not count as outdated
            return max(times, default=0 if self.package.is_library else sys.maxsize)
        return self._built(folder.parent)

    def _find_translated(self, path: Path) -> tuple[int, frozenset[str]]:
        """When a module was last translated to the C code in its extension, and the files that were read for it."""
        module = ".".join([self.package.name, *path.relative_to(self._top).with_suffix("").parts])
        notes = [note for note in self.package.path("build").glob(f"*/{module}.dep") if self._holds(path, note.with_suffix(".c"))]
        return max(((note.stat().st_mtime_ns, frozenset(note.read_text().split())) for note in notes), default=(0, frozenset()))

    def _read(self, path: Path, modules: Iterable[tuple[int, frozenset[str]]]) -> int:
        """When all of the modules that a source is a part of had been translated since; 0 if it is a part of none."""
        end = f"/{path.relative_to(self._top).as_posix()}"
        return min((time for time, files in modules if any(name.endswith(end) for name in files)), default=0)

    def _holds(self, path: Path, c: Path) -> bool:
        return c.exists() and c.stat().st_mtime_ns <= self._built(path.parent)

    def _extensions(self, folder: Path) -> Iterator[Path]:
        built = [*self.package.path("build").glob(f"*/{self.package.runtime}/{folder.as_posix()}/*")]
        if not self.package.is_library:  # setuptools puts extensions beside their sources
            built += (self._top / folder).glob("*")
        for path in built:
            if f".{path.name.partition('.')[2]}" in importlib.machinery.EXTENSION_SUFFIXES:
                yield path

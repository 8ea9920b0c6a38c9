"""Packages of operators outside gradspec: find the package of a folder, and the installed packages.

Defines the entry point `gradspec.operators` and the layout of such a package, and finds the operator names that other packages
use.  Of a spec it reads only the first lines of entries and their aliases.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from .package import COMPILED, Package
from .spec.model import Location

GROUP = "gradspec.operators"
SPEC = "derivatives.yaml"
_ENTRY = re.compile(r"^- op: (\w+)\(|^  alias: \[([^\]]*)\]", re.MULTILINE)


class NoPackage(Exception):
    """A folder or a name that is not a package of operators; the message gives the reason."""


def package_at(folder: Path) -> Package | None:
    """The package whose pyproject.toml is in a folder or above it; None if that file lacks the entry point."""
    for root in (folder, *folder.parents):
        project = root / "pyproject.toml"
        if project.exists():
            data = _data(project)
            points = _points(data)
            return _package(root, *_only(points, project), _cython(data, project)) if points else None
    return None


def installed(name: str) -> Package:
    """The installed package with this entry point name."""
    found = dict(_installed())
    if name not in found:
        known = f"; installed are {', '.join(sorted(found))}" if found else ""
        raise NoPackage(f"no installed package has the entry point {GROUP} with the name '{name}'{known}")
    return found[name]


def taken(package: Package) -> dict[str, Location]:
    """The operators of the other installed packages, each with its place."""
    found: dict[str, Location] = {}
    for _, other in _installed():
        path = other.path(other.spec)
        if other.name != package.name and path.exists():
            found |= {name: at for name, at in _names(path) if name not in found}
    return found


def _data(project: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(project.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise NoPackage(f"{project}: {error}") from None


def _cython(data: dict[str, Any], project: Path) -> bool:
    """Whether `[tool.gradspec]` asks for operators in Cython."""
    tool = data.get("tool", {}).get(Package.name, {})
    if not isinstance(tool, dict) or tool.keys() - {"cython"} or not isinstance(tool.get("cython", False), bool):
        raise NoPackage(f"{project}: [tool.{Package.name}] has one key, cython = true or false")
    return tool.get("cython", False)


def _points(data: dict[str, Any]) -> dict[str, str]:
    points = data.get("project", {}).get("entry-points", {}).get(GROUP, {})
    return points if isinstance(points, dict) else {}


def _only(points: dict[str, str], project: Path) -> tuple[str, str]:
    if len(points) > 1:
        raise NoPackage(f"{project}: one entry point {GROUP} is expected, and there are {', '.join(points)}")
    return next(iter(points.items()))


def _package(root: Path, name: str, module: str, cython: bool) -> Package:
    """The package in a checkout: below `src/`, or beside its pyproject.toml."""
    parts = Path(*module.split("."))
    folder = next((place for place in (Path("src") / parts, parts) if (root / place / SPEC).exists()), None)
    if folder is None:
        raise NoPackage(f"the entry point {GROUP} names '{module}', and neither src/{parts.as_posix()} nor {parts.as_posix()} in "
                        f"{root} has a {SPEC}")  # fmt: skip
    return _laid_out(root, module, folder, cython)


def _laid_out(root: Path, module: str, folder: Path, cython: bool) -> Package:
    inside = folder.as_posix()
    return Package(root, module, f"{inside}/{SPEC}", inside, f"{inside}/formulas", f"{inside}/kernels", inside, (), cython)


def _installed() -> Iterator[tuple[str, Package]]:
    """The installed packages that can be found without importing them."""
    for point in metadata.entry_points(group=GROUP):
        try:
            spec = importlib.util.find_spec(point.value)
        except (ImportError, ValueError):
            continue
        for place in (spec.submodule_search_locations or ()) if spec else ():
            if (Path(place) / SPEC).exists():
                yield point.name, _laid_out(Path(place), point.value, Path(), (Path(place) / COMPILED).is_dir())
                break


def _names(path: Path) -> Iterator[tuple[str, Location]]:
    text = path.read_text(encoding="utf-8")
    for match in _ENTRY.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        for name in [match[1]] if match[1] else match[2].replace(" ", "").split(","):
            if not name.startswith("_"):
                yield name, Location(str(path), line, match.start(1 if match[1] else 2) - match.start() + 1)

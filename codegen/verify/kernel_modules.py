"""Kernels and helpers as modules: what formulas run that is no operator.

Owns where they are found: in their source where that is plain Python, else in the built package.  Knows nothing of formulas.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

from ..package import Package


def kernels_of_package(package: Package, needed: set[str]) -> ModuleType:
    """Kernels from their source where that is plain Python, and from the built package, if there is one, where not."""
    found, folder = ModuleType("kernels"), package.path(package.kernels)
    name = f"_checked_kernels_{zlib.crc32(str(folder.resolve()).encode())}"
    _forget(name)
    if needed and not folder.is_dir() and folder.with_suffix(".py").exists():
        vars(found).update(vars(_module(folder.with_suffix(".py"))))
    sys.modules[name] = whole = ModuleType(name)  # without what the folder's __init__ imports
    whole.__path__ = [str(folder)]
    for path in sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py") if needed else ():
        try:
            vars(found).update(vars(importlib.import_module(".".join([name, *path.relative_to(folder).with_suffix("").parts]))))
        except ImportError:  # it builds on a compiled kernel
            continue
    if missing := needed - vars(found).keys():
        try:
            built = importlib.import_module(f"{package.name}.kernels")
        except Exception:  # a package that does not import, whatever the reason, is not built
            return found
        vars(found).update({name: getattr(built, name) for name in missing if hasattr(built, name)})
    return found


def _forget(name: str) -> None:
    """Drops a package of an earlier call, whose files may have changed."""
    importlib.invalidate_caches()
    for stale in [known for known in sys.modules if known.partition(".")[0] == name]:
        del sys.modules[stale]


def _module(path: Path) -> ModuleType:
    """A source file as a module that belongs to no package."""
    spec = importlib.util.spec_from_file_location(f"_checked_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def helpers_of_package(package: Package) -> dict[str, Any]:
    """What the folder of helpers exports, or the file that stands in its place."""
    path = package.path(package.formulas)
    if not path.is_dir():
        path = path.with_suffix(".py")
        return dict(vars(_module(path))) if path.exists() else {}
    name = f"_checked_formulas_{zlib.crc32(str(path.resolve()).encode())}"
    spec = importlib.util.spec_from_file_location(name, path / "__init__.py", submodule_search_locations=[str(path)])
    _forget(name)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for part in getattr(module, "_REST", ()):  # what it imports when it is asked
        found = vars(importlib.import_module(f"{name}.{part}"))
        vars(module).update((key, value) for key, value in found.items() if not key.startswith("_"))
    return dict(vars(module))

"""Load kernels and helpers, which formulas call beside operators.

Loads them from their source if it is plain Python, else from the built package.
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
    """The kernels from their Python sources, and the others from the built package, if there is one."""
    found, folder = ModuleType("kernels"), package.path(package.kernels)
    name = f"_checked_kernels_{zlib.crc32(str(folder.resolve()).encode())}"
    _forget(name)
    if needed and not folder.is_dir() and folder.with_suffix(".py").exists():
        vars(found).update(vars(_module(folder.with_suffix(".py"))))
    sys.modules[name] = whole = ModuleType(name)  # without the imports of the folder's __init__
    whole.__path__ = [str(folder)]
    for path in sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py") if needed else ():
        try:
            vars(found).update(vars(importlib.import_module(".".join([name, *path.relative_to(folder).with_suffix("").parts]))))
        except ImportError:  # it imports a compiled kernel
            continue
    if missing := needed - vars(found).keys():
        try:
            built = importlib.import_module(f"{package.name}.kernels")
        except Exception:  # a package that fails to import, for any reason, counts as not built
            return found
        vars(found).update({name: getattr(built, name) for name in missing if hasattr(built, name)})
    return found


def _forget(name: str) -> None:
    """Remove a package of an earlier call, whose files may have changed."""
    importlib.invalidate_caches()
    for stale in [known for known in sys.modules if known.partition(".")[0] == name]:
        del sys.modules[stale]


def _module(path: Path) -> ModuleType:
    """A source file as a module outside any package."""
    spec = importlib.util.spec_from_file_location(f"_checked_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def helpers_of_package(package: Package) -> dict[str, Any]:
    """The exports of the folder of helpers, or of the file with its name."""
    path = package.path(package.formulas)
    if not path.is_dir():
        path = path.with_suffix(".py")
        return dict(vars(_module(path))) if path.exists() else {}
    name = f"_checked_formulas_{zlib.crc32(str(path.resolve()).encode())}"
    spec = importlib.util.spec_from_file_location(name, path / "__init__.py", submodule_search_locations=[str(path)])
    _forget(name)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for part in getattr(module, "_REST", ()):  # modules that it imports on demand
        found = vars(importlib.import_module(f"{name}.{part}"))
        vars(module).update((key, value) for key, value in found.items() if not key.startswith("_"))
    return dict(vars(module))

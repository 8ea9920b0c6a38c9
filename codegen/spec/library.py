"""What formulas may call that is not an op: helpers of runtime/formulas.py and kernels of runtime/kernels.

Owns finding them by reading their source, so that checking needs nothing built.  Knows nothing of the spec.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from .model import Argument, Location, Signature, Type

_CYTHON_DEF = re.compile(r"^(?:def|cpdef)\s+(?:[^(\n]*[\s*])?(\w+)\s*\(", re.MULTILINE)


@dataclass(frozen=True)
class Library:
    helpers: dict[str, Signature]
    kernels: frozenset[str]
    formulas_file: str = "runtime/formulas.py"
    formulas_source: str = ""


def read_library(root: Path) -> Library:
    formulas = root / "runtime" / "formulas.py"
    source = formulas.read_text(encoding="utf-8") if formulas.exists() else ""
    kernels: set[str] = set()
    for path in sorted((root / "runtime" / "kernels").glob("**/*.py*")):
        text = path.read_text(encoding="utf-8") if path.suffix in (".py", ".pyx") else ""
        if path.suffix == ".py":
            kernels |= {f.name for f in ast.parse(text).body if isinstance(f, ast.FunctionDef)}
        else:
            kernels |= set(_CYTHON_DEF.findall(text))
    public = frozenset(name for name in kernels if not name.startswith("_"))
    return Library(_helpers(source, "runtime/formulas.py"), public, formulas_source=source)


def unused_helpers(library: Library, called: set[str]) -> list[Signature]:
    """The helpers that neither a formula nor another helper calls."""
    tree = ast.parse(library.formulas_source)
    among = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return [helper for name, helper in library.helpers.items() if name not in called | among]


def _helpers(source: str, file: str) -> dict[str, Signature]:
    return {
        node.name: _signature(node, file)
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }


def _signature(node: ast.FunctionDef, file: str) -> Signature:
    """A helper's parameters; what type each has is not written, and all are static."""
    spec, static = node.args, Type("Scalar", optional=True)
    positional = [*spec.posonlyargs, *spec.args]
    defaults = [None] * (len(positional) - len(spec.defaults)) + spec.defaults
    arguments = [
        Argument(arg.arg, static, None if default is None else ast.unparse(default), keyword_only)
        for args, values, keyword_only in ((positional, defaults, False), (spec.kwonlyargs, spec.kw_defaults, True))
        for arg, default in zip(args, values)
    ]
    location = Location(file, node.lineno, node.col_offset + 1)
    return Signature(node.name, tuple(arguments), (), f"{node.name}({ast.unparse(spec)})", location)

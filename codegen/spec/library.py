"""Find the helpers of runtime/formulas and the kernels of runtime/kernels, which formulas may call beside ops.

Reads their source, so that a check needs no build.  Does not depend on the spec.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ..errors import SpecError, SpecErrors
from ..package import Package
from .model import NAMESPACES, Argument, Location, Op, Signature, Type
from .table import table

_CYTHON_DEF = re.compile(r"^(?:def|cpdef)\s+(?:[^(\n]*[\s*])?(\w+)\s*\(", re.MULTILINE)
_POINTWISE = re.compile(r"^(\w+) = pointwise\(", re.MULTILINE)
_ALL = re.compile(r"^__all__ = (\[[^\]]*\])", re.MULTILINE)
_METHOD = re.compile(r"^    (?:(?:def|cpdef) (?:\w+ )?|cdef (?:public|readonly) \w+ )(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Library:
    helpers: dict[str, Signature]
    kernels: frozenset[str]
    formulas: dict[str, str] = field(default_factory=dict)  # the text of each file of helpers
    kernels_folder: str = "runtime/kernels"
    pointwise: frozenset[str] = frozenset()  # kernels that run in inner loops, element by element
    unexported: frozenset[str] = frozenset()  # functions of kernel modules that their package does not export
    where_to_export: str = ""
    public: frozenset[str] = frozenset()  # public names that do not come from the spec, "tensor", "nn.Linear"
    around: frozenset[str] = frozenset()  # the functions among them that wrap the operator with their name
    attributes: frozenset[str] = frozenset()  # attributes of a tensor that do not come from the spec
    other_spec: str = ""  # the spec of a package that is not gradspec

    @property
    def operators(self) -> Mapping[str, Op]:
        """The library's operators, for the formulas of another package, by name and by alias."""
        return table().operators if self.other_spec else {}

    @property
    def private(self) -> frozenset[str]:
        """The library's operators that another package's formulas must not call."""
        return table().private if self.other_spec else frozenset()


def read_library(place: Package | Path) -> Library:
    package = Package.at(place)
    root, runtime = package.root, package.path(package.runtime)
    kernels: set[str] = set()
    pointwise: set[str] = set()
    for path in package.kernels_files:
        if path.suffix == ".py":
            kernels |= {f.name for f in _parsed(path, root).body if isinstance(f, ast.FunctionDef)}
        elif path.suffix == ".pyx":
            kernels |= set(_CYTHON_DEF.findall(_text(path)))
            pointwise |= set(_POINTWISE.findall(_text(path)))
    kernels = {name for name in kernels | pointwise if not name.startswith("_")}
    exported = _imported(_parsed(package.path(package.kernels) / "__init__.py", root))
    by_table = "COMPILED" in exported  # of generated/kernel_names.py
    if by_table:
        exported = set().union(*offered_kernels(package).values())
    top = _parsed(runtime / "__init__.py", root)
    names = _imported(top) | _listed(top) | _listed(_parsed(runtime / "support" / "constants.py", root))
    modules = [path for folder in package.folders for path in folder.glob("*")]
    names |= {path.stem for path in modules if path.is_dir() or path.suffix.startswith(".py")}
    around = _around(top)
    for namespace in NAMESPACES[1:]:
        for path in (folder / part for folder in package.folders for part in (f"{namespace}.py", f"{namespace}/__init__.py")):
            module = _parsed(path, root)
            names |= {f"{namespace}.{name}" for name in _imported(module) | _listed(module)}
            around |= {f"{namespace}.{name}" for name in _around(module)}
    return Library(
        {f.name: _signature(f, path.relative_to(root).as_posix()) for path in package.formulas_files
         for f in _parsed(path, root).body if isinstance(f, ast.FunctionDef) and not f.name.startswith("_")},
        frozenset(kernels & exported if exported else kernels),
        {path.relative_to(root).as_posix(): _text(path) for path in package.formulas_files}, package.kernels,
        pointwise=frozenset(pointwise),
        unexported=frozenset(kernels - exported if exported else ()),
        where_to_export="`__all__` of its module" if by_table else f"{package.kernels}/__init__.py",
        public=frozenset(names),
        around=frozenset(around & names),
        attributes=frozenset(
            name for stem in ("tensor", "pytorch_tensor", "array_tensor") for path in runtime.rglob(f"{stem}.p*x*")
            for name in _METHOD.findall(_text(path))),
        other_spec="" if package.is_library else package.spec,
    )  # fmt: skip


def offered_kernels(package: Package) -> dict[str, tuple[str, ...]]:
    """The names in `__all__` of each kernel module, by its file below the kernels folder."""
    folder = package.path(package.kernels)
    paths = sorted(path for path in folder.glob("**/*.py*") if path.suffix in (".py", ".pyx"))
    found = {path.relative_to(folder).as_posix(): _ALL.search(_text(path)) for path in paths}
    return {name: names for name, match in found.items() if match and (names := tuple(ast.literal_eval(match[1])))}


def _imported(module: ast.Module) -> set[str]:
    """The names that a module imports from others."""
    imports = [node for node in ast.walk(module) if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names}


def _around(module: ast.Module) -> set[str]:
    """The names that a module imports as themselves, `trace as trace`: functions that wrap the operator with their name."""
    imports = [node for node in ast.walk(module) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in imports for alias in node.names if alias.asname == alias.name}


def _listed(module: ast.Module) -> set[str]:
    """The names in `__all__` of a module."""
    values = [n.value for n in module.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"]
    return {n.value for value in values for n in ast.walk(value) if isinstance(n, ast.Constant)}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _parsed(path: Path, root: Path) -> ast.Module:
    """The tree of a source file; a syntax error in it is reported like an error of the spec."""
    source, name = _text(path), path.relative_to(root).as_posix()
    try:
        return ast.parse(source)
    except SyntaxError as error:
        refusal = SpecError(f"not Python: {error.msg}", Location(name, error.lineno or 1, error.offset or 1))
        refusal.source_line = (error.text or "").rstrip("\n")
        raise SpecErrors([refusal]) from None


def unused_helpers(library: Library, called: set[str]) -> list[Signature]:
    """The helpers that neither a formula nor another helper calls."""
    among = called.union(*map(_called_in, library.formulas.values()))
    return [helper for name, helper in library.helpers.items() if name not in among]


@cache
def _called_in(source: str) -> frozenset[str]:
    """The names that a file of helpers calls."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return frozenset(node.func.id for node in calls if isinstance(node.func, ast.Name))


def helper_texts(place: Package | Path, names: Iterable[str]) -> Iterator[tuple[str, int, str]]:
    """File, line and text of the named helpers and of the helpers that they call."""
    package, wanted = Package.at(place), set(names)
    found: dict[str, tuple[str, ast.FunctionDef, str]] = {}
    for path in package.formulas_files:
        source = _text(path)
        functions = [node for node in _parsed(path, package.root).body if isinstance(node, ast.FunctionDef)]
        found |= {node.name: (path.relative_to(package.root).as_posix(), node, source) for node in functions}
    pending = sorted(wanted & found.keys())
    for name in pending:
        called = {n.func.id for n in ast.walk(found[name][1]) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        pending += sorted(called & found.keys() - set(pending))
    for file, node, source in (found[name] for name in pending):
        first = min(part.lineno for part in (node, *node.decorator_list))
        yield file, first, "\n".join(source.splitlines()[first - 1 : node.end_lineno])


def _signature(node: ast.FunctionDef, file: str) -> Signature:
    """A helper's parameters; their types are not written, and all are static."""
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

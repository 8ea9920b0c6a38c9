"""Definitions: write functions of this library as self-contained text, with all functions that they call.

Resolves a name of a module through imports, the table of kernels, the helpers of formulas, and from a compiled function to its
NumPy expression.  Chooses the name of each definition in a program.  Does not depend on traces.
"""

from __future__ import annotations

import ast
import builtins
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from ...generated.kernel_names import COMPILED, PYTHON
from ...support.errors import CallTypeError

FORWARDS = "generated.numpy_forwards"
PACKAGE = __name__.split(".")[0]
Name = tuple[str, str]  # a module below the package and a name in it; the module is empty for NumPy or Python


class Module:
    """The text of a module, and the statement that binds each of its names.

    Attributes
    ----------
    lines : list of str
    nodes : dict of str to ast.stmt
        The statement that binds each name.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name, self.lines, self.nodes = name, text.splitlines(), {}
        for node in ast.parse(text).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self.nodes[node.name] = node
            elif isinstance(node, ast.Assign):
                names = [part for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
                self.nodes.update((part.id, node) for part in names)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self.nodes.update((alias.asname or alias.name.split(".")[0], node) for alias in node.names)

    def defines(self, name: str) -> bool:
        """Whether this module defines a name itself, instead of importing it."""
        return name in self.nodes and not isinstance(self.nodes[name], (ast.Import, ast.ImportFrom))


@cache
def module(name: str) -> Module | None:
    """A module of the package that is written in Python; None if it is compiled or does not exist."""
    try:
        found = find_spec(f"{PACKAGE}.{name}")
    except ModuleNotFoundError:
        return None
    if found is None or found.origin is None or not found.origin.endswith(".py"):
        return None
    with open(found.origin, encoding="utf-8") as file:
        return Module(name, file.read())


@cache
def kernel(name: str) -> Name | None:
    """The NumPy expression of a kernel."""
    if module("kernels.expressions").defines(name):
        return "kernels.expressions", name
    for table in (COMPILED, PYTHON):
        for place, names in table.items():
            beside = f"kernels.{place.removesuffix('_loops')}"
            if name in names and (found := module(beside)) is not None and found.defines(name):
                return beside, name
    return None


@cache
def helper(name: str) -> Name | None:
    """A helper of formulas."""
    package = module("formulas")
    rest = ast.literal_eval(package.nodes["_REST"].value)
    for place in ("shapes", *rest):
        if module(f"formulas.{place}").defines(name):
            return f"formulas.{place}", name
    return None


def followed(here: Module, path: tuple[str, ...]) -> tuple[Name | None, int]:
    """The definition of a dotted name in a module, and the number of its parts that were resolved.

    A name from outside the package is (``""``, the import that binds it); the definition is None if a program cannot contain it.
    """
    node = here.nodes[path[0]]
    if isinstance(node, ast.Import):
        return ("", ast.unparse(node)), 1
    if not isinstance(node, ast.ImportFrom):
        return (here.name, path[0]), 1
    alias = next(one for one in node.names if (one.asname or one.name) == path[0])
    start = [PACKAGE, *here.name.split(".")][: -node.level] if node.level else []
    parts = ".".join([*start, *filter(None, (node.module or "").split("."))]).split(".")
    if parts[0] != PACKAGE:
        return ("", f"from {node.module} import {ast.unparse(alias)}"), 1
    place = ".".join(parts[1:])
    if len(path) > 1 and not place and alias.name in ("kernels", "formulas"):
        return (kernel if alias.name == "kernels" else helper)(path[1]), 2
    if len(path) > 1 and (module(place) is None or alias.name not in module(place).nodes):
        return defined(f"{place}.{alias.name}", path[1]), 2
    return defined(place, alias.name), 1


def defined(place: str, name: str) -> Name | None:
    """The definition that a name of a module refers to."""
    found = module(place)
    if found is not None and name in found.nodes:
        node = found.nodes[name]
        return followed(found, (name,))[0] if isinstance(node, (ast.Import, ast.ImportFrom)) else (place, name)
    if place == "formulas":
        return helper(name)
    beside = module(place.removesuffix("_loops")) if place.endswith("_loops") else None
    return (beside.name, name) if beside is not None and beside.defines(name) else kernel(name)


class Definitions:
    """The definitions that a program needs, each after its dependencies.

    Parameters
    ----------
    taken : set of str
        Names that the program uses otherwise.
    """

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken | set(dir(builtins))
        self.names: dict[Name, str] = {}
        self.imports: dict[str, None] = {}
        self.texts: list[str] = []

    def want(self, wanted: Name, on_behalf_of: str) -> str:
        """The program's name for a definition, which is added if it is new."""
        found = self.names.get(wanted)
        if found is not None:
            return found
        name = self.names[wanted] = self.free(wanted[1])
        self.texts.append(self.text(wanted, name, on_behalf_of))
        return name

    def beside(self, name: str) -> str:
        """A second name for a definition, used by a function that binds the first name itself."""
        other = self.free(name)
        self.texts.append(f"{other} = {name}")
        return other

    def free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def text(self, wanted: Name, name: str, on_behalf_of: str) -> str:
        """The lines of a definition, with names of its module replaced by the program's names."""
        found = parts_of(*wanted)
        if found.missing:
            raise missing(on_behalf_of, found.missing)
        self.imports.update(dict.fromkeys(found.imports))
        edits = [(*found.place, name)]
        for place, target in found.calls:
            called = self.want(target, on_behalf_of)
            edits.append((*place, self.beside(called) if called in found.bound else called))
        lines = found.lines[:]
        for line, start, end, text in sorted(edits, reverse=True):
            data = lines[line].encode()
            lines[line] = (data[:start] + text.encode() + data[end:]).decode()
        return "\n".join(line for number, line in enumerate(lines) if number not in found.dropped)


class Parts(NamedTuple):
    """The parts of a definition; places are (line, first byte, end)."""

    lines: list[str]
    place: tuple[int, int, int]  # of the definition's name
    calls: list[tuple[tuple[int, int, int], Name]]
    imports: list[str]
    bound: set[str]  # names that the definition binds
    dropped: range  # lines of the docstring after the first
    missing: str  # the name without Python text, if any


@cache
def parts_of(place: str, name: str) -> Parts:
    own = module(place)
    node: Any = own.nodes[name]
    first = min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        at = (target.lineno - first, target.col_offset, target.end_col_offset)
        if not isinstance(target, ast.Name):  # one of several names that are assigned together
            return Parts([], at, [], [], set(), range(0), name)
    else:
        start = own.lines[node.lineno - 1].index(name, node.col_offset)
        at = (node.lineno - first, start, start + len(name))
    lines, dropped = docstring_cut(own.lines[first - 1 : node.end_lineno], node, first)
    parts = list(ast.walk(node))
    bound = {part.arg for part in parts if isinstance(part, ast.arg)}
    bound |= {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    found = Parts(lines, at, [], [], bound, dropped, "")
    inside: set[int] = set()
    for part in parts:
        path = dotted(part)
        if path is None or id(part) in inside or path[0] in bound or path[0] not in own.nodes:
            continue
        inside.update(id(below) for below in ast.walk(part) if below is not part)
        target, count = followed(own, path)
        if target is None:
            return found._replace(missing=".".join(path))
        if not target[0]:
            found.imports.append(target[1])
            continue
        for _ in path[count:]:
            part = part.value
        found.calls.append(((part.lineno - first, part.col_offset, part.end_col_offset), target))
    return found


def missing(on_behalf_of: str, name: str) -> CallTypeError:
    return refusal(on_behalf_of, f", for '{name}' is compiled")


def refusal(name: str, why: str = "") -> CallTypeError:
    return CallTypeError(f"trace: {name} has no text over NumPy alone{why}; write the program over gradspec, trace.python()")


def dotted(node: ast.AST) -> tuple[str, ...] | None:
    """The parts of `a.b.c`; None for a node that is not a dotted name."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return None if before is None else (*before, node.attr)
    return None


def docstring_cut(lines: list[str], node: Any, first: int) -> tuple[list[str], range]:
    """The lines of a definition with its docstring cut to one line, and the range of lines to drop."""
    head = node.body[0] if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None else None
    if head is None or head.lineno == head.end_lineno:
        return lines, range(0)
    start, end = head.lineno - first, head.end_lineno - first
    lines[start] = lines[start].rstrip() + '"""'
    return lines, range(start + 1, end + 1)

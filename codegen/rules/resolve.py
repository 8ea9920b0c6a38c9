"""Resolution: does every name, attribute and call of a formula mean something where it stands?

Owns the two dialects: formulas over ops and helpers, and `forward` / `inplace` over NumPy and kernels.  Knows nothing
of derivative forms.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

import numpy as np

from ..errors import ErrorList, SpecError, did_you_mean
from ..spec.formula import ARRAY, ARRAYS, METADATA, ROOTS, STATIC, Scope, bind_call, kind_of
from ..spec.library import Library
from ..spec.model import Argument, Location, Signature

_KIND_WORDS = {ARRAY: "an array", ARRAYS: "several arrays", STATIC: "static"}


class Resolver(ast.NodeVisitor):
    """Visits one formula and reports each thing in it that does not resolve."""

    def __init__(self, scope: Scope, library: Library, errors: ErrorList, op: str, key: str,
                 names: Iterable[str], elsewhere: Mapping[str, str], numpy: bool):  # fmt: skip
        self.scope, self.library = scope, library
        self.errors, self.op, self.key = errors, op, key
        self.names, self.elsewhere = set(names), elsewhere
        self.numpy = numpy
        self.metadata_only: set[str] = set()  # names of which the shape can be read, not the value

    def report(self, message: str, at: ast.AST | Location, known: Iterable[str] = (), name: str = "") -> None:
        self.errors.add(message, at, self.op, self.key, suggestion=did_you_mean(name, known) if name else "")

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        if name in self.names:
            return
        if name in self.elsewhere:
            self.report(self.elsewhere[name], node)
        elif name in self.scope.ops or name in self.scope.helpers:
            self.report(f"'{name}' is a function: call it", node)
        elif name in ROOTS:
            self.report(f"'{name}' stands in forward and inplace only; formulas call ops", node)
        else:
            self.report(f"unknown name '{name}'", node, self.names, name)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        root, path = _dotted(node)
        if root in ROOTS and self.numpy:
            self._visit_root(node, root, path)
            return
        if root in ROOTS:
            self.report(f"'{root}' stands in forward and inplace only; formulas call ops", node)
            return
        if self.numpy and (node.attr in METADATA or hasattr(np.ndarray, node.attr)):
            self.visit(node.value)
        elif node.attr not in METADATA:
            known = [a for a in dir(np.ndarray) if not a.startswith("_")] if self.numpy else METADATA
            what = "arrays have no" if self.numpy else "only .shape .ndim .dtype .size can be read, not"
            self.report(f"{what} .{node.attr}", _at_attribute(node), known, node.attr)
        elif not isinstance(node.value, ast.Name):
            self.report(f".{node.attr} of an expression: name the expression in let and pass it to an op", node)
        elif node.value.id not in self.metadata_only:
            self.visit(node.value)
            if node.value.id in self.names and self.scope.kinds.get(node.value.id) == STATIC:
                self.report(f"'{node.value.id}' is not an array", node)

    def _visit_root(self, node: ast.Attribute, root: str, path: list[ast.Attribute]) -> None:
        if root == "kernels":
            name, known = path[0].attr, self.library.kernels
            if name not in known:
                self.report(f"no kernel '{name}' in runtime/kernels", _at_attribute(path[0]), known, name)
            return
        value: object = np
        for part in path:
            if not hasattr(value, part.attr):
                self.report(f"NumPy has no {ast.unparse(part)}", _at_attribute(part), dir(value), part.attr)
                return
            value = getattr(value, part.attr)

    def visit_Call(self, node: ast.Call) -> None:
        for value in [*node.args, *(keyword.value for keyword in node.keywords)]:
            self.visit(value)
        if not isinstance(node.func, ast.Name):
            if self.numpy or _dotted(node.func)[0] in ROOTS:
                self.visit(node.func)
            else:
                self.report("a formula calls ops and helpers by name, and arrays have no methods here", node)
            return
        name = node.func.id
        callee = self.scope.helpers.get(name) if self.numpy else self.scope.callee(node)
        if callee is None:
            what = "forward calls np.*, kernels.* and helpers: unknown" if self.numpy else "unknown"
            known = [*self.scope.helpers, *([] if self.numpy else self.scope.ops)]
            self.report(f"{what} function '{name}'", node.func, known, name)
            return
        if name.endswith("_") and name in self.scope.ops:
            self.report(f"{name} works in place: a formula must not write", node.func)
            return
        with self.errors.catch(self.op, self.key):
            for parameter, value in bind_call(node, callee).items():
                self._check_argument(name, callee, callee.argument(parameter), value)

    def _check_argument(self, name: str, callee: Signature, parameter: Argument, value: ast.expr) -> None:
        kind, type_ = kind_of(value, self.scope), parameter.type
        if name in self.scope.helpers and name not in self.scope.ops:
            wanted = (STATIC,)
        elif type_.base == "Index":
            return
        elif type_.base in ("Array", "Mask"):
            wanted = (ARRAYS, STATIC) if type_.is_list else (ARRAY, STATIC)
        else:
            wanted = (STATIC,)
        if kind not in wanted:
            takes = {ARRAY: "one array", ARRAYS: "a list of arrays", STATIC: "a static value"}[wanted[0]]
            given = f"{ast.unparse(value)} is {_KIND_WORDS[kind]}"
            raise SpecError(f"'{parameter.name}' of {name} takes {takes}; {given}", value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        if not self.numpy and kind_of(node.value, self.scope) == ARRAY:
            self.report("arrays are not subscripted in a formula: use an op", node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.generic_visit(node)
        if not self.numpy and kind_of(node.test, self.scope) != STATIC:
            self.report("a condition is static; choose between elements with where", node.test)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.generic_visit(node)
        for value in node.values:
            if not self.numpy and kind_of(value, self.scope) != STATIC:
                self.report("'and' and 'or' are static; combine arrays with logical_and and logical_or", value)


def _dotted(node: ast.expr) -> tuple[str, list[ast.Attribute]]:
    """`np.linalg.inv` is ("np", [np.linalg, np.linalg.inv]); the root of anything else is empty."""
    path: list[ast.Attribute] = []
    while isinstance(node, ast.Attribute):
        path.insert(0, node)
        node = node.value
    return (node.id if isinstance(node, ast.Name) else ""), path


def _at_attribute(node: ast.Attribute) -> Location:
    return Location("", node.end_lineno, node.end_col_offset - len(node.attr) + 1)

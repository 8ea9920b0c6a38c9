"""Serialise the parsed and analysed content of a document.

Stores places relative to the first line of their document, so that a document can move in its file.  The tree of a formula stays
serialised until it is read.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import io
import pickle
from collections.abc import Iterator
from typing import Any

from .ast_walk import by_depth
from .model import Formula, Location, Span, Text

_OURS = __name__.removesuffix("spec.cache_format")
_NAMES = ("codegen.", "gradspec.codegen.")  # the package in a checkout and installed; each reads the data of the other
_PARTS = ("ast", "_ast", "builtins", "functools")  # modules outside this package with classes that a spec contains


def packed(value: Any, file: str = "", first: int = 1) -> bytes:
    """The bytes of a value; places in `file` from line `first` on are stored relative to that line."""
    buffer = io.BytesIO()
    _Packer(buffer, file, first).dump(value)
    return buffer.getvalue()


def unpacked(data: bytes, first: int = 1) -> Any:
    """The value, whose document now begins at line `first`; pickle.UnpicklingError if the data is not part of a spec."""
    with uncollected():
        return _Unpacker(data, first).load()


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Disable garbage collection: a spec has no garbage cycles, and searching for them takes a third of the time."""
    collecting = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if collecting:
            gc.enable()


class _Packer(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, file: str, first: int):
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self.file, self.first = file, first

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Formula):
            tree = pickle.dumps(value.tree, pickle.HIGHEST_PROTOCOL)
            known = {name: part for name, part in vars(value).items() if name != "tree"} | {"calls": value.calls}
            return _formula, (tree, value.location.line, known)
        if isinstance(value, Location) and value.file == self.file and value.line >= self.first:
            lines = [value.line - self.first, value.column]
            if isinstance(value, Span):
                lines += [value.end_line - self.first, value.end_column]
            return _place, (value.file, *lines)
        if isinstance(value, Text) and value.file == self.file and value.location.line >= self.first:
            return _text, (value.value, value.file, [(line - self.first, column) for line, column in value.places])
        return NotImplemented


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: bytes, first: int):
        super().__init__(io.BytesIO(data))
        self.first = first

    def find_class(self, module: str, name: str) -> Any:
        prefix = next((prefix for prefix in _NAMES if module.startswith(prefix)), None)
        module = _OURS + module.removeprefix(prefix) if prefix else module
        if module == __name__ and name in (_place.__name__, _text.__name__):
            return functools.partial(globals()[name], first=self.first)
        if not (module.startswith(_OURS) or module in _PARTS):
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a spec")
        return super().find_class(module, name)


def _place(file: str, line: int, column: int, *end: int, first: int = 0) -> Location:
    if not end:
        return Location(file, line + first, column)
    return Span(file, line + first, column, end[0] + first, end[1])


def _text(value: str, file: str, places: list[tuple[int, int]], first: int = 0) -> Text:
    return Text(value, file, tuple((line + first, column) for line, column in places))


def _formula(tree: bytes, line: int, known: dict[str, Any]) -> Formula:
    formula = object.__new__(Formula)
    vars(formula).update(known, packed=functools.partial(_tree, tree, known["location"].line - line))
    return formula


def _tree(data: bytes, down: int) -> ast.expr:
    tree = _Unpacker(data, 0).load()
    for node in by_depth(tree) if down else ():
        if isinstance(node, (ast.expr, ast.keyword)):
            node.lineno, node.end_lineno = node.lineno + down, node.end_lineno + down
    return tree

"""The sections of a docstring after numpydoc, for the stubs and for help(): Parameters, Returns, Notes, References, Examples.

Owns how types are worded for readers and which lines describe an argument.  The notes are the maths and the example is a
session, which are worded elsewhere; a stub goes without.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..spec.model import Argument, Output, Type
from .bindings import Bindings

WIDTH = 120  # of a line without its indentation
_WORDS = {"Array": "array_like", "Index": "index", "Mask": "array_like of bool", "Scalar": "scalar", "DType": "dtype",
          "Generator": "numpy.random.Generator or int"}  # fmt: skip


def docstring(op: Bindings, notes: Iterable[str] = (), session: Iterable[str] = ()) -> str:
    """The docstring of a public function, its lines indented by four from the second on."""
    lines = list(textwrap.wrap(op.doc, WIDTH))
    parameters = [part for a in op.arguments for part in _entry(a.name, _argument(a), op.op.args.get(a.name, ""))]
    if "out" in op.op.variants:
        parameters += _entry("out", "Tensor, optional", "Where the result is written.")
    if op.is_creation:
        parameters += _entry("requires_grad", "bool, default False", "Whether the result is a leaf that collects a gradient.")
    lines += _section("Parameters", parameters)
    lines += _section("Returns", [part for o in op.visible for part in _entry(o.name, _output(o), "")])
    lines += _section("Notes", notes)
    lines += _section("References", textwrap.wrap(op.op.ref, WIDTH))
    lines += _section("Examples", session)
    return "\n".join(f"    {line}" if line else "" for line in [*lines, ""]).lstrip() + "    "


def words(type_: Type) -> str:
    """`int or sequence of int` for int[]; what may be None is said with the default."""
    base = _WORDS.get(type_.base, type_.base)
    if not type_.is_list:
        return base
    many = f"sequence of {type_.length}" if type_.length else f"sequence of {base}"
    return many if type_.is_array else f"{base} or {many}"


def _argument(a: Argument) -> str:
    said = words(a.type)
    if a.variadic:
        said = f"{words(replace(a.type, is_list=False))}, one or more, or a {said}"
    said += " or str" if a.type.or_word else ""
    said += " or None" if a.type.optional else ""
    return said if a.default is None else f"{said}, default {a.default}"


def _output(output: Output) -> str:
    return "list of Tensor" if output.type.is_list else "Tensor"


def _entry(name: str, said: str, line: str) -> Iterator[str]:
    yield f"{name} : {said}"
    yield from textwrap.wrap(line, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _section(heading: str, lines: Iterable[str]) -> list[str]:
    lines = list(lines)
    return ["", heading, "-" * len(heading), *lines] if lines else []

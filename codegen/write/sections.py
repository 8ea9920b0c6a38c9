"""Write the numpydoc sections of a docstring: Parameters, Returns, Notes, References, Examples.

Words the types for readers, describes the arguments, and lays out the lines in generated/docs.  Other modules word the notes and
the example.  `gradspec.support.docstrings` adds the headings.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace

from ..spec.model import Argument, Type
from .arguments import Bindings
from .layout import packed
from .wrapper import OpText

WIDTH = 120  # characters in a line of a docstring
RETURNS = ["y : Tensor"]  # the default of `returns`
_WORDS = {"Array": "array_like", "Index": "index", "Mask": "array_like of bool", "Scalar": "scalar", "DType": "dtype",
          "Generator": "numpy.random.Generator or int"}  # fmt: skip


def record(op: OpText, notes: list[str], session: list[str]) -> str:
    """`"name": docstring(...)` in as few lines as possible; empty or usual sections are left out."""
    parts = [f'"{op.name}": docstring(', *_text("", textwrap.wrap(op.doc, WIDTH))]
    parts += _text("", parameters(op), shared(op))
    parts += _text("", [*notes, *unlike(op)])
    parts += _text("examples=", session) if session else []
    parts += _text("returns=", returns(op)) if returns(op) != RETURNS else []
    parts += _text("references=", textwrap.wrap(op.op.ref, WIDTH)) if op.op.ref else []
    parts[-1] = f"{parts[-1].rstrip(',')}),"
    return "\n".join(packed(parts, "    ", "        "))


def unlike(op: Bindings) -> list[str]:
    """The lines about a difference from PyTorch's function of this name."""
    if op.op.unlike is None:
        return []
    argument, words = op.op.unlike
    called = f"PyTorch's keywords without `{argument}`" if argument else "PyTorch's keywords"
    return ["", *textwrap.wrap(f"A call with {called} is refused: {words}.", WIDTH)]


def parameters(op: OpText) -> list[str]:
    """The lines of the entry's arguments, and of further NumPy parameters."""
    own = [line for a in op.arguments for line in _entry(a, op.op.args.get(a.name, ""))]
    if op.op.factor:
        own += [f"{op.op.factor[0]} : array_like, optional", f"    Factor of `{op.op.factor[1]}`."]
    if op.op.cast:
        own += ["dtype : dtype, optional", f"    To which `{op.op.cast}` is cast first."]
    if op.may_overwrite:
        own += ["inplace : bool, default False", f"    Whether the result is written into `{op.names[0]}`."]
    if not op.function_beside:
        return own
    return [*own, f"{', '.join(op.function_beside)} : optional", f"    As `numpy.{op.numpy_method.name}` takes them."]


def shared(op: Bindings) -> list[str]:
    """Names, in `gradspec.support.docstrings`, of lines for arguments that many functions share."""
    return ["OUT"] * ("out" in op.op.variants) + ["LEAF"] * op.is_creation


def returns(op: Bindings) -> list[str]:
    """The lines of the results."""
    return [f"{o.name} : {'list of Tensor' if o.type.is_list else 'Tensor'}" for o in op.visible]


def words(type_: Type) -> str:
    """`int or sequence of int` for int[]; an optional None is added with the default."""
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


def _entry(a: Argument, line: str) -> Iterator[str]:
    yield f"{a.name} : {_argument(a)}"
    yield from textwrap.wrap(line, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _text(name: str, lines: list[str], constants: list[str] | None = None) -> list[str]:
    """The pieces of a text of many lines; the source may break between them, and `constants` are added at its end."""
    ends = [*["\n"] * (len(lines) - 1), "\n" if constants else ""]
    pieces = [repr(line + end) for line, end in zip(lines, ends)]
    for constant in constants or []:
        pieces[-1:] = [f"{pieces[-1]} + {constant}"] if pieces else [constant]
    pieces = pieces or ["''"]
    return [name + pieces[0], *pieces[1:-1], f"{pieces[-1]},"] if len(pieces) > 1 else [f"{name}{pieces[0]},"]

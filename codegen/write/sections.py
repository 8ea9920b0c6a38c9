"""Write the numpydoc sections of a docstring: Parameters, Returns, Notes, References, Examples.

Words the types for readers, describes the arguments, and lays out the lines in generated/docs.  Other modules word the notes and
the example.  `gradspec.support.docstrings` adds the headings.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator
from dataclasses import replace

from ..spec.model import Argument, Type
from . import stubs
from .arguments import Bindings, name_of
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
    """The lines of the parameters, in their order; those that `shared` names are left out."""
    known = {a.name: [*_entry(a, op.op.args.get(a.name, ""))] for a in op.arguments}
    if op.op.factor:
        known[op.op.factor[0]] = [f"{op.op.factor[0]} : array_like, optional", f"    Factor of `{op.op.factor[1]}`."]
    if op.op.cast:
        known["dtype"] = ["dtype : dtype, optional", f"    To which `{op.op.cast}` is cast first."]
    if op.may_overwrite:
        known["inplace"] = ["inplace : bool, default False", f"    Whether the result is written into `{op.names[0]}`."]
    if "out" in op.op.variants:
        known["out"] = ["out : Tensor, optional", "    Where the result is written."]
    found: list[str] = []
    for is_known, group in itertools.groupby(_names(op)[0], known.__contains__):
        together = list(group)
        if is_known:
            found += [line for name in together for line in known[name]]
        else:
            found += [f"{', '.join(together)} : optional", f"    As `numpy.{op.numpy_method.name}` takes them."]
    return found


def shared(op: Bindings) -> list[str]:
    """Names, in `gradspec.support.docstrings`, of lines for last parameters that many functions share."""
    return [_SHARED[name] for name in _names(op)[1]]


_SHARED = {"out": "OUT", "requires_grad": "LEAF"}


def _names(op: OpText) -> tuple[list[str], list[str]]:
    """The names of a function's own parameters, and of the shared ones at the end."""
    names = [name_of(parameter) for parameter in stubs.parameters_of(op) if parameter != "*"]
    count = sum(1 for _ in itertools.takewhile(_SHARED.__contains__, reversed(names)))
    return names[: len(names) - count], names[len(names) - count :]


def returns(op: Bindings) -> list[str]:
    """The lines of the results."""
    kinds = {True: "tuple of Tensor", False: "list of Tensor"}
    return [f"{o.name} : {kinds[o.type.is_tuple] if o.type.is_list else 'Tensor'}" for o in op.visible]


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

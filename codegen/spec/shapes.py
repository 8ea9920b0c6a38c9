"""Shapes: `(..., m, k), (..., k, n) -> (..., m, n)`.

Defines their grammar:

    shape   := "_" | [pattern {"," pattern}] "->" result {"," result}
    pattern := (NAME | "_" | "(" [dim {"," dim}] ")") ["[]"]  one for each Array, Index or Mask argument; "[]" for a list
    dim     := NAME ["?"] | INTEGER | "_" | "..."             "_" is any size; "..." only at the front
    result  := pattern | ("broadcast" | "reduce") "(" NAME {"," NAME} ")"

A bare NAME is a whole shape.  `_` is any shape, or a shape that depends on values; `_` alone declares no shape.  The "..." of all
inputs broadcast together.  A dim `m?` is left out if the operand has too few axes, as in `(..., m?, k), (..., k, n?) ->
(..., m?, n?)`.  A NAME in a result that no input binds is an argument: an `int[]` argument is a whole shape, an `int` one is a
dim.  `reduce(x)` is the shape of x after the op's `axis` and `keepdims`; `reduce(a, b)` is the same for the broadcast shape.  A
shape is a tuple of dims: numbers in the check of samples, symbols in the check of formulas before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import SpecError
from .expression import Call, Constant, Expression, Name, Operation
from .model import Argument, Op, Signature, Text
from .signature import split

Dim = int | str
Dims = tuple[Dim, ...]
_FUNCTION = re.compile(r"(broadcast|reduce)\((.*)\)$", re.DOTALL)


class Mismatch(Exception):
    """Incompatible shapes; the message names them."""


class Unknown(Exception):
    """A shape that is unknown before the program runs."""


@dataclass(frozen=True)
class Pattern:
    """`x` is Pattern(whole="x"); `(..., m)` is Pattern(dims=("...", "m")); `reduce(x)` has a function."""

    dims: Dims = ()
    whole: tuple[str, ...] = ()
    function: str = ""
    is_list: bool = False

    @property
    def is_any(self) -> bool:
        return self.whole == ("_",)

    def __str__(self) -> str:
        if self.is_list:
            return f"{replace(self, is_list=False)}[]"
        if self.function:
            return f"{self.function}({', '.join(self.whole)})"
        return self.whole[0] if self.whole else show(self.dims)


@dataclass(frozen=True)
class Shape:
    inputs: tuple[Pattern, ...]
    results: tuple[Pattern, ...]


def show(dims: Dims) -> str:
    return f"({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''})"


def shaped(signature: Signature) -> list[Argument]:
    """The arguments that have a pattern."""
    return [a for a in signature.arguments if a.type.base in ("Array", "Index", "Mask")]


def parse_shape(text: Text, signature: Signature) -> Shape:
    if text.value == "_":
        return Shape(*(tuple(Pattern(whole=("_",), is_list=item.type.is_list) for item in items)
                       for items in (shaped(signature), signature.outputs)))  # fmt: skip
    left, arrow, _ = text.value.partition("->")
    if not arrow:
        raise SpecError("a shape is `inputs -> outputs`", text.location)
    inputs = [(part, _pattern(part)) for part in split(text.part(0, len(left)))]
    results = [(part, _pattern(part)) for part in split(text.part(len(left) + 2, len(text.value)))]
    arguments = shaped(signature)
    for what, parts, wanted in (("array input", inputs, len(arguments)), ("output", results, len(signature.outputs))):
        if len(parts) != wanted:
            raise SpecError(f"{len(parts)} shapes for {wanted} {what}{'s' * (wanted != 1)}", text.location)

    for (part, pattern), item in zip((*inputs, *results), (*arguments, *signature.outputs)):
        if pattern.is_list != item.type.is_list:
            what = "is a list: the shape of each is written with []" if item.type.is_list else "is one array, not a list"
            raise SpecError(f"'{item.name}' {what}", part.location)
    bound = {_plain(name) for _, pattern in inputs for name in (*pattern.dims, *pattern.whole)}
    bound |= {a.name for a in signature.arguments if a.type.base == "int"} | {"_"}
    for part, pattern in inputs:
        if pattern.function:
            raise SpecError(f"{pattern.function} is allowed in a result only", part.location)
    for part, pattern in results:
        for name in (*pattern.dims, *pattern.whole):
            if isinstance(name, str) and _plain(name) not in bound:
                at = part.at(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", part.value).start())
                raise SpecError(f"no input has '{_plain(name)}'", at)
    return Shape(tuple(p for _, p in inputs), tuple(p for _, p in results))


def shape_of(op: Op) -> Shape:
    """The declared shapes of an entry; `_` if it declares none."""
    at = op.places.get("shape", op.location)
    return parse_shape(Text(op.shape or "_", at.file, ((at.line, at.column),)), op.signature)


def _pattern(text: Text) -> Pattern:
    if match := _FUNCTION.match(text.value):
        names = tuple(_dim(part) for part in split(text.part(match.start(2), match.end(2))))
        if not names or "..." in names:
            raise SpecError(f"{match[1]} takes names", text.location)
        return Pattern(whole=names, function=match[1])
    if text.value.endswith("[]"):
        each = _pattern(text.part(0, len(text.value) - 2))
        if each.is_list or each.function:
            raise SpecError(f"'{text.value}' is not a shape", text.location)
        return replace(each, is_list=True)
    if text.value.isidentifier() and text.value.isascii():
        return Pattern(whole=(text.value,))
    if not (text.value.startswith("(") and text.value.endswith(")")):
        raise SpecError(f"'{text.value}' is not a shape", text.location)
    parts = [part for part in split(text.part(1, len(text.value) - 1)) if part.value]
    for part in parts[1:]:
        if part.value == "...":
            raise SpecError("'...' is allowed at the front only", part.location)
    return Pattern(tuple(_dim(part) for part in parts))


def _dim(text: Text) -> Dim:
    if re.fullmatch("[0-9]{1,9}", text.value):
        return int(text.value)
    name = _plain(text.value)
    if text.value == "..." or name.isidentifier() and name.isascii() and text.value != "_?":
        return text.value
    raise SpecError(f"'{text.value}' is not a dim", text.location)


def _plain(dim: Dim) -> Dim:
    return dim.removesuffix("?") if isinstance(dim, str) else dim


def results(shape: Shape, inputs: Sequence[Dims | None], statics: Mapping[str, object]) -> list[Dims]:
    """The shapes of the outputs, all of them known; the shape of an absent input is None."""
    found = partial_results(shape, inputs, statics)
    if any(dims is None or "_" in dims for dims in found):
        raise Unknown
    return found


def partial_results(shape: Shape, inputs: Sequence[Any], statics: Mapping[str, object]) -> list[Dims | None]:
    """The known parts of the outputs' shapes: an unknown shape is None, an unknown dim `_`.

    The shape of an absent input is None; a list input has a list of shapes.
    """
    bound: dict[str, Dims] = {}
    for pattern, dims in zip(shape.inputs, inputs):
        if dims is not None and not pattern.is_any:
            for each in dims if pattern.is_list else [dims]:
                _match(pattern, tuple(each), bound)
    return [_known(pattern, bound, statics) for pattern in shape.results]


def _known(pattern: Pattern, bound: Mapping[str, Dims], statics: Mapping[str, object]) -> Dims | None:
    try:
        return None if pattern.is_any else _result(pattern, bound, statics)
    except Unknown:
        return None


def _match(pattern: Pattern, dims: Dims, bound: dict[str, Dims]) -> None:
    if pattern.whole:
        if bound.setdefault(pattern.whole[0], dims) != dims:
            raise Mismatch(f"'{pattern.whole[0]}' is {show(bound[pattern.whole[0]])} and {show(dims)}")
        return
    batch = ("...",) if pattern.dims[:1] == ("...",) else ()
    names, optional = pattern.dims, [dim for dim in pattern.dims if dim != _plain(dim)]
    if optional and len(dims) < len(names) - len(batch) and not any(map(_is_open, dims)):
        names = tuple(dim for dim in names if dim not in optional)
        bound |= {_plain(dim): () for dim in optional}
    names = tuple(map(_plain, names))
    fixed = len(names) - len(batch)
    start = len(dims) - fixed
    tail = dims[max(start, 0) :]
    if any(map(_is_open, dims if start < 0 else tail)):
        raise Unknown
    if start < 0 or start > 0 and not batch:
        raise Mismatch(f"{show(dims)} is not {pattern}")
    if batch:
        bound["..."] = broadcast(bound.get("...", ()), dims[:start])
    for name, dim in zip(names[len(batch) :], tail):
        if name == "_":
            continue
        expected = (name,) if isinstance(name, int) else bound.setdefault(name, (dim,))
        if expected != (dim,):
            raise Mismatch(f"'{name}' is {expected[0] if expected else 'left out'} and {dim}")


def _result(pattern: Pattern, bound: Mapping[str, Dims], statics: Mapping[str, object]) -> Dims:
    if pattern.function == "broadcast":
        return broadcast(*(bound[name] for name in pattern.whole if name in bound))
    if pattern.function == "reduce":
        return _reduce(broadcast(*(bound[name] for name in pattern.whole if name in bound)), statics)
    if pattern.whole:
        return _static_dims(bound, statics, pattern.whole[0])
    parts = [(d,) if isinstance(d, int) or d == "_" else _static_dims(bound, statics, _plain(d)) for d in pattern.dims]
    return tuple(dim for part in parts for dim in part)


def _static_dims(bound: Mapping[str, Dims], statics: Mapping[str, object], name: str) -> Dims:
    if name in bound:
        return bound[name]
    value = statics.get(name)
    if isinstance(value, int):
        return (value,)
    if not isinstance(value, (tuple, list)):
        raise Unknown
    return tuple("_" if isinstance(dim, int) and dim < 0 else dim for dim in value)


def _reduce(dims: Dims, statics: Mapping[str, object]) -> Dims:
    if "axis" not in statics or any(map(_is_open, dims)):
        raise Unknown
    axis = statics["axis"]
    axes = range(len(dims)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    gone = {a % len(dims) for a in axes} if dims else set()
    kept = ((1,) if statics.get("keepdims") else ())
    return tuple(d for i, dim in enumerate(dims) for d in (kept if i in gone else (dim,)))


def broadcast(*shapes: Dims) -> Dims:
    width = max((len(dims) for dims in shapes), default=0)
    result: list[Dim] = []
    for place in range(-width, 0):
        dims = {shape[place] for shape in shapes if len(shape) >= -place} - {1}
        if len(dims) > 1:
            if any(isinstance(dim, str) for dim in dims):
                raise Unknown
            raise Mismatch(f"{' and '.join(map(show, shapes))} do not broadcast")
        result.append(dims.pop() if dims else 1)
    return tuple(result)


def symbolic(shape: Shape, signature: Signature) -> dict[str, Dims]:
    """The symbolic shape of each input and output, in the symbols of its own pattern; computed shapes are left out."""
    names = [*(a.name for a in shaped(signature)), *(o.name for o in signature.outputs)]
    bound = {name for pattern in shape.inputs for name in pattern.whole}
    return {
        name: tuple(f"{w}..." for w in pattern.whole) or pattern.dims
        for name, pattern in zip(names, (*shape.inputs, *shape.results))
        if not (pattern.function or pattern.is_any or pattern.is_list) and bound.issuperset(pattern.whole)
        and not any(dim == "_" or dim != _plain(dim) for dim in pattern.dims)
    }


def infer(value: Expression, known: Mapping[str, Dims], callee: Callable[[str], tuple[Signature, Shape] | None]) -> Dims:
    """The symbolic shape of an expression's value."""
    match value:
        case Constant(int() | float() | complex()):
            return ()
        case Name(name) if name in known:
            return known[name]
        case Operation(("+" | "-" | "*" | "/" | "**",), operands) | Call("", operands):
            return broadcast(*(infer(operand, known, callee) for operand in operands))
        case Call(op, arguments) if (found := callee(op)) and len(found[0].visible) == 1:
            signature, shape = found
            bound = {a.name: argument for a, argument in zip(signature.arguments, arguments) if argument is not None}
            inputs = [infer(bound[a.name], known, callee) if a.name in bound else None for a in shaped(signature)]
            statics = {name: v.value for name, v in bound.items() if isinstance(v, Constant)}
            return results(shape, inputs, statics)[0]
    raise Unknown


def reduces_to(dims: Dims, target: Dims) -> bool:
    """Whether a sum over broadcast axes can turn `dims` into `target`; open shapes are compared as far as possible."""
    if len(dims) < len(target) and not any(map(_is_open, (*dims, *target))):
        return False
    pairs = zip(reversed(dims), reversed(target))
    return all(d == t or t == 1 or _is_open(d) or _is_open(t) for d, t in pairs)


def _is_open(dim: Dim) -> bool:
    """Whether a symbol represents any number of axes."""
    return isinstance(dim, str) and dim.endswith("...")

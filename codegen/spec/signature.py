"""Signatures: `sum(x, int[]? axis=None, bool keepdims=False) -> y`.

Defines their grammar:

    signature := ["_"] name "(" [argument {"," argument}] ")" "->" output {"," output}
    argument  := [type] name ["=" literal]  |  "*"            (arguments after "*" are keyword-only)
               | type "[]" "*" name                           (a list, or its items one by one)
    output    := [type] ["_"] name                            (hidden ones last)
    type      := base ["[" [length] "]"] ["|str"] ["?"]       (no type means Array)

A leading underscore means private: an operator that only formulas call, or an output that is computed and saved but not
returned.
"""

from __future__ import annotations

import re

from ..errors import SpecError, did_you_mean
from .limits import literal
from .model import ARRAY, CONST, TYPES, Argument, Location, Output, Signature, Text, Type
from .names import check_metadata, check_name, check_value_name

_HEAD = re.compile(r"\s*(_?[A-Za-z]\w*)\s*\(", re.ASCII)
_TYPED_NAME = re.compile(
    r"(?:(?P<type>[A-Za-z]\w*)(?P<list>\[(?P<length>\d{0,3})\])?(?P<word>\|str)?(?P<optional>\?)?\s+)?(?P<name>\w+)$",
    re.ASCII,
)
_NUMBERS = (int, float, complex)
_LITERALS: dict[str, type | tuple[type, ...]] = {
    "Array": _NUMBERS, "Index": (int, tuple, list), "Mask": bool, "Scalar": _NUMBERS, "int": int, "float": (int, float),
    "bool": bool, "str": str, "DType": str,
}  # fmt: skip
_OR_WORD = ("Scalar", "int", "float")


def parse_signature(text: Text) -> Signature:
    head = _HEAD.match(text.value)
    if head is None:
        raise SpecError("a signature is `name(arguments) -> outputs`", text.location)
    check_name(head[1], text.at(head.start(1)))
    close = _closing(text, head.end() - 1)
    arrow = re.compile(r"\s*->").match(text.value, close + 1)
    if arrow is None:
        raise SpecError("the signature has no '-> outputs'", text.at(close + 1))

    arguments = _arguments(text.part(head.end(), close))
    outputs = tuple(_output(part) for part in split(text.part(arrow.end(), len(text.value))))
    if not outputs:
        raise SpecError("the signature names no output", text.at(arrow.end()))
    _refuse_repeats([*arguments, *outputs])
    _check_hidden(arguments, outputs)
    return Signature(head[1], arguments, outputs, text.value, text.location)


def split(text: Text) -> list[Text]:
    """The parts of a text between its outermost commas."""
    if not text.value.strip():
        return []
    depth, start, quote, parts = 0, 0, "", []
    for i, char in enumerate(text.value):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text.part(start, i))
            start = i + 1
    return [*parts, text.part(start, len(text.value))]


def _closing(text: Text, opening: int) -> int:
    depth = 0
    for i in range(opening, len(text.value)):
        depth += {"(": 1, ")": -1}.get(text.value[i], 0)
        if depth == 0:
            return i
    raise SpecError("'(' is never closed", text.at(opening))


def _arguments(text: Text) -> tuple[Argument, ...]:
    arguments: list[Argument] = []
    keyword_only = False
    for part in split(text):
        if keyword_only and "*" in part.value.partition("=")[0]:
            raise SpecError("a second '*'", part.location)
        if part.value == "*":
            keyword_only = True
            continue
        argument = _argument(part, keyword_only)
        if arguments and argument.default is None and arguments[-1].default is not None and not keyword_only:
            raise SpecError(f"'{argument.name}' has no default but follows one that has", argument.location)
        arguments.append(argument)
        keyword_only = keyword_only or argument.variadic
    return tuple(arguments)


def _argument(text: Text, keyword_only: bool) -> Argument:
    name_part, equals, default_part = text.value.partition("=")
    if variadic := re.fullmatch(r"(\w+\[\]\s+)\*(\w+)", text.value):
        places = text.places[: variadic.end(1)] + text.places[variadic.start(2) :]
        type_, name, location = _typed_name(Text(variadic[1] + variadic[2], text.file, places))
        return Argument(name, type_, None, keyword_only, location, variadic=True)
    type_, name, location = _typed_name(text.part(0, len(name_part)))
    if type_.base == CONST:
        message = f"'{name}' is an argument, and Const is for outputs: integers are an Index, other numbers an Array"
        raise SpecError(message, location)
    if not equals:
        return Argument(name, type_, None, keyword_only, location)
    default = text.part(len(name_part) + 1, len(text.value))
    _check_default(default, type_)
    return Argument(name, type_, default.value, keyword_only, location)


def _output(text: Text) -> Output:
    type_, name, location = _typed_name(text)
    return Output(name, type_, location)


def _typed_name(text: Text) -> tuple[Type, str, Location]:
    match = _TYPED_NAME.match(text.value)
    if match is None:
        raise SpecError(f"'{text.value}' is not `type name`", text.location)
    base, name, location = match["type"] or ARRAY, match["name"], text.at(match.start("name"))
    if base not in TYPES:
        raise SpecError(f"unknown type '{base}'", text.location, suggestion=did_you_mean(base, TYPES))
    check_value_name(name, location)
    length = int(match["length"]) if match["length"] else None
    if match["word"] and base not in _OR_WORD:
        raise SpecError(f"'|str' stands behind {' or '.join(_OR_WORD)}", location)
    word = match["word"] is not None
    return Type(base, match["list"] is not None, length, match["optional"] is not None, word), name, location


def _check_default(text: Text, type_: Type) -> None:
    try:
        value = literal(text)
    except (ValueError, TypeError):
        raise SpecError(f"the default {text.value} is not a literal", text.location) from None
    if value is None:
        fits = type_.optional
    elif type_.or_word and isinstance(value, str):
        fits = True
    elif type_.is_list:
        fits = isinstance(value, (tuple, list)) or (isinstance(value, int) and type_.base == "int")
    else:
        fits = isinstance(value, _LITERALS[type_.base]) and (type_.base in ("bool", "Mask") or not isinstance(value, bool))
    if not fits:
        hint = f"; write {type_}?" if value is None else ""
        raise SpecError(f"the default {text.value} is not of type {type_}{hint}", text.location)


def _check_hidden(arguments: tuple[Argument, ...], outputs: tuple[Output, ...]) -> None:
    """Check outputs with a leading underscore, which are hidden: at least the first is visible, and hidden ones are last."""
    for argument in arguments:
        if argument.name.startswith("_"):
            raise SpecError(f"'{argument.name}': an underscore hides an output, not an argument", argument.location)
    if outputs[0].hidden:
        raise SpecError(f"'{outputs[0].name}' is hidden: the first output is one that is returned", outputs[0].location)
    for before, output in zip(outputs, outputs[1:]):
        if before.hidden and not output.hidden:
            raise SpecError(f"'{output.name}' is returned, so it belongs before the hidden outputs", output.location)
        if output.hidden and output.type.is_list:
            raise SpecError(f"'{output.name}' is a list, which cannot be hidden", output.location)


def _refuse_repeats(named: list[Argument | Output]) -> None:
    seen: set[str] = set()
    for item in named:
        if item.name in seen:
            raise SpecError(f"'{item.name}' is named twice", item.location)
        seen.add(item.name)
    check_metadata(named)

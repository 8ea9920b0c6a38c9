"""Ranks: expand one entry into operators of one, two and three axes, such as `conv{n}d` with `ranks: 1..3`.

Fills the placeholders `{n}` and `{axes}` in the text of such an entry, and assigns its calls to the operators.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import SpecError, did_you_mean
from .model import Text

KEY = "ranks"
Words = Mapping[str, str]
_AXES = {1: "axis", 2: "two axes", 3: "three axes"}
_HOLE = re.compile(r"\{(n|axes)\}")
_RANGE = re.compile(r"([123])\.\.([123])")


def words_of(ranks: Text, signature: Text) -> list[Words]:
    """The words for the placeholders of an entry, for each of its ranks."""
    found = _RANGE.fullmatch(ranks.value)
    first, last = map(int, found.groups()) if found else (1, 0)
    if first >= last:
        raise SpecError("the first and the last number of axes are expected, such as 1..3", ranks.location)
    name = signature.value.partition("(")[0]
    if "{n}" not in name:
        raise SpecError("the name of an op of several ranks holds {n}, as conv{n}d", signature.location)
    numbers = range(first, last + 1)
    names = " ".join(name.replace("{n}", str(n)) for n in numbers)
    return [{"n": str(n), "axes": _AXES[n], "names": names} for n in numbers]


def filled(text: Text, words: Words) -> Text:
    """The text with its placeholders filled; each word has the position of its placeholder."""
    value, places, end = "", (), 0
    for hole in _HOLE.finditer(text.value):
        word = words[hole[1]]
        value += text.value[end : hole.start()] + word
        places += text.places[end : hole.start()] + (text.places[hole.start()],) * len(word)
        end = hole.end()
    return Text(value + text.value[end:], text.file, places + text.places[end:])


def own_call(text: Text, name: str, words: Words) -> Text | None:
    """A call of an entry of several ranks: `f(...)` for all, `conv2d(...)` for one rank; None if it is for another rank."""
    called, paren, _ = text.value.partition("(")
    if not paren or called == "f":
        return text
    if called not in (names := words["names"].split()):
        near = did_you_mean(called, names)
        message = f"'{called}' is no op of this entry: f(...) is a call of each, {name}(...) of one"
        raise SpecError(message, text.location, suggestion=near)
    return Text("f" + text.value[len(name) :], text.file, text.places[:1] + text.places[len(name) :]) if called == name else None

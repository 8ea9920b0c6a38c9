"""Calling: turn an operator of the spec into a function of its arguments in order.

Decides which arguments are positional and which are keywords.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...generated.tensor import Tensor
from ...support.dispatch import ops
from .entries import entry_of


def by_entry(name: str, count: int) -> Callable[..., Any] | None:
    """An operator as a function of its arguments in order; None for an unknown operator or a different number of arguments."""
    entry = entry_of(name)
    return None if entry is None or len(entry.arguments) != count else by_keyword(name, entry, count)


def by_keyword(name: str, entry: Any, count: int) -> Callable[..., Any]:
    """An operator as a function of its arguments in order; `out=` is the last one.  An in-place operator is a method."""
    function = getattr(Tensor if name == f"{entry.name}_" else ops, name.removesuffix(".out"))
    out = name.endswith(".out")

    def call(*arguments: Any) -> Any:
        given = list(arguments)
        keywords = {"out": given.pop()} if out else {}
        positional: list[Any] = []
        for (parameter, _, _, keyword_only), value in zip(entry.arguments, given):
            if f"Array[] *{parameter}" in entry.signature:
                positional += value
            elif keyword_only:
                keywords[parameter] = value
            else:
                positional.append(value)
        return function(*positional, **keywords)

    return call

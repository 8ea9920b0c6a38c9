"""Entries: what the spec says of an operator, found by the name that its event has."""

from __future__ import annotations

from functools import cache

from ..generated.op_info import OPS, OpInfo


@cache
def entries() -> dict[str, OpInfo]:
    return {entry.name: entry for entry in OPS}


def entry_of(name: str) -> OpInfo | None:
    """The entry of an operator in any of its forms; None of what is none: `tensor`."""
    table = entries()
    return table.get(name) or table.get(name.removesuffix(".out").removesuffix("_"))

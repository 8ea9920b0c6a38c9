"""Entries: what the spec says of an operator, found by the name that its event has."""

from __future__ import annotations

from functools import cache

from ..generated.op_info import OPS, OpInfo


@cache
def entries() -> dict[str, OpInfo]:
    return {entry.name: entry for entry in OPS}


@cache
def keepers() -> dict[str, OpInfo]:
    """The entries with outputs that callers are not given, which their derivatives read: by their names and by their nodes'."""
    hidden = [entry for entry in OPS if any(word.strip()[:1] == "_" for word in entry.signature.rpartition("->")[2].split(","))]
    return {name: entry for entry in hidden for name in (entry.name, f"{entry.name}_", entry.node) if name}


def entry_of(name: str) -> OpInfo | None:
    """The entry of an operator in any of its forms; None of what is none: `tensor`."""
    table = entries()
    return table.get(name) or table.get(name.removesuffix(".out").removesuffix("_"))

"""Entries: what the spec says of an operator, found by the name that its event has."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from ...generated.op_info import OPS, OpInfo


@cache
def entries() -> dict[str, OpInfo]:
    return {entry.name: entry for entry in OPS}


def enter(entry: OpInfo) -> None:
    """Enter a compiled operator of another package, under its dotted name."""
    entries()[entry.name] = entry


def compiled_in(entry: OpInfo, folder: str, function: str) -> Any:
    """The capsule of a C function of an operator, `forward_tanh` in "kernels"; None where its module has none."""
    found = importlib.import_module(f"{entry.package}.{folder}.{entry.family}")
    return getattr(found, "__pyx_capi__", {}).get(function)


def entry_of(name: str) -> OpInfo | None:
    """The entry of an operator in any of its forms; None of what is none: `tensor`."""
    table = entries()
    return table.get(name) or table.get(name.removesuffix(".out").removesuffix("_"))

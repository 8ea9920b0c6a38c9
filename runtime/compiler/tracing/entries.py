"""Entries: look up the spec's entry of an operator by the name of its event."""

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
    """The capsule of an operator's C function, such as `forward_tanh` in "kernels"; None if its module lacks the function."""
    found = importlib.import_module(f"{entry.package}.{folder}.{entry.family}")
    return getattr(found, "__pyx_capi__", {}).get(function)


def entry_of(name: str) -> OpInfo | None:
    """The entry of an operator in any of its forms; None for a name outside the spec, such as `tensor`."""
    table = entries()
    return table.get(name) or table.get(name.removesuffix(".out").removesuffix("_"))

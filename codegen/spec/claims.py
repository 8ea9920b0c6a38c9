"""Claim names: assign each name of an operator, for callers and for formulas, to one entry.

Decides which names an entry claims, and holds the table of their owners.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .model import Location, Op


class Claim(NamedTuple):
    """A name, the key of the entry that claims it, and the place."""

    name: str  # "add", "add_", "special.expm1", "__add__"
    key: str
    at: Location
    op: str


class Claims:
    """The table of names and their owners, over the entries so far."""

    def __init__(self) -> None:
        self.owners: dict[str, Claim] = {}

    def taken(self, op: Op) -> Iterator[tuple[Claim, Claim]]:
        """Add the claims of an entry; yield each claim of a name that has an owner, with the owner's claim."""
        for claim in claims(op):
            owner = self.owners.setdefault(claim.name, claim)
            if owner is not claim:
                yield claim, owner


def claims(op: Op) -> Iterator[Claim]:
    """Every name of an entry: in formulas, as a method, in namespaces, in place, and as Python's operator."""
    function = bool(op.namespace) and "function" in op.variants
    spellings = [(op.name, "op", op.location)] + [(name, "alias", place(op, name)) for name in op.aliases]
    for name, key, at in spellings:
        in_place = [f"{name}_"] if "inplace" in op.variants else []
        for spelling in (name, *in_place):
            yield Claim(spelling, key if spelling == name else "variants", at, op.name)
            if function:
                yield Claim(f"{op.namespace}.{spelling}", key, at, op.name)
    for namespace, name in op.elsewhere:
        if namespace or not op.namespace or name not in (op.name, *op.aliases):  # a formula's name, in the main namespace too
            full = f"{namespace}.{name}"
            yield Claim(full.removeprefix("."), "alias", place(op, full), op.name)
    if op.operator:
        yield Claim(op.operator, "operator", op.places.get("operator", op.location), op.name)


def is_function(op: Op, name: str) -> bool:
    """Whether a claimed name is the name of a function: `gs.nn.relu`, or `gs.relu` through the alias `.relu`."""
    elsewhere = [f"{namespace}.{other}".removeprefix(".") for namespace, other in op.elsewhere]
    return "." in name or name in elsewhere or "function" in op.variants and not op.namespace and name in (op.name, *op.aliases)


def place(op: Op, alias: str) -> Location:
    """The place of an alias in the file."""
    return op.places.get(f"alias {alias}", op.location)

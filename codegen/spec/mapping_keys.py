"""Read the pairs of a mapping: report keys that are unknown, repeated or out of order.

Depends on no key's meaning, except that every partial derivative has the position of dy/dx.
"""

from __future__ import annotations

import re

import yaml

from ..errors import ErrorList, SpecError, did_you_mean
from .nodes import Nodes

PARTIAL = "dy/dx"
PARTIAL_KEY = re.compile(r"d(\w+)/d(\w+)$")
Items = dict[str, tuple[yaml.ScalarNode, yaml.Node]]


class Pairs(Nodes):
    """Reads mappings and reports errors in their keys."""

    def __init__(self, errors: ErrorList):
        self.errors = errors

    def items_of(self, key: str, items: Items, op: str = "") -> Items:
        return self.items(items[key][1], key=key, op=op) if key in items else {}

    def items(self, node: yaml.Node, known: tuple[str, ...] = (), *,
               op: str = "", key: str = "", what: str = "", ordered: bool = True) -> Items:  # fmt: skip
        """The pairs of a mapping; keys that are unknown, repeated or out of order are reported."""
        if not isinstance(node, yaml.MappingNode):
            raise SpecError(f"{what or f'{key!r}'} is a mapping", self._location(node))
        items: Items = {}
        places: dict[str, int] = {}
        for key_node, value in node.value:
            name, at = self._text(key_node).value, self._location(key_node)
            slot = slot_of(name) if PARTIAL in known else name
            if name in items:
                self.errors.add(f"'{name}' is written twice", at, op, key or name)
            elif known and slot not in known:
                self.errors.add(f"unknown key '{name}'", at, op, key, suggestion=did_you_mean(name, known))
            else:
                items[name] = (key_node, value)
                places[name] = known.index(slot) if known else 0
                after = [other for other, place in places.items() if place > places[name]]
                if after and ordered:
                    self.errors.add(f"the order of keys is fixed: it belongs above '{after[0]}'", at, op, key or name)
        return items


def slot_of(key: str) -> str:
    """The position of a key in the fixed order: every partial has the position of dy/dx."""
    return PARTIAL if PARTIAL_KEY.match(key) else key

"""Walk Python's expression trees, in two orders.

`ast` has both orders, as nested generators that take three times as long: reading the spec visits a million nodes.
"""

from __future__ import annotations

import ast


def children(node: ast.AST) -> list[ast.AST]:
    """The child nodes, in the order of the source."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
    return found


def by_depth(tree: ast.AST) -> list[ast.AST]:
    """The tree and all its nodes, breadth first: the order of `ast.walk`."""
    found = [tree]
    for node in found:
        if node._fields:  # false for contexts and operators
            found += children(node)
    return found


def in_order(tree: ast.AST) -> list[ast.AST]:
    """The tree and all its nodes, depth first and from left to right."""
    found, pending = [], [tree]
    while pending:
        node = pending.pop()
        found.append(node)
        if node._fields:
            pending += children(node)[::-1]
    return found

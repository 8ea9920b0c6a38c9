"""Trees of Python's expressions, walked.

Owns the two orders in which their nodes are looked at.  `ast` has them too, as generators of generators, which take thrice as
long: to read the spec is to look at a million nodes.
"""

from __future__ import annotations

import ast


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly inside, as they are read."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
    return found


def by_depth(tree: ast.AST) -> list[ast.AST]:
    """The tree and all inside it, what is less deep first: the order of `ast.walk`."""
    found = [tree]
    for node in found:
        if node._fields:  # contexts and operators have none
            found += children(node)
    return found


def in_order(tree: ast.AST) -> list[ast.AST]:
    """The tree and all inside it, from left to right."""
    found, pending = [], [tree]
    while pending:
        node = pending.pop()
        found.append(node)
        if node._fields:
            pending += children(node)[::-1]
    return found

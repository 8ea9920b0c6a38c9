"""Trees of expressions are walked as `ast` walks them, and from left to right."""

from __future__ import annotations

import ast

from codegen.spec.ast_walk import by_depth, children, in_order
from codegen.spec.formula import formulas_of
from codegen.spec_cache import read
from tests.ops.spec import PACKAGE


def recursive(tree):
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from recursive(child)


def test_every_formula_is_walked_as_ast_walks_it():
    trees = [formula.tree for op in read(PACKAGE).ops.values() for formula in formulas_of(op).values()]
    trees.append(ast.parse("{**a, 1: [b for b in c if d]}, f(*x, k=lambda: y)[1:2, ..., None]", mode="eval").body)
    assert len(trees) > 1000
    for tree in trees:
        assert children(tree) == list(ast.iter_child_nodes(tree))
        assert by_depth(tree) == list(ast.walk(tree))
        assert in_order(tree) == list(recursive(tree))

"""Cases: a formula written as `condition: formula` pairs, which are tried in order, with `else:` last.

Builds one expression from them, `a if c else b if d else e`.  Its conditionals keep the case's text in the attribute `case`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..errors import SpecError
from .formula import names_in, parse_formula
from .model import Formula, Location, Text

ELSE = "else"
Chosen = tuple[ast.expr, str]  # the formula of a case, and the entry's name for the case


def by_cases(pairs: Sequence[tuple[Text, Text]], at: Location) -> Formula:
    """The formula for pairs of a condition and the formula that holds under it."""
    *conditions, (last, otherwise) = pairs or [(Text("", at.file, ((at.line, at.column),)),) * 2]
    for number, (condition, _) in enumerate(conditions):
        if condition.value == ELSE:
            raise SpecError("'else:' is the last case", condition.location)
        if any(condition.value == other.value for other, _ in conditions[:number]):
            raise SpecError(f"the case '{condition.value}' is written twice", condition.location)
    if last.value != ELSE:
        raise SpecError("the last case is 'else:'", last.location)
    if not conditions:
        raise SpecError("a case stands above 'else:': write the formula alone", last.location)
    formula = parse_formula(otherwise)
    tree, source = formula.tree, formula.source
    for condition, text in reversed(conditions):
        test, body = parse_formula(condition), parse_formula(text)
        node = ast.IfExp(test.tree, body.tree, tree)
        node.lineno, node.col_offset = condition.location.line, condition.location.column - 1
        node.end_lineno, node.end_col_offset = formula.tree.end_lineno, formula.tree.end_col_offset
        node.file, node.case = condition.file, condition.value
        source = f"{_joined(body)} if {_joined(test)} else {source}"
        tree = node
    return Formula(source, tree, at, frozenset(names_in(tree)))


def case_of(node: ast.AST) -> str:
    """The text of the case that a conditional tests; empty for a conditional inside a formula."""
    return getattr(node, "case", "")


def case_at(tree: ast.expr, at: Location) -> str:
    """The case whose condition or formula contains a place, or an empty string."""
    while case := case_of(tree):
        if _holds(tree.body, at) or _holds(tree.test, at):
            return case
        tree = tree.orelse
        if not case_of(tree) and _holds(tree, at):
            return ELSE
    return ""


def _holds(node: ast.expr, at: Location) -> bool:
    return (node.lineno, node.col_offset + 1) <= (at.line, at.column) < (node.end_lineno, node.end_col_offset + 1)


def named(key: str, case: str) -> str:
    """The name of a formula, or of one of its cases, in messages."""
    return f"{key}: {case}" if case else key


def _joined(formula: Formula) -> str:
    """A formula as part of a conditional."""
    return f"({formula.source})" if isinstance(formula.tree, ast.IfExp) else formula.source

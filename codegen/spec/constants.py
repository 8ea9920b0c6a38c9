"""Constant folding: replace `pi`, `e`, `inf`, `nan` and expressions of numbers, such as `2 / sqrt(pi)`, by one number.

The functions below are functions of numbers, not operators.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection

CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}
FUNCTIONS: dict[str, Callable[[float], float]] = {f.__name__: f for f in (math.exp, math.log, math.sqrt)}
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: float.__add__, ast.Sub: float.__sub__, ast.Mult: float.__mul__, ast.Div: float.__truediv__,
    ast.Pow: math.pow,
}  # fmt: skip


def folded(tree: ast.expr, names: Collection[str] = ()) -> ast.expr:
    """The expression with constants, and expressions of constants, replaced by numbers.

    `names` are names with another meaning here.  Only an expression with a float result is folded: `2 * pi`, `sqrt(2)`
    and `1 / 3`, but not `2 * 3`.  An expression without a finite value is not folded.
    """
    return _Folding(names).visit(tree)


class _Folding(ast.NodeTransformer):
    def __init__(self, names: Collection[str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = node.id in CONSTANTS and node.id not in self.names
        return ast.copy_location(ast.Constant(CONSTANTS[node.id]), node) if known else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node.args = [self.visit(value) for value in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        match node:
            case ast.Call(ast.Name(name), [value], []) if name in FUNCTIONS:
                return self._computed(node, FUNCTIONS[name], value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        whole = all(isinstance(_number(part), int) for part in (node.left, node.right))
        if type(node.op) not in _OPERATORS or whole and not isinstance(node.op, ast.Div):
            return node
        return self._computed(node, _OPERATORS[type(node.op)], node.left, node.right)

    @staticmethod
    def _computed(node: ast.expr, function: Callable[..., float], *operands: ast.expr) -> ast.expr:
        numbers = [_number(operand) for operand in operands]
        if None in numbers:
            return node
        try:
            value = function(*map(float, numbers))
        except (ArithmeticError, ValueError):
            return node
        if not math.isfinite(value):
            return node
        number: ast.expr = ast.copy_location(ast.Constant(abs(value)), node)
        return ast.copy_location(ast.UnaryOp(ast.USub(), number), node) if value < 0 else number


def _number(tree: ast.expr) -> int | float | None:
    """The value of a real literal, with its sign."""
    match tree:
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)) if not isinstance(value, bool):
            return -value
    return None

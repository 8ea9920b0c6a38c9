"""Formulas: parse Python expressions with `ast`; a formula is never pasted as text.

Defines the syntax of formulas, the positions of their nodes in the file, the Python method of each operator, and the binding of
calls to signatures.  The meaning of names and calls is left to resolution.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..errors import SpecError, did_you_mean
from .ast_walk import by_depth, in_order
from .expression import ARRAY, ARRAYS, STATIC
from .limits import parse_expression
from .model import Argument, Formula, Op, Output, Signature, Text

METADATA = ("shape", "ndim", "dtype", "size")
ROOTS = ("np", "kernels")  # names that only `forward`, `inplace` and `placed` may use

# The symbol of each operator, and the method that an entry names in `operator:`.
BINARY: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "__add__"), ast.Sub: ("-", "__sub__"), ast.Mult: ("*", "__mul__"), ast.Div: ("/", "__truediv__"),
    ast.FloorDiv: ("//", "__floordiv__"), ast.Mod: ("%", "__mod__"), ast.Pow: ("**", "__pow__"),
    ast.MatMult: ("@", "__matmul__"), ast.BitAnd: ("&", "__and__"), ast.BitOr: ("|", "__or__"), ast.BitXor: ("^", "__xor__"),
}  # fmt: skip
UNARY: dict[type[ast.AST], tuple[str, str]] = {ast.USub: ("-", "__neg__"), ast.Invert: ("~", "__invert__")}
COMPARISON: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "__lt__"), ast.LtE: ("<=", "__le__"), ast.Gt: (">", "__gt__"), ast.GtE: (">=", "__ge__"),
    ast.Eq: ("==", "__eq__"), ast.NotEq: ("!=", "__ne__"),
}  # fmt: skip
# Operators between static values only.
PLAIN: dict[type[ast.AST], str] = {
    ast.Not: "not", ast.And: "and", ast.Or: "or", ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip

_ALLOWED = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.BoolOp, ast.Tuple, ast.List, ast.Subscript, ast.Slice,
    ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.keyword, ast.Load, *BINARY, *UNARY,
    *COMPARISON, *PLAIN,
)  # fmt: skip
_REFUSED = {
    ast.Lambda: "a lambda", ast.ListComp: "a comprehension", ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension", ast.GeneratorExp: "a comprehension", ast.NamedExpr: "':='",
    ast.Starred: "'*' unpacking", ast.JoinedStr: "an f-string", ast.Dict: "a dict", ast.Set: "a set",
    ast.LShift: "'<<'", ast.RShift: "'>>'",
}  # fmt: skip


def parse_formula(text: Text) -> Formula:
    """Parse a formula and relocate its nodes to the lines and columns of the file."""
    if not text.value:
        raise SpecError("the formula is empty", text.location)
    tree = parse_expression(text)
    for node in by_depth(tree):
        if isinstance(node, (ast.expr, ast.keyword)):
            _relocate(node, text)
        if not isinstance(node, _ALLOWED):
            what = _REFUSED.get(type(node), f"'{type(node).__name__}'")
            raise SpecError(f"{what} is not allowed in a formula", node if hasattr(node, "lineno") else text.location)
    return Formula(text.value, tree, text.location, frozenset(names_in(tree)))


def _relocate(node: ast.expr | ast.keyword, text: Text) -> None:
    start, end = node.col_offset, node.end_col_offset or node.col_offset + 1
    node.lineno, column = text.places[start]
    node.end_lineno, end_column = text.places[end - 1]
    node.col_offset, node.end_col_offset = column - 1, end_column
    node.file = text.file


def names_in(tree: ast.AST) -> list[str]:
    """The names that an expression reads, in order of first use, without the names of called functions."""
    called = {id(node.func) for node in by_depth(tree) if isinstance(node, ast.Call)}
    names = [n for n in in_order(tree) if isinstance(n, ast.Name) and id(n) not in called and n.id not in ROOTS]
    return list(dict.fromkeys(node.id for node in names))


def calls_in(tree: ast.AST) -> list[ast.Call]:
    """The calls of ops and helpers in an expression, outermost first."""
    return [n for n in in_order(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]


def formulas_of(op: Op) -> dict[str, Formula]:
    """Every formula of an entry except laws, samples and domain, by key."""
    whole = {"forward": op.forward, "inplace": op.inplace, "placed": op.placed, "composite": op.composite,
             "rows": op.rows, "vmap": op.parts}  # fmt: skip
    return {
        **{key: formula for key, formula in whole.items() if formula is not None},
        **{f"let: {name}": formula for name, formula in op.lets.items()},
        **{f"d{output}/d{name}": formula for (output, name), formula in op.partials.items()},
        **{f"vjp: {name}": formula for name, formula in op.vjp.items()},
        **{f"jvp: {name}": formula for name, formula in op.jvp.items()},
    }


def called_by(op: Op) -> set[str]:
    """The operators and helpers that an entry calls, by their written names."""
    named = {op.jet[0]} if op.jet else set()
    return named | {name for formula in formulas_of(op).values() for name in formula.calls}


def lets_in(formula: Formula, lets: Mapping[str, Formula]) -> tuple[str, ...]:
    """The lets that a formula reads, directly or through other lets, in the order of their definition."""
    needed: set[str] = set()
    pending = [formula]
    while pending:
        for name in pending.pop().names & lets.keys() - needed:
            needed.add(name)
            pending.append(lets[name])
    return tuple(name for name in lets if name in needed)


def bind_call(call: ast.Call, signature: Signature) -> dict[str, ast.expr]:
    """The expression for each parameter of the callee; defaults are not filled in."""
    name = ast.unparse(call.func)
    positional = [a for a in signature.arguments if not a.keyword_only]
    if len(call.args) > len(positional):
        takes = f"{len(positional)} positional argument" + "s" * (len(positional) != 1)
        raise SpecError(f"{name} takes {takes}, {len(call.args)} given", call.args[len(positional)])

    bound = {argument.name: value for argument, value in zip(positional, call.args)}
    known = [a.name for a in signature.arguments]
    for keyword in call.keywords:
        if keyword.arg is None:
            raise SpecError("'**' unpacking is not allowed in a formula", keyword)
        if keyword.arg not in known:
            message, near = f"{name} has no argument '{keyword.arg}'", did_you_mean(keyword.arg, known)
            raise SpecError(message, keyword, suggestion=near)
        if keyword.arg in bound:
            raise SpecError(f"{name} is given '{keyword.arg}' twice", keyword)
        bound[keyword.arg] = keyword.value
    for argument in signature.arguments:
        if argument.default is None and argument.name not in bound:
            raise SpecError(f"{name} needs '{argument.name}'", call)
    return bound


def grad_names(op: Op) -> dict[str, str]:
    """The name of each cotangent: `grad` if there is one output, else `grad_<output>`."""
    outputs = op.signature.visible
    if len(outputs) == 1:
        return {"grad": outputs[0].name} if outputs[0].differentiable else {}
    return {f"grad_{o.name}": o.name for o in outputs if o.differentiable}


def declared_kind(item: Argument | Output) -> str:
    """The kind of an argument or output; an Index argument is static, since it may be a tuple of slices and is only passed on."""
    if item.type.base not in ("Array", "Const", "Mask") and not (item.type.base == "Index" and isinstance(item, Output)):
        return STATIC
    return ARRAYS if item.type.is_list else ARRAY

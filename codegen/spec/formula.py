"""Formulas: Python expressions parsed by `ast`, never pasted as text.

Owns which syntax a formula may hold, where each of its nodes stands in the file, the kind of each expression (array,
arrays, static), the binding of calls to signatures and the splitting of a sum into terms.  Knows nothing of families or
of derivative forms.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..errors import SpecError, did_you_mean
from .limits import parse_expression
from .model import Argument, Formula, Op, Output, Signature, Text

ARRAY, ARRAYS, STATIC = "array", "arrays", "static"
METADATA = ("shape", "ndim", "dtype", "size")
ROOTS = ("np", "kernels")  # names that only `forward` and `inplace` may look into

# The op that an operator between arrays means.
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "pow",
    ast.MatMult: "matmul", ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.USub: "negative",
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal",
    ast.Eq: "equal", ast.NotEq: "not_equal",
    ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor", ast.Invert: "bitwise_invert",
}  # fmt: skip

_ALLOWED = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.BoolOp, ast.Tuple, ast.List, ast.Subscript, ast.Slice,
    ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.keyword, ast.Load, *OPERATORS,
    ast.Not, ast.And, ast.Or, ast.Is, ast.IsNot, ast.In, ast.NotIn,
)  # fmt: skip
_REFUSED = {
    ast.Lambda: "a lambda", ast.ListComp: "a comprehension", ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension", ast.GeneratorExp: "a comprehension", ast.NamedExpr: "':='",
    ast.Starred: "'*' unpacking", ast.JoinedStr: "an f-string", ast.Dict: "a dict", ast.Set: "a set",
    ast.LShift: "'<<'", ast.RShift: "'>>'",
}  # fmt: skip


def parse_formula(text: Text) -> Formula:
    """Parses and relocates: afterwards the nodes carry lines and columns of the file."""
    if not text.value:
        raise SpecError("the formula is empty", text.location)
    tree = parse_expression(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.keyword)):
            _relocate(node, text)
        if not isinstance(node, _ALLOWED):
            what = _REFUSED.get(type(node), f"'{type(node).__name__}'")
            raise SpecError(f"{what} cannot stand in a formula", node if hasattr(node, "lineno") else text.location)
    return Formula(text.value, tree, text.location, frozenset(names_in(tree)))


def make_formula(tree: ast.expr, like: Formula) -> Formula:
    """A formula that analysis derived from `like`, standing where that one stands."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.keyword)) and not hasattr(node, "lineno"):
            ast.copy_location(node, like.tree)
    return Formula(ast.unparse(tree), tree, like.location, frozenset(names_in(tree)))


def _relocate(node: ast.expr | ast.keyword, text: Text) -> None:
    start, end = node.col_offset, node.end_col_offset or node.col_offset + 1
    node.lineno, column = text.places[start]
    node.end_lineno, end_column = text.places[end - 1]
    node.col_offset, node.end_col_offset = column - 1, end_column


def names_in(tree: ast.AST) -> list[str]:
    """The names that an expression reads, in order of first use; functions called are not among them."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [n for n in _in_order(tree) if isinstance(n, ast.Name) and id(n) not in called and n.id not in ROOTS]
    return list(dict.fromkeys(node.id for node in names))


def calls_in(tree: ast.AST) -> list[ast.Call]:
    """The calls of ops and helpers in an expression, outermost first."""
    return [n for n in _in_order(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]


def lets_in(formula: Formula, lets: Mapping[str, Formula]) -> tuple[str, ...]:
    """The lets that a formula needs, those that its lets need included, in the order in which they are defined."""
    needed: set[str] = set()
    pending = [formula]
    while pending:
        for name in pending.pop().names & lets.keys():
            if name not in needed:
                needed.add(name)
                pending.append(lets[name])
    return tuple(name for name in lets if name in needed)


def values_in(formula: Formula, lets: Mapping[str, Formula]) -> list[tuple[str, str | None]]:
    """What a formula reads, lets included: (name, attribute or None), in order of first use."""
    found: dict[tuple[str, str | None], None] = {}
    for part in [*(lets[name] for name in lets_in(formula, lets)), formula]:
        skip: set[int] = {id(node.func) for node in ast.walk(part.tree) if isinstance(node, ast.Call)}
        for node in _in_order(part.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found[node.value.id, node.attr] = None
                skip.add(id(node.value))
            elif isinstance(node, ast.Name) and id(node) not in skip and node.id not in lets:
                found[node.id, None] = None
    return list(found)


def terms(tree: ast.expr) -> list[ast.expr]:
    """The summands of an expression, each with its sign."""
    match tree:
        case ast.BinOp(left, ast.Add(), right):
            return terms(left) + terms(right)
        case ast.BinOp(left, ast.Sub(), right):
            return terms(left) + [negate(term) for term in terms(right)]
        case ast.UnaryOp(ast.USub(), ast.BinOp(op=ast.Add() | ast.Sub()) as sum_):
            return [negate(term) for term in terms(sum_)]
    return [tree]


def negate(tree: ast.expr) -> ast.expr:
    match tree:
        case ast.UnaryOp(ast.USub(), operand):
            return operand
    return ast.copy_location(ast.UnaryOp(ast.USub(), tree), tree)


def bind_call(call: ast.Call, signature: Signature) -> dict[str, ast.expr]:
    """Which expression each parameter of the callee is given; defaults are not filled in."""
    name = ast.unparse(call.func)
    positional = [a for a in signature.arguments if not a.keyword_only]
    if len(call.args) > len(positional):
        takes = f"{len(positional)} positional argument" + "s" * (len(positional) != 1)
        raise SpecError(f"{name} takes {takes}, {len(call.args)} given", call.args[len(positional)])

    bound = {argument.name: value for argument, value in zip(positional, call.args)}
    known = [a.name for a in signature.arguments]
    for keyword in call.keywords:
        if keyword.arg is None:
            raise SpecError("'**' unpacking cannot stand in a formula", keyword)
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


@dataclass(frozen=True)
class Scope:
    """What the names of a formula mean."""

    kinds: Mapping[str, str]  # name -> kind
    ops: Mapping[str, Signature] = field(default_factory=dict)  # by Python name and by alias
    helpers: Mapping[str, Signature] = field(default_factory=dict)

    def callee(self, call: ast.Call) -> Signature | None:
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        return self.ops.get(name) or self.helpers.get(name)


def scope_of(op: Op, ops: Mapping[str, Signature], helpers: Mapping[str, Signature]) -> Scope:
    """Every name that some formula of `op` may use; analysis refuses those that stand in the wrong formula."""
    kinds = {item.name: declared_kind(item) for item in [*op.signature.arguments, *op.signature.outputs]}
    kinds |= {name: kinds[output] for name, output in grad_names(op).items()}
    kinds |= {f"{a.name}_t": kinds[a.name] for a in op.signature.arrays}
    for name, let in op.lets.items():
        kinds[name] = kind_of(let.tree, Scope(dict(kinds), ops, helpers))
    return Scope(kinds, ops, helpers)


def grad_names(op: Op) -> dict[str, str]:
    """The name of each cotangent: `grad` where there is one output, else `grad_<output>`."""
    outputs = op.signature.visible
    if len(outputs) == 1:
        return {"grad": outputs[0].name} if outputs[0].differentiable else {}
    return {f"grad_{o.name}": o.name for o in outputs if o.differentiable}


def declared_kind(item: Argument | Output) -> str:
    """An Index given as argument is static: it may be a tuple of slices, and formulas only hand it on."""
    if item.type.base not in ("Array", "Mask") and not (item.type.base == "Index" and isinstance(item, Output)):
        return STATIC
    return ARRAYS if item.type.is_list else ARRAY


def kind_of(tree: ast.expr, scope: Scope) -> str:
    """ARRAY, ARRAYS (a list or tuple of arrays) or STATIC (plain Python data)."""
    match tree:
        case ast.Name(name):
            return scope.kinds.get(name, STATIC)
        case ast.Call(ast.Name(name)) if name in scope.ops:
            outputs = scope.ops[name].visible
            return declared_kind(outputs[0]) if len(outputs) == 1 else ARRAYS
        case ast.UnaryOp(ast.Not()) | ast.BoolOp() | ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            return STATIC
        case ast.UnaryOp(operand=operand):
            return kind_of(operand, scope)
        case ast.BinOp(left, _, right) | ast.IfExp(body=left, orelse=right):
            return _wider(kind_of(left, scope), kind_of(right, scope))
        case ast.Compare(left, _, rest):
            return _wider(*(kind_of(operand, scope) for operand in [left, *rest]))
        case ast.Tuple(items) | ast.List(items):
            return STATIC if all(kind_of(item, scope) == STATIC for item in items) else ARRAYS
        case ast.Subscript(value, index):
            kind = kind_of(value, scope)
            return ARRAY if kind == ARRAYS and not isinstance(index, ast.Slice) else kind
    return STATIC


def _wider(*kinds: str) -> str:
    return next((kind for kind in (ARRAYS, ARRAY) if kind in kinds), STATIC)


def _in_order(tree: ast.AST) -> Iterable[ast.AST]:
    """Nodes as they are read, from left to right; `ast.walk` goes by depth."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from _in_order(child)

"""Derivation: the vjp, jvp and saved values that follow from what an entry writes.

Owns the mathematics of the derivative forms on formula trees.  Expects an entry whose names have been resolved; must
not know of YAML or of how formulas are run.
"""

from __future__ import annotations

import ast

from ..errors import ErrorList
from ..spec.formula import STATIC, declared_kind, grad_names, lets_in, make_formula, terms, values_in
from ..spec.model import Derived, Formula, Op, Saved, Term

_SAVED_METADATA = {"shape": "shape", "size": "shape", "ndim": "ndim", "dtype": "dtype"}
_REAL_TYPES = ("int", "float", "bool")


def derive(op: Op, errors: ErrorList) -> Derived:
    vjp = _partial_vjp(op) if op.form == "partial" else op.vjp
    jvp: dict[str, tuple[Term, ...]] = {}
    if op.form == "partial":
        jvp = _partial_jvp(op)
    elif op.form == "multilinear":
        jvp = _multilinear_jvp(op)
    elif op.form == "vjp_jvp":
        jvp = {output: _written_terms(op, output, formula, errors) for output, formula in op.jvp.items()}
    saved_for = {name: _saved(op, formula) for name, formula in vjp.items()}
    saved = tuple(dict.fromkeys(value for values in saved_for.values() for value in values))
    return Derived(vjp, saved_for, saved, jvp, op.linear, _lets_for(op, vjp, jvp))


def tangents_in(op: Op, formula: Formula) -> list[str]:
    """The inputs whose tangents a formula reads, lets included."""
    names = {name for name, _ in values_in(formula, op.lets)}
    return [a.name for a in op.signature.arrays if f"{a.name}_t" in names]


def _partial_vjp(op: Op) -> dict[str, Formula]:
    """grad * conj(p), summed over the outputs."""
    grads = {output: grad for grad, output in grad_names(op).items()}
    found: dict[str, Formula] = {}
    for argument in op.signature.arrays:
        parts = [(f, grads[o]) for (o, i), f in op.partials.items() if i == argument.name and o in grads]
        if parts:
            trees = [_times(ast.Name(grad, ast.Load()), conjugate(formula.tree, op)) for formula, grad in parts]
            found[argument.name] = make_formula(_sum(trees), parts[0][0])
    return found


def _partial_jvp(op: Op) -> dict[str, tuple[Term, ...]]:
    """x_t * p for each input."""
    found: dict[str, tuple[Term, ...]] = {}
    for output in op.signature.outputs:
        parts = [(a.name, op.partials.get((output.name, a.name))) for a in op.signature.arrays]
        found[output.name] = tuple(
            Term(name, make_formula(_times(ast.Name(f"{name}_t", ast.Load()), formula.tree), formula))
            for name, formula in parts
            if formula is not None
        )
    return {output: found_terms for output, found_terms in found.items() if found_terms}


def _multilinear_jvp(op: Op) -> dict[str, tuple[Term, ...]]:
    """The op with the tangent in the place of each factor in turn."""
    outputs = [o for o in op.signature.outputs if o.differentiable]
    return {
        output.name: tuple(Term(factor, _with_tangent(op, factor, output.name)) for factor in op.multilinear)
        for output in outputs
    }


def _with_tangent(op: Op, factor: str, output: str) -> Formula:
    def value(name: str) -> ast.expr:
        return ast.Name(f"{name}_t" if name == factor else name, ast.Load())

    signature = op.signature
    args = [value(a.name) for a in signature.arguments if not a.keyword_only]
    keywords = [ast.keyword(a.name, value(a.name)) for a in signature.arguments if a.keyword_only]
    call: ast.expr = ast.Call(ast.Name(op.name, ast.Load()), args, keywords)
    if len(signature.visible) > 1:
        index = [o.name for o in signature.outputs].index(output)
        call = ast.Subscript(call, ast.Constant(index), ast.Load())
    return make_formula(call, op.vjp.get(factor) or next(iter(op.vjp.values())))


def _written_terms(op: Op, output: str, formula: Formula, errors: ErrorList) -> tuple[Term, ...]:
    found = []
    for tree in terms(formula.tree):
        part = make_formula(tree, formula)
        tangents = tangents_in(op, part)
        if len(tangents) == 1:
            found.append(Term(tangents[0], part))
            continue
        names = " and ".join(f"'{name}_t'" for name in tangents)
        several = f"a term with the tangents {names}: write one term for each"
        message = several if tangents else "a term without a tangent"
        errors.add(message, tree, op.name, f"jvp: {output}")
    return tuple(found)


def _saved(op: Op, formula: Formula) -> tuple[Saved, ...]:
    """What a formula names is what is saved."""
    arguments = {a.name: a for a in op.signature.arguments}
    outputs = {o.name for o in op.signature.outputs}
    found: dict[Saved, None] = {}
    for name, attribute in values_in(formula, op.lets):
        if name not in arguments and name not in outputs:
            continue
        if attribute is not None:
            found[Saved(name, _SAVED_METADATA[attribute])] = None
        elif name in outputs:
            found[Saved(name, "output")] = None
        else:
            found[Saved(name, "static" if declared_kind(arguments[name]) == STATIC else "input")] = None
    return tuple(found)


def _lets_for(op: Op, vjp: dict[str, Formula], jvp: dict[str, tuple[Term, ...]]) -> dict[str, tuple[str, ...]]:
    uses: dict[str, list[Formula]] = {f"vjp:{name}": [formula] for name, formula in vjp.items()}
    uses |= {f"jvp:{name}": [term.formula for term in found] for name, found in jvp.items()}
    whole = {"forward": op.forward, "inplace": op.inplace, "composite": op.composite}
    uses |= {key: [formula] for key, formula in whole.items() if formula is not None}
    needed = {key: {let for f in formulas for let in lets_in(f, op.lets)} for key, formulas in uses.items()}
    return {key: tuple(let for let in op.lets if let in names) for key, names in needed.items()}


def conjugate(tree: ast.expr, op: Op) -> ast.expr:
    """conj(tree), with real factors left outside and nothing to do where the op is real."""
    if op.dtype == "real" or _is_real(tree, op):
        return tree
    match tree:
        case ast.UnaryOp(ast.USub(), operand):
            return ast.UnaryOp(ast.USub(), conjugate(operand, op))
        case ast.BinOp(left, (ast.Mult() | ast.Div()) as operator, right) if _is_real(left, op) or _is_real(right, op):
            return ast.BinOp(conjugate(left, op), operator, conjugate(right, op))
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, conjugate(body, op), conjugate(orelse, op))
        case ast.Call(ast.Name("conj"), [operand], []):
            return operand
    return ast.Call(ast.Name("conj", ast.Load()), [tree], [])


def _is_real(tree: ast.expr, op: Op) -> bool:
    match tree:
        case ast.Constant(int() | float()) | ast.Attribute():
            return True
        case ast.Name(name):
            argument = op.signature.argument(name)
            return argument is not None and argument.type.base in _REAL_TYPES
        case ast.UnaryOp(ast.USub(), operand):
            return _is_real(operand, op)
        case ast.BinOp(left, _, right):
            return _is_real(left, op) and _is_real(right, op)
    return False


def _times(factor: ast.Name, tree: ast.expr) -> ast.expr:
    """factor * tree, constants folded."""
    match tree:
        case ast.Constant(1):
            return factor
        case ast.UnaryOp(ast.USub(), ast.Constant(1)):
            return ast.UnaryOp(ast.USub(), factor)
        case ast.Constant(0):
            return ast.Call(ast.Name("zeros_like", ast.Load()), [factor], [])
        case ast.BinOp(ast.Constant(1), ast.Div(), divisor):
            return ast.BinOp(factor, ast.Div(), divisor)
    return ast.BinOp(factor, ast.Mult(), tree)


def _sum(trees: list[ast.expr]) -> ast.expr:
    total = trees[0]
    for tree in trees[1:]:
        total = ast.BinOp(total, ast.Add(), tree)
    return total

"""Mutation testing: change formulas in one place, and find the changes that the entry's checks do not reject.

Defines the changes (sign, operator, constant, argument, branch).  A mutant is analysed and checked like an entry, by itself.  An
error because no sample tries something does not count: it would be fixed by a sample, not by a rule.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import ErrorList, SpecError
from ..rules.analyze import Analysis
from ..spec.formula import bind_call, formulas_of, parse_formula
from ..spec.library import read_library
from ..spec.model import Op, Signature, Spec, Text
from .case import Report
from .check import Progress, check_calls, quiet
from .coverage import string_arguments
from .evaluate import Evaluator
from .exercised import check_words
from .laws import check_laws
from .promises import check_generators, check_integers, check_promises
from .stated_values import check_stated

_FAR = 10**6  # the line of mutants: far from all other lines, so that their nodes have unique places
_OTHER: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.Mult,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
_ORDERED = (ast.Sub, ast.Div, ast.MatMult, ast.Pow, ast.FloorDiv, ast.Mod)


@dataclass(frozen=True)
class Mutant:
    """A formula of an entry, and the changed formula."""

    op: str
    key: str
    formula: str
    changed: str

    def __str__(self) -> str:
        return f"{self.op}: {self.key}: {self.changed}"


class Refused(Exception):
    """A check rejects the mutant."""


class _Refusal(Report):
    """Ends the check of a mutant at its first error."""

    hints = False

    def __call__(self, message: str, key: str, at: object = None) -> None:
        raise Refused(message)


def mutants(op: Op, signatures: dict[str, Signature]) -> Iterator[Mutant]:
    """Every change of every formula that a derivative of the entry depends on."""
    for key, formula in formulas_of(op).items():
        if op.differentiable:
            found = (ast.unparse(tree) for tree in _changes(formula.tree, signatures))
            for changed in dict.fromkeys(found):
                if changed != ast.unparse(formula.tree):
                    yield Mutant(op.name, key, formula.source, changed)


def survivors(spec: Spec, root: Path, names: Collection[str] = (), progress: Progress | None = None,
              known: Collection[str] = ()) -> list[Mutant]:  # fmt: skip
    """The mutants of an analysed spec, or of the named ops, that no check rejects.

    Mutants in `known` are known to be equivalent: they are checked against the entry's statements and promises, but not at its
    samples.  A surviving mutant takes as long as the check of a correct entry.
    """
    evaluator, analysis = Evaluator(spec, root), Analysis(spec, read_library(root))
    signatures = {spelling: op.signature for spelling, op in spec.by_spelling.items()}
    ops = [op for name, op in spec.ops.items() if not names or name in names]
    work = [(op, mutant) for op in ops if not evaluator.deferred(op) for mutant in mutants(op, signatures)]
    found = []
    with quiet():
        for done, (op, mutant) in enumerate(work):
            if progress is not None:
                progress(done, len(work), op.name)
            if not _refused(op, mutant, analysis, evaluator, with_samples=str(mutant) not in known):
                found.append(mutant)
    return found


def _refused(op: Op, mutant: Mutant, analysis: Analysis, evaluator: Evaluator, with_samples: bool) -> bool:
    errors = ErrorList("", "")
    try:
        changed = analysis.op(_with(op, mutant), errors, calls=False)  # the entry's own calls are unchanged
        if not errors:
            evaluator.swap(changed)
            report = _Refusal(changed, errors)
            check_stated(changed, evaluator, report)  # first, because it is the fastest and rejects most mutants
            calls = check_calls(changed, evaluator, report) if with_samples else []
            check_promises(changed, evaluator, report)
            check_generators(changed, evaluator, report)
            check_integers(changed, evaluator, report)
            if with_samples:
                for name in string_arguments(changed):
                    check_words(changed, name, evaluator, errors, calls)
                check_laws(changed, evaluator, report, calls)
    except (Refused, SpecError):
        return True
    finally:
        evaluator.swap(op)
    return bool(errors)


def _with(op: Op, mutant: Mutant) -> Op:
    """The entry with the changed formula, not yet analysed."""
    places = tuple((_FAR, column) for column in range(1, len(mutant.changed) + 2))
    formula = parse_formula(Text(mutant.changed, op.location.file, places))
    kind, _, name = mutant.key.partition(": ")
    if kind in ("let", "vjp", "jvp"):
        field = "lets" if kind == "let" else kind
        return replace(op, derived=None, **{field: getattr(op, field) | {name: formula}})
    if kind in ("forward", "inplace", "placed", "composite", "rows"):
        return replace(op, derived=None, **{kind: formula})
    if kind == "vmap":
        return replace(op, derived=None, parts=formula)
    output, _, name = kind[1:].partition("/d")
    return replace(op, derived=None, partials=op.partials | {(output, name): formula})


# Changes.


def _changes(tree: ast.expr, signatures: dict[str, Signature]) -> Iterator[ast.expr]:
    """Trees with one node changed."""
    if not (isinstance(tree, ast.Constant) and tree.value == 0):
        yield ast.UnaryOp(ast.USub(), tree)
    tests = [node.test for node in ast.walk(tree) if isinstance(node, ast.IfExp)]
    for node in ast.walk(tree):
        for variant in _variants(node, signatures):
            if node not in tests or not isinstance(variant, ast.Attribute):  # `a if x.dtype else b` is `a`, a separate change
                yield _swapped(tree, node, variant)


def _swapped(tree: Any, old: ast.AST, new: ast.AST) -> Any:
    """A tree, or a list of trees, with one node replaced; unchanged subtrees are shared."""
    if tree is old:
        return new
    if isinstance(tree, list):
        return [_swapped(item, old, new) for item in tree]
    if not isinstance(tree, ast.AST):
        return tree
    return type(tree)(**{name: _swapped(value, old, new) for name, value in ast.iter_fields(tree)})


def _variants(node: ast.AST, signatures: dict[str, Signature]) -> Iterator[ast.AST]:
    """The nodes that one node could be by mistake."""
    match node:
        case ast.BinOp(left, operator, right):
            yield from (ast.BinOp(left, other(), right) for other in _OTHER.get(type(operator), ()))
            if isinstance(operator, _ORDERED):
                yield ast.BinOp(right, operator, left)
            if isinstance(operator, (ast.Add, ast.Sub, ast.MatMult, ast.BitAnd, ast.BitOr)):
                yield from (left, right)
        case ast.UnaryOp(ast.USub() | ast.Not() | ast.Invert(), operand):
            yield operand
        case ast.Compare(left, [operator], [right]):
            yield from (ast.Compare(left, [other()], [right]) for other in _OTHER.get(type(operator), ()))
        case ast.BoolOp(operator, values):
            yield from (ast.BoolOp(other(), values) for other in _OTHER[type(operator)])
            yield from values
        case ast.IfExp(test, body, orelse):
            yield from (body, orelse, ast.IfExp(test, orelse, body))
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1 if isinstance(value, int) or abs(value) in (0, float("inf")) else 1.25 * value)
        case ast.Call():
            yield from _calls(node, signatures)


def _calls(call: ast.Call, signatures: dict[str, Signature]) -> Iterator[ast.AST]:
    """Calls with arguments swapped, defaulted, negated or off by one, and the first argument instead of the call."""
    for i in range(len(call.args) - 1):
        args = list(call.args)
        args[i], args[i + 1] = args[i + 1], args[i]
        yield ast.Call(call.func, args, call.keywords)
    for i in range(len(call.keywords)):
        yield ast.Call(call.func, call.args, call.keywords[:i] + call.keywords[i + 1 :])
    if call.args:
        yield call.args[0]
    signature = signatures.get(call.func.id) if isinstance(call.func, ast.Name) else None
    if signature is not None:
        for name, value in bind_call(call, signature).items():
            argument = signature.argument(name)
            if argument.default is not None:
                yield _given(call, value, ast.parse(argument.default, mode="eval").body)
            if argument.type.base == "bool" and not isinstance(value, ast.Constant):
                yield _given(call, value, ast.UnaryOp(ast.Not(), value))
            if argument.type.base == "int" and not argument.type.is_list and not isinstance(value, ast.Constant):
                yield _given(call, value, ast.BinOp(value, ast.Add(), ast.Constant(1)))


def _given(call: ast.Call, old: ast.expr, new: ast.expr) -> ast.Call:
    """The call with another value of one argument."""
    args = [new if value is old else value for value in call.args]
    return ast.Call(call.func, args, [ast.keyword(k.arg, new if k.value is old else k.value) for k in call.keywords])

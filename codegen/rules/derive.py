"""Derivation: compute the vjp, the jvp and the saved values from the formulas of an entry.

Defines the mathematics of the derivative forms on resolved expressions.  Must not depend on YAML, on text or on the execution
of an expression.
"""

from __future__ import annotations

from functools import reduce

from ..spec.expression import (
    STATIC,
    Call,
    Conditional,
    Constant,
    Expression,
    Item,
    Metadata,
    Name,
    Operation,
    renamed,
    values_in,
)  # fmt: skip
from ..spec.formula import declared_kind, grad_names
from ..spec.model import Derived, Op, Saved
from .resolve import Vocabulary

# Ops that derived rules call.
CONJ, ZEROS_LIKE = "conj", "zeros_like"
_REAL_TYPES = ("int", "float", "bool")


def derive(op: Op, vocabulary: Vocabulary) -> Derived:
    rules = _Rules(op, vocabulary)
    written = {name: formula.expression for name, formula in op.vjp.items()}
    vjp = rules.partial_vjp() if op.form == "partial" else written
    jvp: dict[str, Expression] = {}
    if op.form == "partial":
        jvp = rules.partial_jvp()
    elif op.form == "multilinear":
        jvp = rules.multilinear_jvp()
    elif op.form == "vjp_jvp":
        jvp = {output: formula.expression for output, formula in op.jvp.items()}
    saved_for = {name: _saved(op, expression) for name, expression in vjp.items()}
    saved = tuple(dict.fromkeys(value for values in saved_for.values() for value in values))
    return Derived(vjp, saved_for, saved, jvp, op.linear)


class _Rules:
    """The rules of one op, derived from a shorter form."""

    def __init__(self, op: Op, vocabulary: Vocabulary):
        self.op, self.vocabulary = op, vocabulary
        self.kinds = {item.name: declared_kind(item) for item in (*op.signature.arguments, *op.signature.outputs)}

    def partial_vjp(self) -> dict[str, Expression]:
        """grad * conj(p), summed over the outputs."""
        op, grads = self.op, {output: grad for grad, output in grad_names(self.op).items()}
        found: dict[str, Expression] = {}
        for argument in op.signature.arrays:
            products = [
                self._times(Name(grads[output], kind=self.kinds[output]), self._conjugate(formula.expression))
                for (output, name), formula in op.partials.items() if name == argument.name and output in grads
            ]  # fmt: skip
            if products:
                found[argument.name] = self._sum(products)
        return found

    def partial_jvp(self) -> dict[str, Expression]:
        """x_t * p, summed over the inputs."""
        found: dict[str, Expression] = {}
        for output in self.op.signature.outputs:
            products = [
                self._times(Name(f"{a.name}_t", kind=self.kinds[a.name]), self.op.partials[output.name, a.name].expression)
                for a in self.op.signature.arrays if (output.name, a.name) in self.op.partials
            ]  # fmt: skip
            if products:
                found[output.name] = self._sum(products)
        return found

    def multilinear_jvp(self) -> dict[str, Expression]:
        """The sum over the factors of the op with that factor replaced by its tangent."""
        outputs = self.op.signature.visible
        arguments = tuple(Name(a.name, kind=self.kinds[a.name]) for a in self.op.signature.arguments)
        call = self.vocabulary.call(self.op.name, *arguments, at=self.op.location)
        turns: list[Expression] = [renamed(call, {factor: f"{factor}_t"}) for factor in self.op.multilinear]
        if len(outputs) == 1:
            return {outputs[0].name: self._sum(turns)}
        return {
            output.name: self._sum([Item(turn, Constant(i), kind=self.kinds[output.name], at=turn.at) for turn in turns])
            for i, output in enumerate(outputs) if output.differentiable
        }  # fmt: skip

    def _conjugate(self, part: Expression) -> Expression:
        """conj(part), simplified: real factors stay outside, and a real op needs no conjugate."""
        if self.op.dtype == "real" or self._is_real(part):
            return part
        match part:
            case Call(operator="-", arguments=(operand,)):
                return self._operate("-", self._conjugate(operand), at=part)
            case Call(operator="*" | "/" as symbol, arguments=(a, b)) if self._is_real(a) or self._is_real(b):
                return self._operate(symbol, self._conjugate(a), self._conjugate(b), at=part)
            case Conditional(test, body, orelse):
                return Conditional(test, self._conjugate(body), self._conjugate(orelse), kind=part.kind, at=part.at)
            case Call(op, (operand,)) if op == CONJ:
                return operand
        return self.vocabulary.call(CONJ, part, at=part.at)

    def _is_real(self, part: Expression) -> bool:
        match part:
            case Constant(int() | float()) | Metadata():
                return True
            case Name(name):
                argument = self.op.signature.argument(name)
                return argument is not None and argument.type.base in _REAL_TYPES
            case Operation(_, operands):
                return all(map(self._is_real, operands))
            case Call(operator=str(symbol), arguments=operands) if symbol:
                return all(map(self._is_real, operands))
        return False

    def _times(self, factor: Name, part: Expression) -> Expression:
        """factor * part, simplified for constants, and inside each branch of a conditional."""
        match part:
            case Constant(1) if part.value is not True:
                return factor
            case Constant(-1):
                return self._operate("-", factor, at=part)
            case Constant(0) if part.value is not False:
                return self.vocabulary.call(ZEROS_LIKE, factor, at=part.at)
            case Call(operator="/", arguments=(Constant(1), divisor)):
                return self._operate("/", factor, divisor, at=part)
            case Operation(("/",), (Constant(1), divisor)):
                return self._operate("/", factor, divisor, at=part)
            case Conditional(test, body, orelse):
                return Conditional(test, self._times(factor, body), self._times(factor, orelse), kind=factor.kind, at=part.at)
        return self._operate("*", factor, part, at=part)

    def _sum(self, parts: list[Expression]) -> Expression:
        return reduce(lambda total, part: self._operate("+", total, part, at=part), parts)

    def _operate(self, symbol: str, *operands: Expression, at: Expression) -> Expression:
        return self.vocabulary.operate(symbol, *operands, at=at.at)


def tangents_in(op: Op, expression: Expression) -> list[str]:
    """The inputs whose tangents an expression reads, directly or through lets."""
    names = {name for name, _ in values_in(expression, op.let_expressions)}
    return [a.name for a in op.signature.arrays if f"{a.name}_t" in names]


def _saved(op: Op, expression: Expression) -> tuple[Saved, ...]:
    """The values that a formula reads: the backward node saves them."""
    arguments = {a.name: a for a in op.signature.arguments}
    outputs = {o.name for o in op.signature.outputs}
    found: dict[Saved, None] = {}
    for name, attribute in values_in(expression, op.let_expressions):
        if name not in arguments and name not in outputs:
            continue
        if attribute is not None:
            found[Saved.of(name, attribute)] = None
        elif name in outputs:
            found[Saved(name, "output")] = None
        else:
            static = "static" if declared_kind(arguments[name]) == STATIC else "input"
            found[Saved(name, "index" if arguments[name].type.base in ("Index", "Mask") else static)] = None
    return tuple(found)

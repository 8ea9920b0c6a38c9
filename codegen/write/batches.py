"""Batches: which nodes take gradients with one more axis at the front, and do to each row what they do to one alone.

Owns the question, answered by the rules: where the outputs have as many axes as any input, a rule that is made of elementwise
calls aligns whatever it reads with the last axes of the cotangent.  Of others an entry may say so, and is held to it by `check`.
"""

from __future__ import annotations

import enum

from ..rules.derive import ZEROS_LIKE
from ..spec.elementwise import is_elementwise
from ..spec.expression import STATIC, Call, Conditional, Expression, Metadata, Name, Operation, walk
from ..spec.formula import grad_names
from ..spec.model import Op, Text
from ..spec.shapes import Shape, parse_shape
from .programs import Elementwise


class Rows(enum.Enum):
    """What an expression is when the cotangents are batches."""

    STATIC = "of no array"
    PLAIN = "one array for all rows, of no more axes than a row"
    BATCH = "a row for each row"


class Batches:
    """The nodes of some ops that take batches."""

    def __init__(self, elementwise: Elementwise):
        self.elementwise, self.ops = elementwise, elementwise.ops
        self.diagonal: dict[str, bool] = {}

    def takes_batch(self, op: Op) -> bool:
        """Whether every rule of an op gives rows for rows: by what it is made of, or because the entry says so."""
        return op.batched or self.is_made_of_elements(op)

    def is_made_of_elements(self, op: Op) -> bool:
        """Whether the rules are elementwise, and align what they read with the last axes of the cotangents."""
        if op.derived is None or not op.derived.vjp or not _has_widest_outputs(op):
            return False
        return all(_Rule(self, op).of(rule) is Rows.BATCH for rule in op.derived.vjp.values())

    def is_elementwise(self, call: Call | Operation) -> bool:
        """Whether what a call gives at a place depends on its operands at that place alone."""
        if self.elementwise.instruction(call) is not None:
            return True
        op = self.ops.get(call.op) if isinstance(call, Call) else None
        return op is not None and (
            op.name == ZEROS_LIKE or self.elementwise.body(op) is not None or is_elementwise(op, self.ops) or self.is_diagonal(op)
        )

    def is_diagonal(self, op: Op) -> bool:
        """Whether an op is linear with an elementwise adjoint, as a cast is, and so elementwise itself."""
        if op.name not in self.diagonal:
            self.diagonal[op.name] = False  # an adjoint that is made of the op says nothing
            self.diagonal[op.name] = op.form == "linear" and len(op.signature.arrays) == 1 and self.is_made_of_elements(op)
        return self.diagonal[op.name]


class _Rule:
    def __init__(self, batches: Batches, op: Op):
        self.batches, self.op, self.grads = batches, op, set(grad_names(op))

    def of(self, expression: Expression) -> Rows | None:
        """None where an expression may be something else."""
        match expression:
            case Name(name) if name in self.grads:
                return Rows.BATCH
            case Name(name) if name in self.op.let_expressions:
                return self.of(self.op.let_expressions[name])
            case Conditional(test, body, orelse):
                found = self.of(body)
                return found if self.of(test) is Rows.STATIC and found is self.of(orelse) else None
            case Call() | Operation() if expression.kind != STATIC:
                return self.of_call(expression)
        if any(isinstance(part, (Name, Metadata)) and part.name in self.grads for part in walk(expression)):
            return None  # a length of the cotangent, which has one more
        return Rows.STATIC if expression.kind == STATIC else Rows.PLAIN if isinstance(expression, Name) else None

    def of_call(self, call: Call | Operation) -> Rows | None:
        """What an elementwise call gives has the axes of the widest operand."""
        operands = call.operands if isinstance(call, Operation) else [a for a in call.arguments if a is not None]
        found = {self.of(operand) for operand in operands}
        if None in found or not self.batches.is_elementwise(call):
            return None
        return Rows.BATCH if Rows.BATCH in found else Rows.PLAIN


def _has_widest_outputs(op: Op) -> bool:
    """Whether no array argument has more axes than an output: each output has the shape of all of them broadcast."""
    if op.shape is None:
        return False
    shape = _parsed(op)
    names = {name for pattern in shape.inputs for name in pattern.whole}
    if any(not pattern.whole or pattern.is_any or pattern.is_list for pattern in shape.inputs):
        return False
    return all(set(pattern.whole) == names and pattern.function in ("", "broadcast") for pattern in shape.results)


def _parsed(op: Op) -> Shape:
    at = op.places.get("shape", op.location)
    return parse_shape(Text(op.shape, at.file, ((at.line, at.column),)), op.signature)

"""Batches: find the rules that take cotangents or tangents with an extra leading axis and apply to each row independently.

Decides this from the rules.  If the outputs have as many axes as every input, a rule of elementwise calls aligns all values that
it reads with the last axes of the batch.  For other rules an entry may state `batched`, and `check` verifies it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..rules.derive import ZEROS_LIKE
from ..rules.statements import Assign, Statement, Unpack
from ..spec.elementwise import is_elementwise
from ..spec.expression import ARRAY, STATIC, Call, Conditional, Constant, Expression, Metadata, Name, Operation, mapped, walk
from ..spec.formula import declared_kind, grad_names
from ..spec.model import Op
from ..spec.shapes import shape_of
from .programs import Elementwise


class Rows(enum.Enum):
    """The form of an expression when the cotangents, or the tangents, are batches."""

    STATIC = "of no array"
    PLAIN = "one array for all rows, of no more axes than a row"
    BATCH = "a row for each row"


class Batches:
    """The nodes that take batches, among some ops."""

    def __init__(self, elementwise: Elementwise):
        self.elementwise, self.ops = elementwise, elementwise.ops
        self.diagonal: dict[str, bool] = {}

    def takes_batch(self, op: Op) -> bool:
        """Whether every rule of an op maps rows to rows: because its calls are elementwise, or because the entry states it."""
        return op.batched or self.is_made_of_elements(op)

    def is_made_of_elements(self, op: Op) -> bool:
        """Whether the rules are elementwise, and align the values that they read with the last axes of the cotangents."""
        if op.derived is None or not op.derived.vjp or not _has_widest_outputs(op):
            return False
        rule = _Rule(self, op, grad_names(op))
        return all(rule.of(expression) is Rows.BATCH for expression in op.derived.vjp.values())

    def pushes_batch(self, op: Op) -> bool:
        """Whether the jvp maps rows of tangents to rows, if these have the axes of the outputs, for the same two reasons."""
        if op.batched or op.derived is None:
            return op.batched
        if op.derived.joint_linear:  # the op itself: elementwise if its adjoint is
            return self.is_made_of_elements(op)
        rule = _Rule(self, op, [f"{a.name}_t" for a in op.signature.arrays])
        return _has_widest_outputs(op) and all(rule.of(expression) is Rows.BATCH for expression in op.derived.jvp.values())

    def rows_statements(self, op: Op) -> tuple[Statement, ...]:
        """A rule for a batch of cotangents, built from the `rows` of the ops that it calls; empty if their effect is unknown.

        Only for an op with one array, whose rule is one expression.
        """
        if op.derived is None or len(op.derived.vjp) != 1 or len(op.signature.arrays) != 1 or op.signature.arrays[0].type.is_list:
            return ()
        if self.takes_batch(op) or len(grad_names(op)) != 1 or op.signature.outputs[0].type.is_list:
            return ()
        ((name, rule),) = op.derived.vjp.items()
        lifted = _Lifted(self, op)
        value = lifted(rule)
        if value is None:
            return ()
        return (*map(Unpack, op.derived.saved), *lifted.statements, Assign(f"grad_{name}", value))

    def is_elementwise(self, call: Call | Operation) -> bool:
        """Whether an element of a call's result depends only on the operands' elements at the same position."""
        if self.elementwise.instruction(call) is not None:
            return True
        op = self.ops.get(call.op) if isinstance(call, Call) else None
        return op is not None and (
            op.name == ZEROS_LIKE or self.elementwise.body(op) is not None or is_elementwise(op, self.ops) or self.is_diagonal(op)
        )

    def is_diagonal(self, op: Op) -> bool:
        """Whether an op is linear with an elementwise adjoint, like a cast, and is therefore elementwise itself."""
        if op.name not in self.diagonal:
            self.diagonal[op.name] = False  # for a recursive query: an adjoint that calls the op itself proves nothing
            self.diagonal[op.name] = op.form == "linear" and len(op.signature.arrays) == 1 and self.is_made_of_elements(op)
        return self.diagonal[op.name]


class _Rule:
    def __init__(self, batches: Batches, op: Op, moving: Iterable[str]):
        self.batches, self.op, self.moving = batches, op, set(moving)

    def of(self, expression: Expression) -> Rows | None:
        """The form of an expression, or None if it is unknown."""
        match expression:
            case Name(name) if name in self.moving:
                return Rows.BATCH
            case Name(name) if name in self.op.let_expressions:
                return self.of(self.op.let_expressions[name])
            case Conditional(test, body, orelse):
                found = self.of(body)
                return found if self.of(test) is Rows.STATIC and found is self.of(orelse) else None
            case Call() | Operation() if expression.kind != STATIC:
                return self.of_call(expression)
        if any(isinstance(part, (Name, Metadata)) and part.name in self.moving for part in walk(expression)):
            return None  # the metadata of a batch, which has one more axis
        return Rows.STATIC if expression.kind == STATIC else Rows.PLAIN if isinstance(expression, Name) else None

    def of_call(self, call: Call | Operation) -> Rows | None:
        """The form of an elementwise call: its result has the axes of the widest operand."""
        operands = call.operands if isinstance(call, Operation) else [a for a in call.arguments if a is not None]
        found = {self.of(operand) for operand in operands}
        if None in found or not self.batches.is_elementwise(call):
            return None
        return Rows.BATCH if Rows.BATCH in found else Rows.PLAIN


class _Lifted:
    """A rule of statics and one cotangent, with each op replaced by its `rows`."""

    def __init__(self, batches: Batches, op: Op):
        self.batches, self.op, self.grads = batches, op, set(grad_names(op))
        self.statements: list[Assign] = []

    def __call__(self, expression: Expression) -> Expression | None:
        """The lifted expression, or None if the rule has another form."""
        if isinstance(expression, Name) and expression.name in self.grads:
            return expression
        if not isinstance(expression, Call):
            return None
        callee = self.batches.ops.get(expression.op)
        if callee is not None and callee.rows is not None:
            return self.called(callee, expression)
        if not self.batches.is_elementwise(expression):
            return None
        operands = [a if a is None or self.is_static(a) else self(a) for a in expression.arguments]
        moving = [a for a in expression.arguments if a is not None and not self.is_static(a)]
        if len(moving) != 1 or any(new is None and old is not None for new, old in zip(operands, expression.arguments)):
            return None
        return replace(expression, arguments=tuple(operands))

    def called(self, callee: Op, call: Call) -> Expression | None:
        """The op's `rows` on a batch that is bound to a name."""
        array = callee.signature.arrays[0].name
        given = dict(zip([a.name for a in callee.signature.arguments], call.arguments))
        inner = self(given[array])
        statics = [value for name, value in given.items() if value is not None and name != array]
        if inner is None or not all(self.is_static(value, ("Index",)) for value in statics):
            return None
        if not isinstance(inner, Name):
            self.statements.append(Assign(f"rows_{len(self.statements)}", inner))
            inner = Name(self.statements[-1].name, kind=ARRAY)
        defaults = {a.name: Constant(a.given) for a in callee.signature.arguments if a.default is not None}
        values = defaults | {key: value for key, value in given.items() if value is not None}
        return _placed(callee.rows.expression, values | {array: inner})

    def is_static(self, expression: Expression, others: tuple[str, ...] = ()) -> bool:
        """Whether an expression is the same for all rows: it reads static arguments, and no metadata of cotangents."""
        known = {a.name for a in self.op.signature.arguments if declared_kind(a) == STATIC and (
            a.type.base not in ("Index", "Mask") or a.type.base in others)}  # fmt: skip
        for part in walk(expression):
            if isinstance(part, Name) and part.name not in known or isinstance(part, Metadata) and part.name in self.grads:
                return False
        return True


def _placed(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """The expression with values in place of names; a name in metadata is replaced only by another name."""
    if isinstance(expression, Name):
        return values.get(expression.name, expression)
    if isinstance(expression, Metadata) and isinstance(values.get(expression.name), Name):
        return replace(expression, name=values[expression.name].name)
    return mapped(expression, lambda part: _placed(part, values))


def _has_widest_outputs(op: Op) -> bool:
    """Whether no array argument has more axes than an output, because each output has the broadcast shape of all."""
    if op.shape is None:
        return False
    shape = shape_of(op)
    names = {name for pattern in shape.inputs for name in pattern.whole}
    if any(not pattern.whole or pattern.is_any or pattern.is_list for pattern in shape.inputs):
        return False
    return all(set(pattern.whole) == names and pattern.function in ("", "broadcast") for pattern in shape.results)

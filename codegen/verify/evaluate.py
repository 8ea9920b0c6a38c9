"""Evaluate formulas on plain NumPy arrays, before anything is generated or compiled.

Defines the numeric meaning of resolved expressions: an op runs its `forward` or composite, a helper comes from runtime/formulas,
and a kernel from its Python source or the built package.  Runs the same statements as the generated code, and records the branch
that each conditional takes.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.random

from ..package import Package
from ..rules.statements import (
    RESULT,
    Assign,
    Branch,
    Present,
    Statement,
    Unpack,
    Wanted,
    composite_statements,
    forward_statements,
    jvp_statements,
    vjp_statements,
)
from ..spec.expression import (
    Call,
    Conditional,
    Constant,
    Expression,
    Foreign,
    Helper,
    Item,
    Metadata,
    Name,
    Operation,
    Sequence,
    Slice,
    walk,
)
from ..spec.limits import multiply, power, remainder
from ..spec.model import Argument, Op, Spec
from . import library_operators
from .coverage import Record
from .kernel_modules import helpers_of_package, kernels_of_package


class ArrayList(list):
    """A list of arrays; its `.shape`, `.ndim`, `.size` and `.dtype` are lists."""

    shape = property(lambda self: [np.shape(array) for array in self])
    ndim = property(lambda self: [np.ndim(array) for array in self])
    size = property(lambda self: [np.size(array) for array in self])
    dtype = property(lambda self: [array.dtype for array in self])


class Evaluator:
    def __init__(self, spec: Spec, place: Package | Path, kernels: ModuleType | None = None):
        package = Package.at(place)
        self.ops = dict(spec.ops)  # `swap` replaces one of them
        self.kernels = kernels or kernels_of_package(package, {kernel for op in self.ops.values() for kernel in _kernels_of(op)})
        self.helpers = helpers_of_package(package)
        self.record = Record()
        self.proved: dict[tuple[Any, ...], Op] = {}  # calls in composites that are already proved
        self._plans: dict[tuple[str, str], tuple[Op, tuple[Statement, ...]]] = {}
        self._cannot_run = self._find_cannot_run()

    def deferred(self, op: Op) -> bool:
        """Whether the op, or an operator that its formulas call, needs a kernel that is not built.

        The derivative of a composite runs the rules of the operators that it calls, and a formula under `vmap` runs them too.
        """
        pending, known = [op.name], {op.name}
        while pending:
            found = self.ops.get(pending.pop())
            if found is None:  # an operator of gradspec, which is built
                continue
            if found.name in self._cannot_run or any(_calls(e, self._cannot_run) for e in _expressions_of(found)):
                return True
            run = [formula for formula in (found.composite, found is op and op.parts) if formula]
            if run:
                called = {node.op for e in (*(formula.expression for formula in run), *found.let_expressions.values())
                          for node in walk(e) if isinstance(node, Call) and node.op}  # fmt: skip
                pending += called - known
                known |= called
        return False

    def defers_rules(self, op: Op) -> bool:
        """Whether an operator that the op's own rules call is deferred."""
        called = {node.op for e in _expressions_of(op) for node in walk(e) if isinstance(node, Call) and node.op}
        return any(self.deferred(self.ops[name]) for name in called if name in self.ops)

    def forward(self, op: Op, arguments: Mapping[str, Any]) -> list[Any]:
        """The outputs of an op for users' arguments, as a list of arrays and lists of arrays.

        A generator gives the same numbers in every call.
        """
        ints = {a.name: as_ints(a, arguments[a.name]) for a in op.signature.arguments}
        drawn = {name: copy.deepcopy(arguments[name]) for name in op.signature.generators}
        return self._forward(op, {**arguments, **ints, **drawn})

    def _forward(self, op: Op, arguments: Mapping[str, Any]) -> list[Any]:
        """The same for arguments from formulas, which are passed to a forward unchanged."""
        values = dict(arguments)
        for name in op.signature.generators:
            values[name] = values[name] or np.random.default_rng(0)
        if op.forward is None and op.inplace is not None:
            first = op.signature.arguments[0].name
            values[first] = np.array(values[first])
            self.inplace(op, values)
            result = values[first]
        else:
            values = values if op.forward is not None else as_arrays(op, values)
            result = self.run(self._plan(op, "forward"), values)[RESULT]
        outputs = op.signature.outputs
        return [
            ArrayList(map(np.asarray, value)) if output.type.is_list else np.asarray(value)
            for output, value in zip(outputs, result if len(outputs) > 1 else [result], strict=True)
        ]

    def inplace(self, op: Op, values: Mapping[str, Any]) -> None:
        """Run the kernel that writes into the first argument."""
        self.value(op.inplace.expression, values)

    def swap(self, op: Op) -> Op:
        """Replace the op of the same name, and return the replaced one."""
        before, self.ops[op.name] = self.ops[op.name], op
        return before

    def vjp(self, op: Op, name: str, values: Mapping[str, Any]) -> Any:
        """The cotangent of one input; a cotangent of an output that is None is absent, and the result may be None, too."""
        return self.run(self._plan(op, f"vjp: {name}"), values)[f"grad_{name}"]

    def jvp(self, op: Op, values: Mapping[str, Any]) -> dict[str, Any]:
        """The tangent of each output by name; a tangent of an input that is None is absent."""
        values = {f"{a.name}_t": None for a in op.signature.arrays} | dict(values)
        found = self.run(self._plan(op, "jvp"), values)
        return {name: found[f"{name}_t"] for name in op.derived.jvp}

    def _plan(self, op: Op, key: str) -> tuple[Statement, ...]:
        known = self._plans.get((op.name, key))
        if known is None or known[0] is not op:
            what, _, name = key.partition(": ")
            plan = {"forward": lambda: forward_statements(op), "composite": lambda: composite_statements(op),
                    "jvp": lambda: jvp_statements(op), "vjp": lambda: vjp_statements(op, [name], unpack=False)}[what]()  # fmt: skip
            known = self._plans[op.name, key] = (op, plan)
        return known[1]

    # Statements.

    def run(self, statements: Iterable[Statement], values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of all names after the statements."""
        names = dict(values)
        self._run(statements, names)
        return names

    def _run(self, statements: Iterable[Statement], names: dict[str, Any]) -> None:
        for statement in statements:
            match statement:
                case Assign(name, value, present, adds, subtracts):
                    before = names.get(name) if adds else None
                    if present and names[present] is None:
                        names[name] = before
                        continue
                    found = _mapped(operator.neg, self.value(value, names)) if subtracts else self.value(value, names)
                    names[name] = found if before is None else _mapped(operator.add, before, found)
                case Branch(test, body, orelse, at):
                    self._run(body if self.record.took(at, self.value(test, names)) else orelse, names)
                case Wanted(_, body):
                    self._run(body, names)
                case Present(wanted, body):
                    if any(names[name] is not None for name in wanted):
                        self._run(body, names)
                case Unpack():
                    pass

    # Expressions.

    def value(self, expression: Expression, names: Mapping[str, Any]) -> Any:
        return OF_NODE[type(expression)](self, expression, names)

    def _of_call(self, call: Call, names: Mapping[str, Any]) -> Any:
        return self._call(call, [None if a is None else (self.value(a, names),) for a in call.arguments])

    def _of_conditional(self, conditional: Conditional, names: Mapping[str, Any]) -> Any:
        side = self.record.took(conditional.at, self.value(conditional.test, names))
        return self.value(conditional.body if side else conditional.orelse, names)

    def _of_helper(self, helper: Helper, names: Mapping[str, Any]) -> Any:
        positional = [self.value(a, names) for a in helper.arguments]
        named = {k: self.value(v, names) for k, v in helper.keywords}
        return self.record.came_to(helper.at, self.helpers[helper.function](*positional, **named))

    def _of_sequence(self, sequence: Sequence, names: Mapping[str, Any]) -> Any:
        items = [self.value(item, names) for item in sequence.items]
        return items if sequence.is_list else tuple(items)

    def _of_item(self, item: Item, names: Mapping[str, Any]) -> Any:
        return self.value(item.value, names)[self.value(item.index, names)]

    def _of_slice(self, slice_: Slice, names: Mapping[str, Any]) -> Any:
        return slice(*(None if b is None else self.value(b, names) for b in slice_.bounds))

    def _call(self, call: Call, given: list[tuple[Any] | None]) -> Any:
        if not call.op:
            values = [value for (value,) in given]
            function = (_UNARY if len(values) == 1 else _SYMBOLS)[call.operator]
            return self._noted(call, _as_found(function(*values)), values)
        if call.op not in self.ops:
            return self._noted(call, library_operators.value(call.op, given), [value and value[0] for value in given])
        op = self.ops[call.op]
        arguments = {
            parameter.name: parameter.given if value is None else value[0]
            for parameter, value in zip(op.signature.arguments, given)
        }
        outputs = self._forward(op, arguments)[: len(op.signature.visible)]
        return self._noted(call, outputs[0], [value and value[0] for value in given]) if len(outputs) == 1 else tuple(outputs)

    def _noted(self, call: Call, value: Any, given: list[Any]) -> Any:
        """The value of a call, after it is recorded."""
        compared = call.operator in _COMPARISONS
        return self.record.compared(call.at, value, *given) if compared else self.record.came_to(call.at, value)

    def _of_foreign(self, foreign: Foreign, names: Mapping[str, Any]) -> Any:
        root = foreign.root
        found: Any = (np if root == "np" else self.kernels) if isinstance(root, str) else self.value(root, names)
        for part in foreign.path:
            found = getattr(found, part)
        if foreign.arguments is None:
            return found
        return found(*[self.value(a, names) for a in foreign.arguments], **{k: self.value(v, names) for k, v in foreign.keywords})

    def _of_operation(self, operation: Operation, names: Mapping[str, Any]) -> Any:
        operators, operands = operation.operators, operation.operands
        if operators[0] in ("and", "or"):
            found = None
            for operand in operands:
                found = self.value(operand, names)
                if bool(found) is (operators[0] == "or"):
                    break
            return found
        values = [self.value(operand, names) for operand in operands]
        if len(values) == 1:
            return _UNARY[operators[0]](values[0])
        if operators[0] not in _COMPARISONS:
            return self.record.came_to(operation.at, _as_found(_BINARY[operators[0]](*values)))
        found = True
        for symbol, left, right in zip(operators, values, values[1:]):
            found = _COMPARISONS[symbol](left, right) if found is True else found & _COMPARISONS[symbol](left, right)
        return self.record.compared(operation.at, found, *values) if len(values) == 2 else found

    def _find_cannot_run(self) -> set[str]:
        found = {name for name, op in self.ops.items() if any(not hasattr(self.kernels, k) for k in _kernels_of(op))}
        while True:
            more = {
                name
                for name, op in self.ops.items()
                if op.composite and any(_calls(e, found) for e in (op.composite.expression, *op.let_expressions.values()))
            }
            if more <= found:
                return found
            found |= more


OF_NODE: dict[type[Expression], Callable[[Evaluator, Any, Mapping[str, Any]], Any]] = {
    Name: lambda _, name, names: names[name.name], Constant: lambda _, constant, names: constant.value,
    Metadata: lambda _, metadata, names: _metadata(names[metadata.name], metadata.attribute), Call: Evaluator._of_call,
    Helper: Evaluator._of_helper, Foreign: Evaluator._of_foreign, Operation: Evaluator._of_operation,
    Conditional: Evaluator._of_conditional, Sequence: Evaluator._of_sequence, Item: Evaluator._of_item,
    Slice: Evaluator._of_slice,
}  # fmt: skip
_UNARY = {"-": operator.neg, "~": operator.invert, "not": operator.not_}
_BINARY = {
    "+": operator.add, "-": operator.sub, "*": multiply, "/": operator.truediv, "//": operator.floordiv,
    "%": remainder, "**": power, "@": operator.matmul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
_COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "is": operator.is_, "is not": operator.is_not, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
_SYMBOLS = _BINARY | _COMPARISONS


def _as_found(value: Any) -> Any:
    """An array instead of a NumPy scalar, which wrappers never return."""
    return np.asarray(value) if isinstance(value, np.generic) else value


def _mapped(function: Any, *values: Any) -> Any:
    """A function applied to arrays, or to each array of lists."""
    if isinstance(values[0], (list, tuple)):
        return ArrayList(_mapped(function, *parts) for parts in zip(*values, strict=True))
    return function(*values)


def _metadata(value: Any, attribute: str) -> Any:
    if isinstance(value, (list, tuple)):
        return [_metadata(item, attribute) for item in value]
    if value is None:
        raise AttributeError(f"None has no .{attribute}")
    return getattr(np.asarray(value), attribute)


def as_arrays(op: Op, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call: scalars and lists become arrays if an Array is declared, and ints become tuples."""
    return {a.name: _as_array(a, as_ints(a, arguments[a.name])) for a in op.signature.arguments}


def as_ints(argument: Argument, value: Any) -> Any:
    """An `int[]` as a tuple, like in wrappers; `int[2]` repeats a single int, and another number of ints is an error."""
    if value is None or isinstance(value, str) or not (argument.type.base == "int" and argument.type.is_list):
        return value
    length = argument.type.length
    ints = tuple(value) if isinstance(value, (tuple, list)) else (value,) * (length or 1)
    if length not in (None, len(ints)):
        raise ValueError(f"'{argument.name}' takes an int or {length} ints, got {len(ints)}")
    return ints


def _as_array(argument: Argument, value: Any) -> Any:
    if value is None or argument.type.base not in ("Array", "Mask"):
        return value
    return ArrayList(map(np.asarray, value)) if argument.type.is_list else np.asarray(value)


def _expressions_of(op: Op) -> list[Expression]:
    """The expressions of an op's lets, derivatives and laws; a derivative that is zero calls `zeros_like`."""
    rules = [*op.lets.values(), *op.partials.values(), *op.vjp.values(), *op.jvp.values(), *op.laws]
    derived = [*op.derived.vjp.values(), *op.derived.jvp.values()] if op.derived else []
    return [formula.expression for formula in rules] + derived


def _calls(expression: Expression, names: set[str]) -> bool:
    return any(isinstance(node, Call) and node.op in names for node in walk(expression))


def _kernels_of(op: Op) -> set[str]:
    """The kernels that an op's forward needs."""
    forwards = [formula.expression for formula in (op.forward, op.inplace, op.placed) if formula is not None]
    return {node.path[0] for e in forwards for node in walk(e) if isinstance(node, Foreign) and node.root == "kernels"}

"""Composites: check the derivative that a composite's calls give against the change of its value.

Pushes tangents forward through the statements of a composite, by the rules of the operators that it calls, and pulls cotangents
back.  At each call it also checks that the operator's vjp and jvp are consistent: a composite may call an operator at ranks that
the operator's own samples do not have.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.random

from ..errors import ErrorList
from ..rules.statements import RESULT
from ..spec.expression import Call, Conditional, Expression, Item, Name, Sequence
from ..spec.model import Formula, Op
from . import library_operators, numeric
from .case import BoundCall, Case, Report, what
from .evaluate import ArrayList, Evaluator, as_arrays
from .numeric import TOLERANCE, Value


class Wrong(Exception):
    """A rule does not hold at a call; `at` is the place of the call."""

    def __init__(self, message: str, at: Any):
        super().__init__(message)
        self.at = at


@dataclass(frozen=True)
class Moving:
    """A value and its tangent."""

    value: Value
    tangent: Value
    part: tuple[Moving, Any] | None = None  # the list that contains it, and its index
    items: Any = None  # the moving values in a list

    def __getitem__(self, index: Any) -> Moving:
        return Moving(self.value[index], self.tangent[index], (self, index))

    def __bool__(self) -> bool:
        return bool(self.value)

    __array_ufunc__ = None  # an ndarray on the left leaves a sum to __radd__

    def __add__(self, other: Any) -> Moving:
        return Moving(self.value + _still(other), self.tangent + other.tangent if isinstance(other, Moving) else self.tangent)

    __radd__ = __add__

    def __neg__(self) -> Moving:
        return Moving(-self.value, -self.tangent)


class Tangents(Evaluator):
    """Runs formulas on moving values."""

    def __init__(self, evaluator: Evaluator):
        vars(self).update(vars(evaluator))

    def composite(self, op: Op, arguments: Mapping[str, Any]) -> list[Value | Moving]:
        """The outputs of a composite; outputs that change are moving values."""
        still = as_arrays(op, {name: _still(value) for name, value in arguments.items()})
        moving = {name: value if isinstance(value, Moving) else Moving(still[name], tangent, items=value)
                  for name, value in arguments.items() if (tangent := _tangent(value)) is not None}  # fmt: skip
        drawn = {name: still[name] or np.random.default_rng(0) for name in op.signature.generators}
        result = self.run(self._plan(op, "composite"), {**still, **moving, **drawn})[RESULT]
        return list(result) if len(op.signature.outputs) > 1 else [result]

    def value(self, expression: Expression, names: Mapping[str, Any]) -> Any:
        match expression:
            case Call():
                return self._called(expression, [None if a is None else (self.value(a, names),) for a in expression.arguments])
            case Name() | Sequence() | Item():
                return super().value(expression, names)
            case Conditional(test, body, orelse):
                side = self.record.took(expression.at, self.value(test, names))
                return self.value(body if side else orelse, names)
        return super().value(expression, {name: _still(value) for name, value in names.items()})

    def _called(self, call: Call, given: list[tuple[Any] | None]) -> Any:
        if not any(value and _tangent(value[0]) is not None for value in given):
            return super()._call(call, given)
        if not call.op:
            return self._by_differences(call, [value for (value,) in given])
        if call.op not in self.ops:
            return self._by_library(call, given)
        op = self.ops[call.op]
        if not op.differentiable:
            return super()._call(call, [value and (_still(value[0]),) for value in given])
        arguments = {p.name: p.given if value is None else value[0]
                     for p, value in zip(op.signature.arguments, given)}  # fmt: skip
        outputs = self.composite(op, arguments) if op.composite else self._by_rules(op, arguments, call)
        return outputs[0] if len(op.signature.visible) == 1 else tuple(outputs[: len(op.signature.visible)])

    def visited(self, case: Case, given: dict[str, Any], outputs: list[Value | Moving]) -> None:
        """Called at each call that runs rules, with its moving arguments and its outputs."""

    def _by_rules(self, op: Op, arguments: dict[str, Any], call: Call | None) -> list[Value | Moving]:
        still = {name: _still(value) for name, value in arguments.items()}
        shapes = ", ".join(f"{a.name} of shape {np.shape(still[a.name])}" for a in op.signature.arrays if not a.type.is_list)
        case = Case(op, self, _Wrong(op, call and call.at), BoundCall(f"{op.name}({shapes})", np.dtype(float), still))
        if op.signature.generators:
            self._forward(op, still)  # draws the numbers that the case drew from a copy of the generator
        directions = {name: tangent for name in case.inputs if (tangent := _tangent(arguments[name])) is not None}
        outputs = list(case.outputs)
        for i in case.differentiable if directions else ():
            if numeric.is_inexact(outputs[i]):
                outputs[i] = Moving(outputs[i], numeric.expanded(case.pushed(directions, i), outputs[i]))
        proved = (op.name, *((name, _described(value)) for name, value in still.items()), *directions)
        moving = [*directions.values(), *(y.tangent for y in outputs if isinstance(y, Moving))]
        if directions and self.proved.get(proved) is not op and all(map(numeric.is_finite, moving)):
            self._prove(case, directions, outputs, call)
            self.proved[proved] = op
        self.visited(case, {name: arguments[name] for name in directions}, outputs)
        return outputs

    def _by_differences(self, call: Call, given: list[Any]) -> Value | Moving:
        """An operator without an entry: it has no rule to check."""
        still = [_still(value) for value in given]
        value = super()._call(call, [(value,) for value in still])
        if not numeric.is_inexact(np.asarray(value)):
            return value
        moving = [_tangent(value) for value in given]

        def moved(step: Value) -> list[Value]:
            return ArrayList([super(Tangents, self)._call(call, [
                (v if t is None else v + step * t,) for v, t in zip(still, moving)])])  # fmt: skip

        return Moving(value, numeric.derivative(moved, np.zeros(()), np.ones(()))[0])

    def _by_library(self, call: Call, given: list[tuple[Any] | None]) -> Any:
        """An operator of gradspec, whose rules gradspec's own check proves."""
        still = [value and (_still(value[0]),) for value in given]
        found = library_operators.tangent(call.op, still, [_tangent(value[0]) if value else None for value in given])
        values = super()._call(call, still)
        if isinstance(values, (list, tuple)):
            return type(values)(v if t is None else Moving(v, t) for v, t in zip(values, found))
        return values if found is None else Moving(values, found)

    def _prove(self, case: Case, directions: dict[str, Value], outputs: list[Value | Moving], call: Call) -> None:
        """<grad, tangent of the outputs> = sum of <vjp(grad), tangent>."""
        grads = [numeric.random_like(case.outputs[i], case.random) for i in case.differentiable]
        tangents = [outputs[i].tangent for i in case.differentiable]
        expected = sum(map(numeric.inner, grads, tangents))
        scale = 1 + sum(numeric.size_of(g) * numeric.size_of(t) for g, t in zip(grads, tangents))
        found = 0.0
        for name, direction in directions.items():
            key, formula = case.vjp_rule(name)
            got = case.run(lambda: numeric.reduced(case.vjp(name, grads), case.inputs[name]), key, formula)  # noqa: B023
            found += numeric.inner(got, direction)
        if not abs(found - expected) <= TOLERANCE * scale:
            raise Wrong(f"calls {case.call.source}, whose gradient is wrong there", call.at)


def check_composite(case: Case, name: str, direction: Value) -> None:
    """Check that the composite's calls give the derivative of its value when one input moves."""
    change = case.differences(name, direction)
    try:
        tangents = tangents_of(case, {name: direction})
    except Wrong as wrong:
        case.report(f"{wrong} at {case.call}", case.forward_key, wrong.at)
        return
    except Exception as error:
        message = f"fails where {name} moves at {case.call}: {what(error)}"
        case.report(message, case.forward_key, case.forward_formula)
        return
    for i, tangent, expected in zip(case.differentiable, tangents, change):
        wrong = numeric.worst(tangent, expected)
        if wrong is not None and not case.settles(name, direction, change):
            case.unsettled(name)
            return
        if wrong is not None:
            got, wanted = (f"{numeric.plain(value):.4g}" for value in wrong)
            output = case.op.signature.outputs[i].name
            case.report(f"calls give another derivative of {output} than its values do where {name} moves: expected {wanted}, "
                        f"got {got} at {case.call}", case.forward_key, case.forward_formula)  # fmt: skip
            return


def holds_together(case: Case) -> bool:
    """Whether the composite's calls give the derivative of its value when all inputs move at once.

    Derivatives are linear: an error in one input also appears when all move, except for directions of probability 0.
    """
    names, inputs = [*case.inputs], [*case.inputs.values()]
    directions = [numeric.direction_like(value, case.random) for value in inputs]
    change = numeric.derivative(lambda moved: case.at(dict(zip(names, moved))), inputs, directions, twice=False)
    try:
        tangents = tangents_of(case, dict(zip(names, directions)))
    except Exception:
        return False
    return all(numeric.worst(tangent, expected) is None for tangent, expected in zip(tangents, change, strict=True))


def tangents_of(case: Case, directions: Mapping[str, Value]) -> list[Value]:
    """The tangents of the differentiable outputs, by the calls of the composite."""
    moving = {name: Moving(case.inputs[name], direction) for name, direction in directions.items()}
    outputs = _moved(Tangents(case.evaluator), case, moving)
    tangents = [_tangent(outputs[i]) for i in case.differentiable]
    return [numeric.scaled(0.0, case.outputs[i]) if t is None else numeric.expanded(t, case.outputs[i])
            for i, t in zip(case.differentiable, tangents)]  # fmt: skip


def cotangent_of(case: Case, name: str, grads: list[Value]) -> Value | None:
    """The cotangent of one input by the calls of the composite, accumulated as in the engine.

    None if one of the calls has no rule: an operator without an entry.
    """
    moving = Moving(case.inputs[name], _zeros(case.inputs[name]))
    calls = _Calls(case.evaluator)
    outputs = _moved(calls, case, {name: moving})
    calls.add([outputs[i] for i in case.differentiable], grads)
    calls.run_back()
    if not calls.ruled:
        return None
    found = calls.found.get(id(moving))
    return moving.tangent if found is None else numeric.reduced(found, moving.value)


def bend_of(case: Case, name: str, output: int) -> tuple[Value, Value] | None:
    """The derivative of a partial when its input moves, by the calls in its rule, in forward and in reverse mode.

    None if it is constant, if one of the calls has no rule, or if one needs kernels that are not built.
    """
    if case.evaluator.defers_rules(case.op):
        return None
    ones = np.ones_like(case.inputs[name])
    moving, calls = Moving(case.inputs[name], ones), _Calls(case.evaluator)
    tangents = {f"{a.name}_t": None for a in case.op.signature.arrays} | {f"{name}_t": ones}
    rules = calls.run(calls._plan(case.op, "jvp"), {**case.known(tangents), name: moving})
    found = rules[f"{case.op.signature.outputs[output].name}_t"]
    if not isinstance(found, Moving):
        return None
    calls.add(found, np.ones_like(found.value))
    calls.run_back()
    return (found.tangent, calls.found.get(id(moving), 0.0)) if calls.ruled else None


def slopes_of(case: Case, directions: Mapping[str, Value], weights: Mapping[int, Value], squared: bool) -> tuple[float, float]:
    """How the derivative along some directions changes along them, by the jvp and by the vjps of an entry.

    It is that of the outputs times their weights, added up, or of the squares of the outputs.
    """
    op, rules = case.op, _Unproved(case.evaluator)
    inputs = {name: Moving(case.inputs[name], direction) for name, direction in directions.items()}
    outputs = rules.outputs_of(case, inputs)
    known = {**case.known({}), **inputs, **{o.name: y for o, y in zip(op.signature.outputs, outputs)}}
    grads: dict[int, Any] = dict(weights)
    if squared:
        grads = {i: Moving(2 * w * outputs[i].value, 2 * w * outputs[i].tangent) for i, w in weights.items()}
    tangents = {f"{a.name}_t": directions.get(a.name) for a in op.signature.arrays}
    moved = rules.run(rules._plan(op, "jvp"), {**known, **tangents})
    forward = sum(_product(grads[i], moved[f"{op.signature.outputs[i].name}_t"], case.outputs[i]) for i in weights)
    given = case.cotangents([grads.get(i) for i in case.differentiable])
    reverse = 0.0
    for name, direction in directions.items():
        found = rules.run(rules._plan(op, f"vjp: {name}"), {**known, **given})[f"grad_{name}"]
        if isinstance(found, Moving):
            reverse += numeric.inner(numeric.reduced(found.tangent, case.inputs[name]), direction)
    return forward, reverse


def _product(grad: Any, tangent: Any, output: Value) -> float:
    """How the inner product of two values changes, either of which may move."""
    found = 0.0
    for left, right in ((_still(grad), _tangent(tangent)), (_tangent(grad), _still(tangent))):
        if left is not None and right is not None:
            found += numeric.inner(numeric.expanded(left, output), numeric.expanded(right, output))
    return found


class _Unproved(Tangents):
    """Runs formulas on moving values where the rules that they call may be conventions."""

    def outputs_of(self, case: Case, inputs: Mapping[str, Moving]) -> list[Value | Moving]:
        return self._by_rules(case.op, {**case.arguments, **inputs}, None)

    def _prove(self, case: Case, directions: dict[str, Value], outputs: list[Value | Moving], call: Call) -> None:
        pass


class _Calls(Tangents):
    """Runs formulas on moving values, and backward through the recorded calls."""

    def __init__(self, evaluator: Evaluator):
        super().__init__(evaluator)
        self.calls: list[tuple[Case, dict[str, Any], list[Value | Moving]]] = []
        self.found: dict[int, Value] = {}  # the cotangent of each moving value
        self.ruled = True  # whether every call has rules

    def visited(self, case: Case, given: dict[str, Any], outputs: list[Value | Moving]) -> None:
        self.calls.append((case, given, outputs))

    def _by_differences(self, call: Call, given: list[Any]) -> Value | Moving:
        self.ruled = False
        return super()._by_differences(call, given)

    def _by_library(self, call: Call, given: list[tuple[Any] | None]) -> Any:
        self.ruled = False
        return super()._by_library(call, given)

    def run_back(self) -> None:
        for case, given, outputs in reversed(self.calls):
            grads = [self.found.get(id(outputs[i])) for i in case.differentiable]
            for name, value in given.items() if any(grad is not None for grad in grads) else ():
                if (grad := case.vjp(name, grads)) is not None:
                    self.add(value, numeric.reduced(grad, case.inputs[name]))

    def add(self, value: Any, grad: Value) -> None:
        """Add to the cotangent of a value, of the moving items of a list, and of the list that contains the value."""
        if isinstance(value, (list, tuple)):
            for item, part in zip(value, grad):
                self.add(item, part)
        elif isinstance(value, Moving):
            if not isinstance(value.value, list):
                grad = np.asarray(grad if np.iscomplexobj(value.value) else np.real(grad))
            before = self.found.get(id(value))
            self.found[id(value)] = grad if before is None else numeric.combined(1.0, before, 1.0, grad)
            if value.part is not None:
                whole, index = value.part
                rest = _zeros(whole.value)
                rest[index] = grad
                self.add(whole, rest)
            if value.items is not None:
                self.add(value.items, grad)


def _zeros(value: Value) -> Value:
    """Zeros with the shape of a value, which may have infinities or NaNs."""
    return ArrayList(map(_zeros, value)) if isinstance(value, list) else np.zeros_like(value)


def _moved(tangents: Tangents, case: Case, moving: Mapping[str, Moving]) -> list[Value | Moving]:
    """The outputs of a composite with some moving inputs."""
    drawn = {generator: copy.deepcopy(case.call.arguments[generator]) for generator in case.op.signature.generators}
    return tangents.composite(case.op, {**case.arguments, **drawn, **moving})


class _Wrong(Report):
    """An error of a called operator, reported at the call."""

    hints = False

    def __init__(self, op: Op, at: Any):
        super().__init__(op, ErrorList("", ""))
        self.at = at

    def __call__(self, message: str, key: str, at: Formula | Any = None) -> None:
        raise Wrong(f"calls {self.op.name}, whose {key} {message}", self.at)


def _still(value: Any) -> Any:
    if isinstance(value, Moving):
        return value.value
    if isinstance(value, (list, tuple)) and any(isinstance(item, Moving) for item in value):
        return type(value)(map(_still, value))
    return value


def _tangent(value: Any) -> Value | None:
    """The tangent of a value; None if it does not move."""
    if isinstance(value, Moving):
        return value.tangent
    if isinstance(value, (list, tuple)) and any(isinstance(item, Moving) for item in value):
        return ArrayList(i.tangent if isinstance(i, Moving) else np.zeros_like(np.asarray(i)) for i in value)
    return None


def _described(value: Any) -> Any:
    """A key for the form of an argument: shapes and dtypes, or the value."""
    if isinstance(value, (list, tuple)) and any(isinstance(item, np.ndarray) for item in value):
        return tuple(map(_described, value))
    return (value.shape, value.dtype) if isinstance(value, np.ndarray) else repr(value)

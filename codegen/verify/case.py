"""Cases: run an op at one call, with its values and the derivatives that its rules compute.

Converts samples to calls, runs rules at them and reports exceptions.  Does not judge the numbers.
"""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.random

from ..errors import ErrorList
from ..spec.cases import case_at, named
from ..spec.formula import formulas_of, grad_names
from ..spec.limits import memory
from ..spec.model import Formula, Location, Op
from ..spec.samples import evaluate_sample, seed_of
from . import numeric
from .coverage import Record
from .evaluate import Evaluator, as_arrays
from .numeric import Value


@dataclass(frozen=True)
class BoundCall:
    """One call of an op: every argument by name, with defaults."""

    source: str
    dtype: np.dtype
    arguments: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.source} in {self.dtype}"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress NumPy's warnings, which are either reported as errors or intended, and limit memory."""
    with np.errstate(all="ignore"), warnings.catch_warnings(), memory():
        warnings.simplefilter("ignore")
        yield


def make_sample(op: Op, index: int, dtype: Any) -> BoundCall:
    """Sample number `index` of an op in a dtype, the same in every run."""
    domain = op.domain.source if op.domain else None
    return make_call(op, op.samples[index].source, dtype, domain, seed_of(op.name, index))


def make_call(op: Op, source: str, dtype: Any, domain: str | None = None, seed: int = 0) -> BoundCall:
    positional = [a.name for a in op.signature.arguments if not a.keyword_only]
    defaults = {a.name: a.given for a in op.signature.arguments if a.default is not None}
    args, kwargs = evaluate_sample(source, domain, dtype, seed, positional, defaults)
    return BoundCall(source, np.dtype(dtype), defaults | dict(zip(positional, args)) | kwargs)


def dtypes_of(op: Op) -> list[type]:
    """The dtypes of an op's checks."""
    if op.dtype in ("int", "bool"):
        return [np.int64 if op.dtype == "int" else np.bool_]
    if op.dtype == "complex":
        return [np.complex128]
    return [np.float64, np.complex128] if op.dtype in ("any", "float") and op.differentiable else [np.float64]


class Stop(Exception):
    """The call has an error that is reported; the rest of its checks is skipped."""


class Report:
    """The errors of one op; each formula is reported once, at the first call that fails."""

    hints = True  # whether a user reads the hint at a likely mistake

    def __init__(self, op: Op, errors: ErrorList, record: Record | None = None):
        self.op, self.errors, self.record = op, errors, record or Record()
        self.keys: set[str] = set()

    def __call__(self, message: str, key: str, at: Formula | Location | ast.AST | None = None) -> None:
        if key not in self.keys:
            place, case = at or self.op.places.get(key, self.op.location), ""
            if isinstance(at, Formula):
                tree, case = self.record.chosen(at.tree)
                place = tree if case else at.location
            elif isinstance(at, Location) and key in (formulas := formulas_of(self.op)):
                case = case_at(formulas[key].tree, at)
            self.errors.add(message, place, self.op.name, named(key, case))
            self.keys.add(key)


class Case:
    """One op at one call."""

    def __init__(self, op: Op, evaluator: Evaluator, report: Report, call: BoundCall):
        self.op, self.evaluator, self.report, self.call = op, evaluator, report, call
        self.arguments = self.run(lambda: as_arrays(op, call.arguments), "samples", None)
        self.random = np.random.default_rng(len(call.source))
        self.forward_key = "composite" if op.composite else "forward" if op.forward else "inplace"
        self.forward_formula = getattr(op, self.forward_key)
        self.outputs = self.forward(call.arguments)
        self.inputs = {a.name: self.arguments[a.name] for a in op.signature.arrays
                       if numeric.is_inexact(self.arguments[a.name])}  # fmt: skip
        self.differentiable = [i for i, o in enumerate(op.signature.outputs) if o.differentiable]

    # Values.

    def forward(self, arguments: Mapping[str, Any]) -> list[Value]:
        def outputs() -> list[Value]:
            return numeric.numbers(self.evaluator.forward(self.op, arguments))

        return self.run(outputs, self.forward_key, self.forward_formula)

    def at(self, changed: Mapping[str, Value]) -> list[Value]:
        """The differentiable outputs with some inputs replaced."""
        outputs = self.forward({**self.call.arguments, **changed})
        if not numeric.alike(outputs, self.outputs):
            message = f"gives another shape at other values of {' and '.join(changed)} at {self.call}"
            self.report(message, self.forward_key, self.forward_formula)
            raise Stop
        return [outputs[i] for i in self.differentiable]

    def differences(self, name: str, direction: Value, step: float = numeric.STEP) -> list[Value]:
        """The derivative of the differentiable outputs when one input moves, by differences."""
        return numeric.derivative(lambda moved: self.at({name: moved}), self.inputs[name], direction, step)

    def settles(self, name: str, direction: Value, change: list[Value]) -> bool:
        """Whether smaller steps give the same differences."""
        return numeric.worst(change, self.differences(name, direction, numeric.STEP / 8), 10 * numeric.TOLERANCE) is None

    def unsettled(self, name: str) -> None:
        """Report a call whose differences do not settle."""
        self.report(f"differences do not settle where {name} moves at {self.call}: is the sample on a kink?", "samples")

    def known(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        """The values that formulas of a derivative may read."""
        outputs = {o.name: v for o, v in zip(self.op.signature.outputs, self.outputs)}
        return {**self.arguments, **outputs, **extra}

    def run(self, function: Callable[[], Any], key: str, formula: Formula | None) -> Any:
        """Call the function that computes a formula; an exception is an error of the formula."""
        try:
            return function()
        except Exception as error:
            hint = ""
            if self.call.dtype.kind == "c" and self.op.dtype in ("any", "float") and isinstance(error, TypeError):
                hint = "; an op that takes no complex arrays has dtype: real"
            self.report(f"fails at {self.call}: {what(error)}{hint}", key, formula)
            raise Stop from None

    # Rules.

    def jvp(self, name: str, direction: Value, output: int) -> Value:
        """The tangent of one output when one input moves."""
        return self.pushed({name: direction}, output)

    def pushed(self, directions: Mapping[str, Value], output: int) -> Value:
        """The tangent of one output when several inputs move."""
        derived = self.op.derived
        if derived.joint_linear:
            still = {n: numeric.scaled(0.0, self.arguments[n]) for n in derived.joint_linear}
            return self.forward({**self.call.arguments, **still, **directions})[output]
        return self.tangent(directions, output)

    def tangent(self, directions: Mapping[str, Value], output: int) -> Value:
        """The tangent of one output by the formulas of the entry."""
        known = self.known({f"{name}_t": direction for name, direction in directions.items()})
        found = self.evaluator.jvp(self.op, known)[self.op.signature.outputs[output].name]
        return numeric.scaled(0.0, self.outputs[output]) if found is None else numeric.numbers(found)

    def vjp(self, name: str, grads: list[Value | None]) -> Value | None:
        """The cotangent of one input, before it is reduced to the input's shape, for cotangents of the differentiable outputs.

        A cotangent that is None is absent, like the cotangent of an unused output.
        """
        found = self.evaluator.vjp(self.op, name, self.known(self.cotangents(grads)))
        return None if found is None else numeric.numbers(found)

    def cotangents(self, grads: list[Value | None]) -> dict[str, Value]:
        named = {output: grad for grad, output in grad_names(self.op).items()}
        return {named[self.op.signature.outputs[i].name]: grad for i, grad in zip(self.differentiable, grads)}

    def jvp_rule(self, name: str, output: int) -> tuple[str, Formula]:
        """Key and formula of the rule that `jvp` runs."""
        declared = self.op.signature.outputs[output].name
        key = f"d{declared}/d{name}" if self.op.form == "partial" else f"jvp: {declared}"
        return key, self.op.partials.get((declared, name)) or self.op.jvp.get(declared) or self.forward_formula

    def vjp_rule(self, name: str) -> tuple[str, Formula]:
        """Key and formula of the rule that `vjp` runs."""
        if self.op.form == "partial":
            return next((f"d{output}/d{i}", formula) for (output, i), formula in self.op.partials.items() if i == name)
        return f"vjp: {name}", self.op.vjp[name]


def what(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")

"""Numeric verification: every derivative is compared with differences on the entry's own samples.

Owns what counts as wrong and the hint that goes with it.  Runs on NumPy alone, so that a wrong formula is refused
before anything is compiled; what needs kernels that are not built is left for later and reported as deferred.
"""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import ErrorList
from ..rules.analyze import formulas_of
from ..spec.formula import grad_names
from ..spec.limits import memory
from ..spec.model import Formula, Op, Spec, Text
from ..spec.samples import evaluate_sample, seed_of
from ..spec.shapes import Mismatch, Unknown, parse_shape, results, shaped, show
from . import coverage, numeric
from .evaluate import Evaluator, as_arrays
from .numeric import TOLERANCE, Value

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class BoundCall:
    """One sample of an op, evaluated: every argument by name, defaults included."""

    source: str
    dtype: np.dtype
    arguments: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.source} in {self.dtype}"


def make_sample(op: Op, index: int, dtype: Any) -> BoundCall:
    """Sample number `index` of an op in a dtype, the same in every run."""
    positional = [a.name for a in op.signature.arguments if not a.keyword_only]
    domain = op.domain.source if op.domain else None
    source = op.samples[index].source
    args, kwargs = evaluate_sample(source, domain, dtype, seed_of(op.name, index), positional)
    defaults = {a.name: ast.literal_eval(a.default) for a in op.signature.arguments if a.default is not None}
    return BoundCall(source, np.dtype(dtype), defaults | dict(zip(positional, args)) | kwargs)


def check(spec: Spec, root: Path | str = ".", progress: Progress | None = None,
          kernels: ModuleType | None = None) -> list[str]:  # fmt: skip
    """Checks an analysed spec; raises SpecErrors, or returns the ops that wait for their kernels to be built."""
    evaluator = Evaluator(spec, Path(root), kernels)
    errors = ErrorList(spec.file, spec.source)
    deferred = []
    ops = spec.ops
    with np.errstate(all="ignore"), warnings.catch_warnings(), memory():
        warnings.simplefilter("ignore")
        for done, op in enumerate(ops.values()):
            if progress is not None:
                progress(done, len(ops), op.name)
            if evaluator.deferred(op):
                deferred.append(op.name)
            else:
                _OpCheck(op, evaluator, errors).run()
    errors.raise_if_any()
    return deferred


def dtypes_of(op: Op) -> list[type]:
    """The dtypes that a check runs an op in."""
    if op.dtype in ("int", "bool"):
        return [np.int64 if op.dtype == "int" else np.bool_]
    return [np.float64, np.complex128] if op.dtype in ("any", "float") and op.differentiable else [np.float64]


class _Stop(Exception):
    """The sample has been reported; nothing more is to be learnt from it."""


class _OpCheck:
    """The checks of one op; each formula is reported once, at the first sample that shows it wrong."""

    def __init__(self, op: Op, evaluator: Evaluator, errors: ErrorList):
        self.op, self.evaluator, self.errors = op, evaluator, errors
        self.reported: set[str] = set()
        self.calls: list[BoundCall] = []
        self.grads = {output: grad for grad, output in grad_names(op).items()}

    def run(self) -> None:
        self.evaluator.record.clear()
        for index in range(len(self.op.samples)):
            for dtype in dtypes_of(self.op):
                try:
                    self._check_sample(index, dtype)
                except _Stop:
                    pass
        if not self.reported:
            self._check_coverage()

    def report(self, message: str, key: str, formula: Formula | None = None) -> None:
        if key not in self.reported:
            place = formula.location if formula else self.op.places.get(key, self.op.location)
            self.errors.add(message, place, self.op.name, key)
            self.reported.add(key)

    def _check_sample(self, index: int, dtype: type) -> None:
        try:
            call = make_sample(self.op, index, dtype)
        except Exception as error:
            sample = self.op.samples[index]
            own = sample if sample.location.line > self.op.location.line else None
            self.report(f"{sample.source} in {np.dtype(dtype)}: {_what(error)}", "samples", own)
            raise _Stop from None
        self.calls.append(call)
        case = _Case(self, call)
        case.check_forward()
        if self.op.form in ("linear", "multilinear"):
            case.check_linear()
        if self.op.form not in ("composite", "nondifferentiable"):
            case.check_derivatives()

    # Coverage.

    def _check_coverage(self) -> None:
        """Refuses what no sample has tried."""
        for argument in self.op.signature.arguments:
            if argument.default is not None:
                default = ast.literal_eval(argument.default)
                if all(coverage.still(call.arguments[argument.name], default) for call in self.calls):
                    message = f"no sample gives '{argument.name}' another value than its default"
                    self.errors.add(message, argument.location, self.op.name, "samples")
        for key, formula in formulas_of(self.op).items():
            for node, text in coverage.untaken([formula.tree], self.evaluator.record):
                self.errors.add(f"no sample takes the branch `{text}`", node, self.op.name, key)
        for name in coverage.string_arguments(self.op):
            self._check_words(name)

    def _check_words(self, name: str) -> None:
        """Every word that a string argument is compared with is given by a sample, and any other is refused."""
        word, given = coverage.Word(), {call.arguments[name] for call in self.calls}
        at = self.op.signature.argument(name).location
        try:
            self.evaluator.forward(self.op, {**self.calls[0].arguments, name: word})
        except Exception:
            for other in sorted(word.known - given):
                self.errors.add(f"no sample gives '{name}' the value '{other}'", at, self.op.name, "samples")
        else:
            self.errors.add(f"'{name}' may be any word: one that is unknown raises nothing", at, self.op.name, "op")


class _Case:
    """One op at one sample."""

    def __init__(self, owner: _OpCheck, call: BoundCall):
        self.op, self.evaluator, self.report, self.reported = owner.op, owner.evaluator, owner.report, owner.reported
        self.grads, self.call = owner.grads, call
        self.arguments = as_arrays(self.op, call.arguments)
        self.random = np.random.default_rng(len(call.source))
        key = "composite" if self.op.composite else "forward" if self.op.forward else "inplace"
        self.forward_key, self.forward_formula = key, getattr(self.op, key)
        self.outputs = self.forward(call.arguments)
        self.inputs = {a.name: self.arguments[a.name] for a in self.op.signature.arrays
                       if numeric.is_inexact(self.arguments[a.name])}  # fmt: skip
        self.differentiable = [i for i, o in enumerate(self.op.signature.outputs) if o.differentiable]

    def forward(self, arguments: Mapping[str, Any]) -> list[Value]:
        return self.run(lambda: self.evaluator.forward(self.op, arguments), self.forward_key, self.forward_formula)

    def evaluate(self, formula: Formula, extra: Mapping[str, Any]) -> Any:
        outputs = {o.name: v for o, v in zip(self.op.signature.outputs, self.outputs)}
        return self.evaluator.evaluate(self.op, formula, {**self.arguments, **outputs, **extra})

    def run(self, function: Callable[[], Any], key: str, formula: Formula) -> Any:
        """Calls what a formula computes; an exception is an error of that formula."""
        try:
            return function()
        except Exception as error:
            hint = ""
            if self.call.dtype.kind == "c" and self.op.dtype in ("any", "float") and isinstance(error, TypeError):
                hint = "; an op that takes no complex arrays has dtype: real"
            self.report(f"fails at {self.call}: {_what(error)}{hint}", key, formula)
            raise _Stop from None

    # Forward.

    def check_forward(self) -> None:
        outputs = self.op.signature.outputs
        if self.op.differentiable and all(map(numeric.is_finite, self.inputs.values())):
            for i in self.differentiable:
                if not numeric.is_finite(self.outputs[i]):
                    message = f"{self.call} gives {outputs[i].name} that is not finite"
                    self.report(f"{message}: a sample stays where the op is differentiable", "samples")
                    raise _Stop
        if self.op.shape:
            self._check_shape()
        if self.op.inplace and self.op.forward:
            self._check_inplace()

    def _check_shape(self) -> None:
        at = self.op.places["shape"]
        shape = parse_shape(Text(self.op.shape, at.file, ((at.line, at.column),)), self.op.signature)
        values = [self.arguments[a.name] for a in shaped(self.op.signature)]
        try:
            wanted = results(shape, [None if v is None else np.shape(v) for v in values], self.arguments)
        except Unknown:
            return
        except Mismatch as mismatch:
            self.report(f"does not hold at {self.call}: {mismatch}", "shape")
            return
        for output, value, dims in zip(self.op.signature.outputs, self.outputs, wanted):
            got = np.shape(value)
            if len(got) != len(dims) or any(d not in ("_", g) for g, d in zip(got, dims)):
                self.report(f"does not hold at {self.call}: {output.name} has {show(got)}, not {show(dims)}", "shape")

    def _check_inplace(self) -> None:
        first = self.op.signature.arguments[0].name
        target = np.array(self.arguments[first])
        if target.shape != self.outputs[0].shape or target.dtype != self.outputs[0].dtype:
            return
        self.run(lambda: self.evaluate(self.op.inplace, {first: target}), "inplace", self.op.inplace)
        if not np.array_equal(target, self.outputs[0], equal_nan=target.dtype.kind in "fc"):
            self.report(f"writes something else than forward gives at {self.call}", "inplace", self.op.inplace)

    # Linearity.

    def check_linear(self) -> None:
        together = [self.op.linear] if self.op.form == "linear" else [(name,) for name in self.op.multilinear]
        for names in together:
            names = [name for name in names if name in self.inputs]
            at = {name: self.inputs[name] for name in names}
            to = {name: numeric.random_like(self.inputs[name], self.random) for name in names}
            key, y = self.op.form, self.at({})
            zero = self.at({name: numeric.scaled(0.0, value) for name, value in at.items()})
            both = self.at({name: numeric.combined(1.75, at[name], -0.5, to[name]) for name in names})
            sum_ = numeric.combined(1.75, y, -0.5, self.at(to))
            if numeric.worst(zero, numeric.scaled(0.0, y)) is not None:
                self.report(f"is not {key} in {_listed(names)}: zeros do not give zeros at {self.call}", key)
                raise _Stop
            if numeric.worst(both, sum_) is not None:
                self.report(f"is not {key} in {_listed(names)} at {self.call}", key)
                raise _Stop

    def at(self, changed: Mapping[str, Value]) -> list[Value]:
        """The differentiable outputs with some inputs replaced."""
        outputs = self.forward({**self.call.arguments, **changed})
        return [outputs[i] for i in self.differentiable]

    # Derivatives.

    def check_derivatives(self) -> None:
        for name, value in self.inputs.items():
            direction = numeric.direction_like(value, self.random)
            if self.op.form == "partial":
                direction = np.ones_like(value)
            if self._check_jvp(name, direction) and self.op.form == "partial" and value.dtype.kind == "c":
                self._check_jvp(name, 1j * direction, "; the op is not holomorphic: write vjp and jvp")
            self._check_vjp(name, numeric.direction_like(value, self.random))

    def change(self, name: str, direction: Value) -> list[Value]:
        """How the outputs change when one input moves, by differences."""

        def f(moved: Value) -> list[Value]:
            return self.at({name: moved})

        change = numeric.derivative(f, self.inputs[name], direction)
        closer = numeric.derivative(f, self.inputs[name], direction, numeric.STEP / 8)
        if numeric.worst(change, closer, 10 * TOLERANCE) is not None:
            message = f"differences do not settle where {name} moves at {self.call}: is the sample on a kink?"
            self.report(message, "samples")
            raise _Stop
        return change

    def _check_jvp(self, name: str, direction: Value, why: str = "") -> bool:
        """Whether the forward-mode rule gives the change along a direction."""
        change = self.change(name, direction)
        right = [self._check_tangent(name, direction, i, y, why) for i, y in zip(self.differentiable, change)]
        return all(right)

    def _check_tangent(self, name: str, direction: Value, output: int, expected: Value, why: str) -> bool:
        declared = self.op.signature.outputs[output].name
        key = f"d{declared}/d{name}" if self.op.form == "partial" else f"jvp: {declared}"
        formula = self.op.partials.get((declared, name)) or self.op.jvp.get(declared) or self.forward_formula
        got = self.run(lambda: self.jvp(name, direction, output), key, formula)
        try:
            got = numeric.expanded(got, expected)
        except ValueError:
            shapes = f"has the shape {show(np.shape(got))}, and {declared} {show(np.shape(expected))}"
            self.report(f"{shapes} at {self.call}", key, formula)
            return False
        wrong = numeric.worst(got, expected)
        if wrong is not None:
            others = self._others(name, lambda n: numeric.expanded(self.jvp(n, direction, output), expected))
            self._report_wrong(key, formula, name, wrong, why or numeric.hint(got, expected, others))
        return wrong is None

    def jvp(self, name: str, direction: Value, output: int) -> Value:
        """The tangent of one output when one input moves."""
        derived, declared = self.op.derived, self.op.signature.outputs[output].name
        if derived.joint_linear:
            still = {n: numeric.scaled(0.0, self.arguments[n]) for n in derived.joint_linear}
            return self.forward({**self.call.arguments, **still, name: direction})[output]
        terms = [term for term in derived.jvp.get(declared, ()) if term.tangent_of == name]
        values = [self.evaluate(term.formula, {f"{name}_t": direction}) for term in terms]
        if not values:
            return numeric.scaled(0.0, self.outputs[output])
        return functools.reduce(lambda total, value: numeric.combined(1.0, total, 1.0, value), values)

    def _check_vjp(self, name: str, direction: Value) -> None:
        """<grad, change> = <vjp(grad), direction>."""
        formula, key = self.op.derived.vjp[name], f"vjp: {name}"
        if self.op.form == "partial":
            key = next(f"d{output}/d{i}" for output, i in self.op.partials if i == name)
            if key in self.reported:
                return
        change = self.change(name, direction)
        grads = [numeric.random_like(self.outputs[i], self.random) for i in self.differentiable]
        named = {self.grads[self.op.signature.outputs[i].name]: grad for i, grad in zip(self.differentiable, grads)}
        got = self.run(lambda: self.evaluate(formula, named), key, formula)
        try:
            got = numeric.reduced(got, self.inputs[name])
        except ValueError as error:
            self.report(f"{error} at {self.call}", key, formula)
            return
        expected = sum(map(numeric.inner, grads, change))
        scale = 1 + sum(numeric.size_of(g) * numeric.size_of(c) for g, c in zip(grads, change))
        found = numeric.inner(got, direction)
        if not abs(found - expected) <= TOLERANCE * scale:
            vjps = self.op.derived.vjp
            others = self._others(name, lambda n: self._product(self.evaluate(vjps[n], named), direction))
            wrong = (np.float64(found), np.float64(expected))
            self._report_wrong(key, formula, name, wrong, numeric.hint(*wrong, others))

    def _product(self, got: Value, direction: Value) -> np.float64:
        return np.float64(numeric.inner(numeric.reduced(got, direction), direction))

    def _others(self, name: str, rule: Callable[[str], Value]) -> dict[str, Value]:
        """What the rules of the other inputs give in the place of this one's, for the hint; many do not even run."""
        found = {}
        for other in self.inputs.keys() - {name}:
            try:
                found[other] = rule(other)
            except Exception:
                continue
        return found

    def _report_wrong(self, key: str, formula: Formula | None, name: str, wrong: tuple[Any, Any], hint: str) -> None:
        got, expected = (f"{numeric.plain(value):.4g}" for value in wrong)
        if not hint and self.call.dtype.kind == "c":
            hint = "; real samples are right: is conj missing?"
        where = f" where {name} moves" if key.startswith("jvp") else ""
        self.report(f"is wrong{where}: expected {expected}, got {got} at {self.call}{hint}", key, formula)


def _what(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")


def _listed(names: Iterable[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)

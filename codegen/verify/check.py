"""Check derivatives numerically: compare every rule with differences on the entry's own samples.

Decides which results are errors, and the hint for each.  Runs on NumPy alone, so a wrong formula is rejected before anything is
compiled.  Checks that need kernels which are not built are reported as deferred.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import ErrorList
from ..package import Package
from ..rules.calls import rank
from ..spec.formula import calls_in
from ..spec.model import WITHOUT_RULE, Formula, Op, Spec
from ..spec.shapes import Mismatch, Pattern, Unknown, partial_results, shape_of, shaped, show
from . import numeric
from .alternate_kernels import check_composed, check_inplace, check_placed
from .batched import check_batched, check_parts, check_rows
from .case import BoundCall, Case, Report, Stop, dtypes_of, make_sample, quiet, what
from .composites import check_composite, holds_together
from .evaluate import Evaluator
from .exercised import check_shown, check_tried
from .forms import one_rank, other_axes, other_ranks, other_shapes
from .laws import MOST, check_laws, kind_of
from .numeric import TOLERANCE, Value
from .points import check_points
from .promises import check_generators, check_integers, check_promises
from .result_cache import Passed
from .stated_values import check_stated

Progress = Callable[[int, int, str], None]


def check(spec: Spec, place: Package | Path | str = ".", progress: Progress | None = None, kernels: ModuleType | None = None,
          integers: bool = True, passed: Passed | None = None, errors: ErrorList | None = None,
          names: Collection[str] | None = None, shown: bool = False) -> list[str]:  # fmt: skip
    """Check an analysed spec, or some of its entries; return the unproved entries, whose kernels are not built as written.

    Errors are raised together, or added to `errors`.  With `integers`, an entry for floats is also checked for its results
    from integers.  With `shown`, each function needs an example.  Entries that `passed` holds are skipped.
    """
    evaluator = Evaluator(spec, Package.at(place), kernels)
    given, errors = errors, ErrorList(spec.file, spec.source, spec.further) if errors is None else errors
    unproved, ops = [], [op for op in spec.ops.values() if names is None or op.name in names]
    with quiet(), passed or contextlib.nullcontext():
        for done, op in enumerate(ops):
            if progress is not None:
                progress(done, len(ops), op.name)
            before, deferred = len(errors.errors), evaluator.deferred(op)
            if not deferred and (passed is None or not passed.holds(op)):
                check_op(op, evaluator, errors, integers, shown)
                if len(errors.errors) == before:
                    deferred = evaluator.defers_rules(op) or passed is not None and passed.unbuilt(op)
                    if passed is not None and not deferred:
                        passed.note(op)
            unproved += [op.name] * deferred
    rank(errors, evaluator.ops)
    if given is None:
        errors.raise_if_any()
    return unproved


def check_op(op: Op, evaluator: Evaluator, errors: ErrorList, integers: bool = False, shown: bool = False) -> None:
    """Add the errors of one op to `errors`."""
    report = Report(op, errors, evaluator.record)
    evaluator.record.clear()
    calls = check_calls(op, evaluator, report)
    if not report.keys:
        check_promises(op, evaluator, report)
        check_generators(op, evaluator, report)
    if not report.keys:
        check_tried(op, evaluator, errors, calls)
        if integers:
            check_integers(op, evaluator, report)
        check_laws(op, evaluator, report, calls)
        with contextlib.suppress(Stop):
            check_points(op, evaluator, report, calls)
        if shown:
            check_shown(op, evaluator, errors, calls)


def check_calls(op: Op, evaluator: Evaluator, report: Report) -> list[BoundCall]:
    """Report the errors at samples and kinks; return the calls that were made."""
    calls, kinds = [], set()
    for index in range(len(op.samples)):
        for dtype in dtypes_of(op):
            try:
                call = make_sample(op, index, dtype)
            except Exception as error:
                sample = op.samples[index]
                report(f"{sample.source} in {np.dtype(dtype)}: {what(error)}", "samples", sample if sample.is_of(op) else None)
                return  # the other samples would fail in the same way, and each takes time
            calls.append(call)
            try:
                _Check(op, evaluator, report, call).run_all()
            except Stop:
                pass
        if calls and not report.keys:
            is_new = len(kinds | {kind_of(op, calls[-1])}) > len(kinds) < MOST and (op.batched or op.rows) and op.name[0] != "_"
            kinds.add(kind_of(op, calls[-1]))
            _check_forms(op, evaluator, report, calls[-1], is_new)
    return calls + check_stated(op, evaluator, report)


def _check_forms(op: Op, evaluator: Evaluator, report: Report, call: BoundCall, is_new: bool) -> None:
    """Check other forms of a call: other ranks, axes counted from the other end, and other shapes if `is_new`.

    Calls that the forward rejects are skipped.
    """
    calls = [call]
    if op.form in ("linear", "multilinear", "vjp_jvp"):
        calls += other_ranks(op, call)
    for form in calls:
        found = _form(op, evaluator, report, form)
        for others in other_axes(op, form, found.outputs if found else []):
            cases = [case for other in others if (case := _form(op, evaluator, report, other))]
            same = not found or any(numeric.same(case.outputs, found.outputs) for case in cases)
            if cases and one_rank(op, form) and not same:
                at = found.forward_formula.location
                report(f"gives other values at {cases[-1].call} than at {form}", found.forward_key, at)
    for other in other_shapes(op, call) if is_new else ():
        _form(op, evaluator, report, other)


def _form(op: Op, evaluator: Evaluator, report: Report, call: BoundCall) -> _Form | None:
    """A call whose rules were checked; None if it is not a call of the op."""
    try:
        outputs = evaluator.forward(op, call.arguments)
        if [] in (y for y in outputs if isinstance(y, list)) or not all(map(numeric.is_finite, outputs)):
            return None
    except Exception:
        return None
    case = _Form(op, evaluator, report, call)
    with contextlib.suppress(Stop):
        case.check_shape()
        case.check_rules()
    return case


class _Check(Case):
    """The checks of one op at one sample."""

    last: tuple[Value, list[Value]] | None = None  # a direction, and the change along it
    at_once = False  # whether the inputs of a composite move one by one only if the check of all together fails

    def run_all(self) -> None:
        self.check_forward()
        self.check_linear()
        self.check_rules()

    def check_rules(self) -> None:
        if self.op.form == "composite" and self.op.differentiable:
            for name, value in () if self.at_once and holds_together(self) else self.inputs.items():
                check_composite(self, name, numeric.direction_like(value, self.random))
        elif self.op.form not in WITHOUT_RULE:
            self.check_derivatives()
            if self.op.batched and not self.report.keys:
                check_batched(self)
            if self.op.rows and not self.report.keys:
                check_rows(self)
        if self.op.parts and not self.report.keys:
            check_parts(self)

    # Forward.

    def check_forward(self) -> None:
        outputs = self.op.signature.outputs
        if self.op.differentiable and all(map(numeric.is_finite, self.inputs.values())):
            for i in self.differentiable:
                if not numeric.is_finite(self.outputs[i]):
                    message = f"{self.call} gives {outputs[i].name} that is not finite"
                    self.report(f"{message}: a sample stays where the op is differentiable", "samples")
                    raise Stop
        self.check_shape()
        if self.op.inplace and self.op.forward:
            check_inplace(self)
        if self.op.composite and self.op.forward:
            check_composed(self)
        if self.op.placed:
            check_placed(self)

    def check_shape(self) -> None:
        shape = shape_of(self.op)
        try:
            inputs = [_shape_of(p, self.arguments[a.name]) for p, a in zip(shape.inputs, shaped(self.op.signature))]
            wanted = partial_results(shape, inputs, self.arguments)
        except Unknown:
            return
        except Mismatch as mismatch:
            self.report(f"does not hold at {self.call}: {mismatch}", "shape")
            return
        for output, value, dims in zip(self.op.signature.outputs, self.outputs, wanted):
            for got in () if dims is None else map(np.shape, value if output.type.is_list else [value]):
                if len(got) != len(dims) or any(d not in ("_", g) for g, d in zip(got, dims)):
                    self.report(f"does not hold at {self.call}: {output.name} has {show(got)}, not {show(dims)}", "shape")

    # Linearity.

    def check_linear(self) -> None:
        together = [self.op.linear] if self.op.linear else [(name,) for name in self.op.multilinear]
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
                raise Stop
            if numeric.worst(both, sum_) is not None:
                self.report(f"is not {key} in {_listed(names)} at {self.call}", key)
                raise Stop

    # Derivatives.

    def check_derivatives(self) -> None:
        for name, value in self.inputs.items():
            direction = numeric.direction_like(value, self.random)
            if self.op.form == "partial":
                direction = np.ones_like(value)
            if self._check_jvp(name, direction) and self.op.form == "partial" and value.dtype.kind == "c":
                self._check_jvp(name, 1j * direction, "; the op is not holomorphic: write vjp and jvp")
            self._check_vjp(name, direction if self.op.form != "partial" else numeric.direction_like(value, self.random))
        if not self.report.keys:
            self._check_absent()

    def _check_absent(self) -> None:
        """Check that an absent cotangent counts as zeros, for each of several outputs in turn."""
        grads = [numeric.random_like(self.outputs[i], self.random) for i in self.differentiable]
        for place in range(len(grads)) if len(grads) > 1 else ():
            absent, zeros = [*grads], [*grads]
            absent[place], zeros[place] = None, numeric.scaled(0.0, grads[place])
            for name, value in self.inputs.items():
                key, formula = self.vjp_rule(name)
                got = self.run(lambda: self.vjp(name, absent), key, formula)  # noqa: B023
                got = numeric.scaled(0.0, value) if got is None else self.run(lambda: numeric.reduced(got, value), key, formula)  # noqa: B023
                expected = numeric.reduced(self.vjp(name, zeros), value)
                if numeric.is_finite(expected) and not numeric.same(got, expected):
                    output = self.op.signature.outputs[self.differentiable[place]].name
                    message = f"an absent cotangent of {output} does not count as zeros at {self.call}"
                    self.report(message, key, formula)
        self._check_together()

    def _check_together(self) -> None:
        """Check that the tangents of all inputs together give the sum of the results of each one alone."""
        if len(self.inputs) < 2 or self.op.derived.joint_linear:
            return
        directions = {name: numeric.direction_like(value, self.random) for name, value in self.inputs.items()}
        for output in self.differentiable:
            like, (key, formula) = self.outputs[output], self.jvp_rule(next(iter(directions)), output)
            both = self.run(lambda: self.tangent(directions, output), key, formula)  # noqa: B023
            total = numeric.scaled(0.0, like)
            for name, direction in directions.items():
                total = numeric.combined(1.0, total, 1.0, numeric.expanded(self.jvp(name, direction, output), like))
            if not numeric.same(numeric.expanded(both, like), total):
                self.report(f"tangents together do not give the sum of what each gives at {self.call}", key, formula)

    def change(self, name: str, direction: Value) -> list[Value]:
        """The change of the outputs when one input moves, by differences."""
        if self.last is not None and self.last[0] is direction:
            return self.last[1]
        change = self.differences(name, direction)
        if not self.settles(name, direction, change):
            self.unsettled(name)
            raise Stop
        self.last = direction, change
        return change

    def _check_jvp(self, name: str, direction: Value, why: str = "") -> bool:
        """Whether the forward-mode rule gives the change along a direction."""
        change = self.change(name, direction)
        right = [self._check_tangent(name, direction, i, y, why) for i, y in zip(self.differentiable, change)]
        return all(right)

    def _check_tangent(self, name: str, direction: Value, output: int, expected: Value, why: str) -> bool:
        declared, (key, formula) = self.op.signature.outputs[output].name, self.jvp_rule(name, output)
        got = self.run(lambda: self.jvp(name, direction, output), key, formula)
        try:
            got = numeric.expanded(got, expected)
        except ValueError:
            shapes = f"has the shape {show(np.shape(got))}, and {declared} {show(np.shape(expected))}"
            self.report(f"{shapes} at {self.call}", key, formula)
            return False
        if self.op.form != "partial" and not isinstance(expected, list) and np.iscomplexobj(got) > np.iscomplexobj(expected):
            self.report(f"is complex, and {declared} is real at {self.call}", key, formula)
            return False
        wrong = numeric.worst(got, expected)
        if wrong is not None:
            others = self._others(name, lambda n: numeric.expanded(self.jvp(n, direction, output), expected))
            self._report_wrong(key, formula, name, wrong, why or numeric.hint(got, expected, others))
        return wrong is None

    def _check_vjp(self, name: str, direction: Value) -> None:
        """<grad, change> = <vjp(grad), direction>."""
        key, formula = self.vjp_rule(name)
        if key in self.report.keys:
            return
        change = self.change(name, direction)
        grads = [numeric.random_like(self.outputs[i], self.random) for i in self.differentiable]
        got = self.run(lambda: self.vjp(name, grads), key, formula)
        try:
            got = numeric.reduced(got, self.inputs[name])
        except ValueError as error:
            self.report(f"{error} at {self.call}", key, formula)
            return
        if self.hermitian(name) and not numeric.same(got, np.swapaxes(got.conj(), -1, -2)):
            self.report(f"is not Hermitian, as '{name}' is, at {self.call}", key, formula)
            return
        expected = sum(map(numeric.inner, grads, change))
        scale = 1 + sum(numeric.size_of(g) * numeric.size_of(c) for g, c in zip(grads, change))
        found = numeric.inner(got, direction)
        if not abs(found - expected) <= TOLERANCE * scale:
            others = self._others(name, lambda n: self._product(self.vjp(n, grads), direction))
            wrong = (np.float64(found), np.float64(expected))
            hint = numeric.hint(*wrong, others) or numeric.hint(got, self._gradient(name, grads), {})
            self._report_wrong(key, formula, name, wrong, hint)

    def _gradient(self, name: str, grads: list[Value]) -> Value:
        """The correct cotangent of an input, by differences along every element; for the hint."""
        value = self.inputs[name]
        if isinstance(value, list) or value.size > 100 or not self.report.hints:
            return np.zeros(0)
        expected = np.zeros_like(value)
        for place in np.ndindex(value.shape):
            for unit in (1, 1j) if value.dtype.kind == "c" else (1,):
                direction = np.zeros_like(value)
                direction[place] = unit
                expected[place] += unit * sum(map(numeric.inner, grads, self.differences(name, direction)))
        return expected

    def hermitian(self, name: str) -> bool:
        """Whether the domain restricts an input to Hermitian matrices."""
        domain = self.op.domain
        return domain is not None and name in domain.names and any(c.func.id == "mH" for c in calls_in(domain.tree))

    def _product(self, got: Value, direction: Value) -> np.float64:
        return np.float64(numeric.inner(numeric.reduced(got, direction), direction))

    def _others(self, name: str, rule: Callable[[str], Value]) -> dict[str, Value]:
        """The results of the other inputs' rules in place of this one, for the hint; many of them fail."""
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


class _Form(_Check):
    """The checks of one op at another form of a sample: with fewer differences, because these checks rarely find an error."""
    at_once = True

    def check_derivatives(self) -> None:
        for name, value in self.inputs.items():
            direction = numeric.direction_like(value, self.random)
            self.found = self.differences(name, direction)
            self._check_jvp(name, direction)
            self._check_vjp(name, direction)

    def change(self, name: str, direction: Value) -> list[Value]:
        return self.found

    def _report_wrong(self, key: str, formula: Formula | None, name: str, wrong: tuple[Any, Any], hint: str) -> None:
        """Report the error, unless the form is at a kink; the sample itself is not."""
        super().change(name, numeric.direction_like(self.inputs[name], self.random))
        super()._report_wrong(key, formula, name, wrong, hint)

    def unsettled(self, name: str) -> None:
        pass


def _shape_of(pattern: Pattern, value: Any) -> Any:
    """The shape of an argument, or of each array of a list; None if the pattern says nothing about it."""
    if value is None or pattern.is_any:
        return None
    try:
        return [np.shape(item) for item in value] if pattern.is_list else np.shape(value)
    except ValueError:  # a list of arrays instead of one array
        raise Mismatch(f"{show(tuple(map(np.shape, value)))} is no shape") from None


def _listed(names: Iterable[str]) -> str:
    return " and ".join(map(repr, names))

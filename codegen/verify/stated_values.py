"""Check stated values: the values of examples, and the derivatives at kinks, where differences do not settle.

Compares the values, and the derivatives of both modes, with the entry's statements.  Also compares a stated derivative with the
one-sided derivatives: if both exist, it must be between them, like a subgradient.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..spec.model import WITHOUT_RULE, Formula, Op, Stated
from ..spec.samples import evaluate_stated
from ..spec.shapes import show
from . import numeric
from .case import BoundCall, Case, Report, Stop, make_call, what
from .composites import bend_of, cotangent_of, slopes_of, tangents_of
from .evaluate import Evaluator, as_arrays
from .numeric import Value

_TOLERANCE = 1e-4  # for one-sided differences, which have an error of first order


def check_stated(op: Op, evaluator: Evaluator, report: Report) -> list[BoundCall]:
    """Report the examples and kinks that do not hold; return the calls that were made."""
    calls = []
    for key, stated in [*(("examples", e) for e in op.examples), *(("kinks", k) for k in op.kinks)]:
        try:
            call = make_call(op, stated.call.source, float)
            call = replace(call, arguments=as_arrays(op, call.arguments))
        except Exception as error:
            report(f"{stated.call.source}: {what(error)}", key, stated.call)
            continue
        calls.append(call)
        try:
            case = _StatedCase(op, evaluator, report, call)
            case.check_example(stated) if key == "examples" else case.check_kink(stated)
        except Stop:
            pass
    return calls


class _StatedCase(Case):
    """One op at one example or kink."""

    def check_example(self, example: Stated) -> None:
        """Check that every output has the stated shape and values."""
        outputs = self.op.signature.visible
        values = self._evaluated(example, len(outputs), "examples")
        for output, got, wanted in zip(outputs, self.outputs, values):
            several = isinstance(got, list)
            if several and (not isinstance(wanted, (list, tuple)) or len(wanted) != len(got)):
                self._differs(example, f"{output.name} of {len(got)} arrays")
            pairs = zip(got, wanted) if several else [(got, wanted)]
            for value, expected in ((v, self._array(e, example, "examples")) for v, e in pairs):
                if value.shape != expected.shape:
                    self._differs(example, f"{output.name} of shape {show(value.shape)}, not {show(expected.shape)}")
                wrong = ~np.isclose(value, expected, rtol=numeric.TOLERANCE, atol=numeric.TOLERANCE, equal_nan=True)
                if wrong.any():
                    got, wanted = numeric.plain(value[wrong][0]), numeric.plain(expected[wrong][0])
                    self._differs(example, f"{output.name} = {got:.7g}, not {wanted:.7g}")

    def _differs(self, example: Stated, how: str) -> None:
        self.report(f"{self.call.source} gives {how}", "examples", example.value)
        raise Stop

    def check_kink(self, kink: Stated) -> None:
        slopes = self._stated(kink)
        for name, stated in slopes.items():
            self._check_sides(kink, name, stated)
            if self.op.form == "composite" and self.op.differentiable:
                self._check_calls(name, stated)
            elif self.op.form not in ("composite", *WITHOUT_RULE):
                self._check_reverse(name, stated)
                self._check_forward(name, stated)
                if self.op.form == "partial":
                    self._check_bend(name)
        if self.op.form not in ("composite", *WITHOUT_RULE):
            self._check_together(slopes)
            self._check_slopes(slopes)

    def _stated(self, kink: Stated) -> dict[str, np.ndarray]:
        """The stated derivative of each floating-point input."""
        values = [self._array(value, kink, "kinks") for value in self._evaluated(kink, len(self.inputs), "kinks")]
        if [np.shape(value) for value in values] != [value.shape for value in self.inputs.values()]:
            shapes = " and ".join(f"{name} of shape {show(value.shape)}" for name, value in self.inputs.items())
            self.report(f"{self.call.source} wants derivatives in {shapes}", "kinks", kink.value)
            raise Stop
        return {name: np.asarray(value, self.inputs[name].dtype) for name, value in zip(self.inputs, values)}

    def _evaluated(self, stated: Stated, count: int, key: str) -> tuple[Any, ...]:
        try:
            return evaluate_stated(stated.value.source, count)
        except Exception as error:
            self.report(f"{stated.value.source}: {what(error)}", key, stated.value)
            raise Stop from None

    def _array(self, value: Any, stated: Stated, key: str) -> np.ndarray:
        """A stated value as an array; an error for ragged lists and for non-numbers."""
        try:
            return numeric.numbers(np.asarray(value))
        except (ValueError, TypeError) as error:
            self.report(f"{stated.value.source}: {what(error)}", key, stated.value)
            raise Stop from None

    def _check_sides(self, kink: Stated, name: str, stated: np.ndarray) -> None:
        """Check that a stated derivative is between the derivatives from both sides, if both exist.

        NaN of a private operator, the slope of another one, says that the derivative differs from direction to direction.
        """
        for direction, wanted in _directions(stated):
            if self.op.private and math.isnan(wanted):
                continue
            low, high = sorted([self._slope(name, direction) + 0.0, 0.0 - self._slope(name, -direction)])
            margin = _TOLERANCE * (1 + abs(low) + abs(high))
            if not (np.isnan([low, high]).any() or low - margin <= wanted <= high + margin):
                between = f"the derivatives from either side, {low:.4g} and {high:.4g}"
                message = f"{self.call.source}: {wanted:g} where {name} moves is not between {between}"
                self.report(message, "kinks", kink.value)
                raise Stop

    def _slope(self, name: str, direction: np.ndarray) -> float:
        """The derivative of the sum of the outputs from one side, or NaN."""
        start = self._total(self.at({}))

        def slope(step: float) -> float:
            near, far = (self._total(self.at({name: self.inputs[name] + h * direction})) for h in (step / 2, step))
            return (4 * near - far - 3 * start) / step

        coarse, fine = slope(numeric.STEP), slope(numeric.STEP / 8)
        return fine if abs(coarse - fine) <= _TOLERANCE * (1 + abs(fine)) else math.nan

    def _check_reverse(self, name: str, stated: np.ndarray) -> None:
        """Check that the vjp of ones is the stated derivative."""
        key, formula = self.vjp_rule(name)
        grads = [np.ones_like(self.outputs[i]) for i in self.differentiable]
        found = self.run(lambda: numeric.reduced(self.vjp(name, grads), stated), key, formula)
        # The engine casts a cotangent to the dtype of its input.
        self._compare(key, formula, found if np.iscomplexobj(stated) else np.real(found), stated)

    def _check_forward(self, name: str, stated: np.ndarray) -> None:
        """Check that the tangents along each unit vector sum to the stated derivative."""
        for direction, wanted in _directions(stated):
            tangents = []
            for output in self.differentiable:
                key, formula = self.jvp_rule(name, output)
                tangents.append(self.run(lambda: self._tangent(name, direction, output), key, formula))  # noqa: B023
            self._compare(key, formula, self._total(tangents), wanted)

    def _check_together(self, stated: dict[str, np.ndarray]) -> None:
        """Along a direction in which all inputs move the tangents sum to what is stated."""
        directions = {name: numeric.direction_like(value, self.random) for name, value in stated.items()}
        wanted = sum(numeric.inner(value, directions[name]) for name, value in stated.items())
        tangents = []
        for output in self.differentiable:
            key, formula = self.jvp_rule(next(iter(stated)), output)
            tangent = self.run(lambda: self.pushed(directions, output), key, formula)  # noqa: B023
            tangents.append(numeric.expanded(tangent, self.outputs[output]))
        self._compare(key, formula, self._total(tangents), wanted)

    def _check_slopes(self, stated: dict[str, np.ndarray]) -> None:
        """Where all is finite, both rules change alike: a second derivative in forward mode over either is the same number, or
        not known over both."""
        if self.evaluator.defers_rules(self.op) or self.op.derived.joint_linear or not self._is_finite(stated):
            return
        directions = {name: numeric.direction_like(value, self.random) for name, value in self.inputs.items()}
        weights = {i: numeric.random_like(self.outputs[i], self.random) for i in self.differentiable}
        for squared in (False, True):
            key, formula = self.jvp_rule(next(iter(self.inputs)), self.differentiable[0])
            forward, reverse = self.run(lambda: slopes_of(self, directions, weights, squared), key, formula)  # noqa: B023
            if not np.isclose(forward, reverse, rtol=numeric.TOLERANCE, atol=numeric.TOLERANCE, equal_nan=True):
                of = "its square's slope" if squared else "the slope"
                change = f"{of} by {forward:.4g} and {reverse:.4g}"
                self.report(f"does not change as vjp at the kink {self.call.source}: {change}", key, formula)
                raise Stop

    def _is_finite(self, stated: dict[str, np.ndarray]) -> bool:
        """Whether nothing is infinite or so small that a quotient by it may be; a slope that is not known may be stated."""
        numbers = [*self.inputs.values(), *(self.outputs[i] for i in self.differentiable)]
        if any(np.isinf(slope).any() for slope in stated.values()) or any(isinstance(x, list) for x in numbers):
            return False
        return all(np.all((np.abs(x) < 1e100) & ((x == 0) | (np.abs(x) > 1e-100))) for x in numbers)

    def _check_calls(self, name: str, stated: np.ndarray) -> None:
        """Check that the rules of a composite's calls give the stated derivative, in both modes."""
        key, formula = self.forward_key, self.forward_formula
        grads = [np.ones_like(self.outputs[i]) for i in self.differentiable]
        found = self.run(lambda: cotangent_of(self, name, grads), key, formula)
        if found is not None:
            self._compare(key, formula, found, stated)
        for direction, wanted in _directions(stated):
            tangents = self.run(lambda: tangents_of(self, {name: direction}), key, formula)  # noqa: B023
            self._compare(key, formula, self._total(tangents), wanted)

    def _check_bend(self, name: str) -> None:
        """Check that a term which a rule drops, such as a branch not taken, does not give a NaN in reverse mode."""
        for output in self.differentiable:
            key, formula = self.jvp_rule(name, output)
            both = self.run(lambda: bend_of(self, name, output), key, formula)  # noqa: B023
            if both is not None and numeric.is_finite(both[0]) and not numeric.is_finite(both[1]):
                self.report(f"its own derivative is not finite in reverse mode at the kink {self.call.source}", key, formula)
                raise Stop

    def _tangent(self, name: str, direction: np.ndarray, output: int) -> Value:
        return numeric.expanded(self.jvp(name, direction, output), self.outputs[output])

    def _compare(self, key: str, formula: Formula, got: Any, stated: Any) -> None:
        right = np.isclose(got, stated, rtol=numeric.TOLERANCE, atol=numeric.TOLERANCE, equal_nan=True)
        if not np.all(right):
            got, stated = (np.broadcast_to(value, np.shape(right))[~right][0] for value in (got, stated))
            numbers = f"{numeric.plain(got):.4g}, where the entry states {numeric.plain(stated):.4g}"
            self.report(f"gives {numbers} at the kink {self.call.source}", key, formula)
            raise Stop

    def _total(self, outputs: list[Value]) -> float:
        return sum(float(np.sum(np.real(y))) for y in outputs)


def _directions(stated: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Unit vectors, each with the derivative along it; a complex element moves along both axes."""
    for place in np.ndindex(stated.shape):
        for unit in (1, 1j) if stated.dtype.kind == "c" else (1,):
            direction = np.zeros_like(stated)
            direction[place] = unit
            yield direction, float(np.real(np.conj(stated[place]) * unit))

"""Kinks: the derivatives that an entry states where differences need not settle, such as ties, zeros and infinities.

Owns the comparison of both modes with what is stated, and of what is stated with the derivatives from either side: where
both exist it lies between them, as a subgradient does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..spec.model import Formula, Kink, Op
from ..spec.samples import evaluate_stated
from ..spec.shapes import show
from . import numeric
from .case import BoundCall, Case, Report, Stop, make_call, what
from .evaluate import Evaluator, as_arrays
from .numeric import Value

_TOLERANCE = 1e-4  # of differences from one side, which have an error of first order


def check_kinks(op: Op, evaluator: Evaluator, report: Report) -> list[BoundCall]:
    """Reports the kinks that do not hold; returns the calls that were made."""
    calls = []
    for kink in op.kinks:
        try:
            call = make_call(op, kink.call.source, float)
            call = replace(call, arguments=as_arrays(op, call.arguments))
        except Exception as error:
            report(f"{kink.call.source}: {what(error)}", "kinks", kink.call)
            continue
        calls.append(call)
        try:
            _KinkCase(op, evaluator, report, call).check(kink)
        except Stop:
            pass
    return calls


class _KinkCase(Case):
    """One op at one kink."""

    def check(self, kink: Kink) -> None:
        for name, stated in self._stated(kink).items():
            self._check_sides(kink, name, stated)
            if self.op.form not in ("composite", "nondifferentiable"):
                self._check_reverse(name, stated)
                self._check_forward(name, stated)

    def _stated(self, kink: Kink) -> dict[str, np.ndarray]:
        """The stated derivative of each floating-point input."""
        values = self._evaluated(kink)
        if [np.shape(value) for value in values] != [value.shape for value in self.inputs.values()]:
            shapes = " and ".join(f"{name} of shape {show(value.shape)}" for name, value in self.inputs.items())
            self.report(f"{self.call.source} wants derivatives in {shapes}", "kinks", kink.value)
            raise Stop
        return {name: np.asarray(value, self.inputs[name].dtype) for name, value in zip(self.inputs, values)}

    def _evaluated(self, kink: Kink) -> tuple[Any, ...]:
        try:
            return evaluate_stated(kink.value.source, len(self.inputs))
        except Exception as error:
            self.report(f"{kink.value.source}: {what(error)}", "kinks", kink.value)
            raise Stop from None

    def _check_sides(self, kink: Kink, name: str, stated: np.ndarray) -> None:
        """Where there are derivatives from both sides, what is stated lies between them."""
        for direction, wanted in _directions(stated):
            low, high = sorted([self._slope(name, direction) + 0.0, 0.0 - self._slope(name, -direction)])
            margin = _TOLERANCE * (1 + abs(low) + abs(high))
            if not (np.isnan([low, high]).any() or low - margin <= wanted <= high + margin):
                between = f"the derivatives from either side, {low:.4g} and {high:.4g}"
                message = f"{self.call.source}: {wanted:g} where {name} moves is not between {between}"
                self.report(message, "kinks", kink.value)
                raise Stop

    def _slope(self, name: str, direction: np.ndarray) -> float:
        """The derivative of the sum of the outputs from one side, NaN where there is none."""
        start = self._total(self.at({}))

        def slope(step: float) -> float:
            near, far = (self._total(self.at({name: self.inputs[name] + h * direction})) for h in (step / 2, step))
            return (4 * near - far - 3 * start) / step

        coarse, fine = slope(numeric.STEP), slope(numeric.STEP / 8)
        return fine if abs(coarse - fine) <= _TOLERANCE * (1 + abs(fine)) else math.nan

    def _check_reverse(self, name: str, stated: np.ndarray) -> None:
        """With ones as cotangents the vjp is what is stated."""
        key, formula = self.vjp_rule(name)
        grads = [np.ones_like(self.outputs[i]) for i in self.differentiable]
        self._compare(key, formula, self.run(lambda: numeric.reduced(self.vjp(name, grads), stated), key, formula), stated)

    def _check_forward(self, name: str, stated: np.ndarray) -> None:
        """Along each unit vector the tangents sum to what is stated."""
        for direction, wanted in _directions(stated):
            tangents = []
            for output in self.differentiable:
                key, formula = self.jvp_rule(name, output)
                tangent = self.run(lambda: self.jvp(name, direction, output), key, formula)  # noqa: B023
                tangents.append(numeric.expanded(tangent, self.outputs[output]))
            self._compare(key, formula, self._total(tangents), wanted)

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
    """Unit vectors, each with the derivative along it; an element that is complex moves both ways."""
    for place in np.ndindex(stated.shape):
        for unit in (1, 1j) if stated.dtype.kind == "c" else (1,):
            direction = np.zeros_like(stated)
            direction[place] = unit
            yield direction, float(np.real(np.conj(stated[place]) * unit))

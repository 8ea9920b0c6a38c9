"""Equations: check the laws that an entry states under `law:`, such as `exp(-x) == 1 / exp(x)`.

Checks them at the entry's samples and at other values of its domain.  Rejects a law that would also hold for a different op.  A
law is about real numbers, and `c` is any positive number.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..spec.model import Formula, Op
from ..spec.samples import seed_of
from . import numeric
from .case import BoundCall, Report, dtypes_of, make_call, what
from .evaluate import ArrayList, Evaluator, as_arrays

_MOST = 2  # samples of an entry that are used
_ANY = (0.75, 2.5, 1.25)  # the value of `c` at each sample, and at other values for the first sample


def check_equations(op: Op, evaluator: Evaluator, report: Report) -> None:
    """Report the laws that do not hold, and the laws that would also hold for a different op."""
    calls = [*_calls(op)] if op.laws else []
    for law in op.laws:
        key = f"law: {law.source}"
        try:
            for call, number in calls:
                if wrong := _difference(law, op, evaluator, call, number):
                    report(f"does not hold at {call}: {wrong}", key, law)
                    break
            else:
                if not any(_breaks(law, op, bent, calls) for bent in _bent(op, evaluator)):
                    report(f"says nothing: it holds whatever {op.name} gives", key, law)
        except Exception as error:
            report(f"fails at {call}: {what(error)}", key, law)


def _calls(op: Op) -> Iterator[tuple[BoundCall, float]]:
    """The first samples, and the first one with other values; each with a number for `c`."""
    domain = op.domain.source if op.domain else None
    drawn = [(index, seed_of(op.name, index)) for index in range(min(_MOST, len(op.samples)))]
    for number, (index, seed) in zip(_ANY, [*drawn, (0, seed_of(op.name, 0) + 1000)]):
        call = make_call(op, op.samples[index].source, dtypes_of(op)[0], domain, seed)
        yield replace(call, arguments=as_arrays(op, call.arguments)), number


def _difference(law: Formula, op: Op, evaluator: Evaluator, call: BoundCall, number: float) -> str:
    """The numbers where the sides of a law differ most; empty if the sides agree."""
    named = {o.name: y for o, y in zip(op.signature.outputs, evaluator.forward(op, call.arguments))}
    names = {"c": number, **named, **call.arguments}
    left, right = np.broadcast_arrays(*(evaluator.value(side, names) for side in law.expression.arguments))
    wrong = numeric.worst(left, right if right.dtype.kind in "fc" else right.astype(float))
    return " is not ".join(f"{numeric.plain(value):.7g}" for value in wrong) if wrong else ""


def _breaks(law: Formula, op: Op, bent: Evaluator, calls: list[tuple[BoundCall, float]]) -> bool:
    """Whether a law fails for a modified op; an exception does not count as a failure."""
    for call, number in calls:
        with contextlib.suppress(Exception):
            if "nan" not in (_difference(law, op, bent, call, number) or "nan"):
                return True
    return False


class _Bent(Evaluator):
    """An evaluator with one op modified."""

    def __init__(self, evaluator: Evaluator, op: Op, bend: Callable[..., list[Any]]):
        vars(self).update(vars(evaluator))
        self._op, self._bend = op, bend

    def _forward(self, op: Op, arguments: Mapping[str, Any]) -> list[Any]:
        straight = super()._forward
        return self._bend(straight, op, arguments) if op.name == self._op.name else straight(op, arguments)


def _bent(op: Op, evaluator: Evaluator) -> Iterator[Evaluator]:
    """Evaluators whose op has modified results, or modified arguments."""
    for change in _CHANGES:

        def outputs(straight: Callable[..., list[Any]], op: Op, arguments: Mapping[str, Any]) -> list[Any]:
            return [_changed(y, change) for y in straight(op, arguments)]  # noqa: B023

        yield _Bent(evaluator, op, outputs)
    for name, change in itertools.product([a.name for a in op.signature.arrays], _CHANGES[1:]):

        def inputs(straight: Callable[..., list[Any]], op: Op, arguments: Mapping[str, Any]) -> list[Any]:
            return straight(op, {**arguments, name: _changed(arguments[name], change)})  # noqa: B023

        yield _Bent(evaluator, op, inputs)


def _changed(value: Any, change: Callable[[np.ndarray], np.ndarray]) -> Any:
    if isinstance(value, list):
        return ArrayList(_changed(item, change) for item in value)
    return np.asarray(change(value)).astype(value.dtype) if isinstance(value, (np.ndarray, np.generic)) else value


def _larger(y: np.ndarray) -> np.ndarray:
    return ~y if y.dtype == bool else 2 * y + 1 if y.dtype.kind in "iu" else 1.25 * y + 0.3125


def _uneven(y: np.ndarray) -> np.ndarray:
    """Multiplied by a different factor at each position."""
    return y * (1 + _ramp(y) / 16) if y.dtype.kind in "fc" else np.roll(y, 1)


def _tilted(y: np.ndarray) -> np.ndarray:
    """Increased by a different number at each position."""
    return y + _ramp(y) / 8 if y.dtype.kind in "fc" else np.flip(y)


def _ramp(y: np.ndarray) -> np.ndarray:
    return (1 + np.arange(y.size).reshape(y.shape)) / (1 + y.size)


_CHANGES = (_larger, _uneven, _tilted)

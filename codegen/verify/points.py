"""Hard points of a partial of one array: zeros, tiny and huge numbers, and infinities, which no sample has.

Rejects a rule whose own derivative is NaN at a hard point although value and derivative are finite.  The tests compare the
values there, to more digits than NumPy has.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..spec.elementwise import is_elementwise
from ..spec.model import Op
from ..spec.samples import DOMAIN_FUNCTIONS, STATED, evaluate_sample
from .case import BoundCall, Case, Report
from .composites import bend_of
from .evaluate import Evaluator

POINTS = [sign * size for size in (0.0, 1e-300, 1e-8, 0.3, 1.0, 3.0, 7.25, 25.0, 40.0, 1e8, 1e155, np.inf) for sign in (1, -1)]


def check_points(op: Op, evaluator: Evaluator, report: Report, calls: list[BoundCall]) -> None:
    """Report a partial with a NaN second derivative, for each set of other arguments in the samples."""
    if op.form != "partial" or op.private or not is_elementwise(op, evaluator.ops):
        return
    tried: list[Any] = []
    for call in calls:
        arrays = [a.name for a in op.signature.arrays if call.arguments[a.name] is not None]
        others = {name: value for name, value in call.arguments.items() if name not in arrays}
        if len(arrays) != 1 or call.dtype != np.float64 or others in tried:
            continue
        tried.append(others)
        points = [x for x in POINTS if x not in _kinks(op, arrays[0]) and _inside(op, {**others, arrays[0]: x})]
        if points:
            at = replace(call, arguments={**others, arrays[0]: np.array(points)}, source="hard points")
            _check(Case(op, evaluator, report, at), arrays[0], report)


def _check(case: Case, name: str, report: Report) -> None:
    x = case.inputs[name]
    for output in case.differentiable:
        key, formula = case.jvp_rule(name, output)
        slope = case.run(lambda: case.jvp(name, np.ones_like(x), output), key, formula)  # noqa: B023
        both = case.run(lambda: bend_of(case, name, output), key, formula)  # noqa: B023
        if both is None:
            continue
        wrong = np.isfinite(case.outputs[output]) & np.isfinite(slope) & (np.isnan(both[0]) | np.isnan(both[1]))
        if wrong.any():
            at = np.broadcast_to(x, wrong.shape)[wrong][0]
            report(f"its own derivative is NaN at {name} = {at:g}, where value and derivative are finite", key, formula)


def _inside(op: Op, names: dict[str, Any]) -> bool:
    if op.domain is None:
        return True
    return bool(eval(op.domain.source, {"__builtins__": {}, **DOMAIN_FUNCTIONS, **STATED}, names))


def _kinks(op: Op, name: str) -> set[float]:
    """The arguments of the kinks that the entry states."""
    positional = [a.name for a in op.signature.arguments if not a.keyword_only]
    found: set[float] = set()
    for kink in op.kinks:
        args, kwargs = evaluate_sample(kink.call.source)
        found |= {*np.ravel((dict(zip(positional, args)) | kwargs)[name]).tolist()}
    return found

"""Check the further kernels of an entry against its forward: the in-place kernel, and the kernel for a backward pass.

The forward of a composite is such a kernel too: it is checked against the composite's calls.  Only compares: the case has the
call, its arguments and the results of forward.
"""

from __future__ import annotations

import numpy as np

from .case import Case
from .composites import Tangents


def check_inplace(case: Case) -> None:
    """Check that `inplace` writes forward's result into the first argument, if shape and dtype match."""
    first = case.op.signature.arguments[0].name
    target = np.array(case.arguments[first])
    if target.shape != case.outputs[0].shape or target.dtype != case.outputs[0].dtype:
        return
    values = {**case.arguments, first: target}
    case.run(lambda: case.evaluator.inplace(case.op, values), "inplace", case.op.inplace)
    if not np.array_equal(target, case.outputs[0], equal_nan=target.dtype.kind in "fc"):
        case.report(f"writes something else than forward gives at {case.call}", "inplace", case.op.inplace)


def check_composed(case: Case) -> None:
    """Check that a composite's calls return forward's results."""
    results = case.run(lambda: Tangents(case.evaluator).composite(case.op, case.arguments), "composite", case.op.composite)
    for found, output in zip(results, case.outputs):
        if not np.array_equal(found, output, equal_nan=output.dtype.kind in "fc"):
            case.report(f"its calls give something else than forward at {case.call}", "composite", case.op.composite)


def check_placed(case: Case) -> None:
    """Check that `placed` returns forward's result."""
    found = case.run(lambda: case.evaluator.value(case.op.placed.expression, case.arguments), "placed", case.op.placed)
    if not np.array_equal(np.asarray(found), case.outputs[0], equal_nan=case.outputs[0].dtype.kind in "fc"):
        case.report(f"is something else than forward gives at {case.call}", "placed", case.op.placed)

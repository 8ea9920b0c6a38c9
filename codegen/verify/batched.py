"""What `batched: true` states: given cotangents with one more axis at the front, the rules give the cotangents of each row.

Owns the comparison with the rows, one by one.
"""

from __future__ import annotations

import numpy as np

from ..spec.shapes import show
from . import numeric
from .case import Case
from .numeric import Value

_ROWS = 3


def check_batched(case: Case) -> None:
    """Reports the first rule that does something else with a batch than with its rows."""
    grads = [[numeric.random_like(case.outputs[i], case.random) for i in case.differentiable] for _ in range(_ROWS)]
    batches: list[Value] = [np.stack(rows) for rows in zip(*grads)]
    for name, value in case.inputs.items():
        rows = [case.vjp(name, row) for row in grads]
        key, formula = case.vjp_rule(name)
        got = case.run(lambda: case.vjp(name, batches), key, formula)  # noqa: B023
        shape = (_ROWS, *np.shape(rows[0]))
        if np.shape(got) != shape:
            case.report(f"a batch of cotangents gives {show(np.shape(got))} for '{name}', its rows {show(shape)}, at {case.call}",
                        "batched")  # fmt: skip
        elif not all(numeric.same(numeric.reduced(one, value), numeric.reduced(row, value)) for one, row in zip(got, rows)):
            case.report(f"a batch of cotangents gives something else for '{name}' than its rows at {case.call}", "batched")

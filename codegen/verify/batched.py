"""Check an entry's statements about batches against its rows, one by one.

`batched: true`: the rules also take cotangents and tangents with an extra leading axis, and give the result for each row.
`rows:` is the op's result for each row of such an array.  A formula under `vmap:` is the result itself.
"""

from __future__ import annotations

import numpy as np

from ..spec.expression import substituted
from ..spec.shapes import show
from . import numeric
from .case import Case
from .numeric import Value

_ROWS = 3


def check_batched(case: Case) -> None:
    """Report the first rule that gives a different result for a batch than for its rows."""
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
    _check_tangents(case)


def _check_tangents(case: Case) -> None:
    """Check the jvp in the same way, if no input has more axes than the output; smaller rows are aligned with its last axes."""
    ndim = np.ndim(case.outputs[0])
    if any(np.ndim(value) > ndim for value in case.inputs.values()):
        return
    for name, value in case.inputs.items():
        rows = [numeric.random_like(value, case.random) for _ in range(_ROWS)]
        batch = np.stack(rows).reshape(_ROWS, *(1,) * (ndim - np.ndim(value)), *np.shape(value))
        for output in case.differentiable:
            key, formula = case.jvp_rule(name, output)
            got = case.run(lambda: case.jvp(name, batch, output), key, formula)  # noqa: B023
            each = [numeric.expanded(case.jvp(name, row, output), case.outputs[output]) for row in rows]
            like = np.stack([case.outputs[output]] * _ROWS)
            if np.ndim(got) != np.ndim(like) or not numeric.same(numeric.expanded(got, like), np.stack(each)):
                case.report(f"a batch of tangents of '{name}' gives something else than its rows at {case.call}", "batched")


def check_rows(case: Case) -> None:
    """Report a `rows` that differs from the op on each row."""
    for name, value in case.inputs.items():
        rows = [numeric.random_like(value, case.random) for _ in range(_ROWS)]
        known = {**case.arguments, name: np.stack(rows)}
        got = case.run(lambda: case.evaluator.value(case.op.rows.expression, known), "rows", case.op.rows)  # noqa: B023
        expected = np.stack([case.forward({**case.call.arguments, name: row})[0] for row in rows])
        if np.shape(got) != expected.shape:
            message = f"gives {show(np.shape(got))} for rows that give {show(expected.shape)} at {case.call}"
            case.report(message, "rows", case.op.rows)
        elif not numeric.same(got, expected):
            case.report(f"is something else than the op of each row at {case.call}", "rows", case.op.rows)


def check_parts(case: Case) -> None:
    """Report a formula under `vmap` that differs from the op."""
    formula = case.op.parts
    whole = substituted(formula.expression, case.op.let_expressions)
    got = case.run(lambda: case.evaluator.value(whole, dict(case.arguments)), "vmap", formula)
    found = got if isinstance(got, (tuple, list)) else [got]
    for value, output in zip(found, case.op.signature.visible, strict=True):
        expected = case.outputs[case.op.signature.outputs.index(output)]
        if np.shape(value) != np.shape(expected) or not numeric.same(value, expected):
            case.report(f"is something else than {output.name} at {case.call}", "vmap", formula)

"""The table of modes: list the tested modes of each operator, and the reasons why others are not tested.

Defines the columns and the words in their cells; no cell is empty.  tests/ops/test_modes.py compares the table with the modes
that the tests of operators run.
"""

from __future__ import annotations

from ..spec.elementwise import has_value, is_elementwise
from ..spec.model import Op, Spec
from ..verify.proofs import known
from .numpy_calls import functions, universal
from .taylor_table import how as how_series
from .vmap_table import how

YES = "yes"
FIRST, SECOND = ("reverse", "forward"), ("rev-rev", "fwd-rev", "rev-fwd", "fwd-fwd")
COLUMNS = ("rule", "value", "vmap", "series", *FIRST, *SECOND, "complex numbers", "single precision", "in place", "hard points")


class Modes:
    """The table of a spec, row by row."""

    columns = COLUMNS

    def __init__(self, spec: Spec):
        self.spec, ops = spec, list(spec.ops.values())
        self.answering = {*universal(ops).values(), *(call.op.name for call in functions(ops).values())}

    def row(self, op: Op) -> dict[str, str]:
        """Column -> YES, or the word for another case, for a public operator."""
        without = _without_derivative(op)
        return {
            "rule": _rule(op, self.spec),
            "value": self._value(op),
            "vmap": how(op),
            "series": how_series(op),
            **dict.fromkeys((*FIRST, *SECOND), without or YES),
            "complex numbers": without or (YES if op.takes_every_dtype or op.claim == "COMPLEXES" else "refused"),
            "single precision": without or ("the dtype asked for" if _asks_for_dtype(op) else YES),
            "in place": _in_place(op),
            "hard points": without or _hard_points(op, self.spec),
        }

    def _value(self, op: Op) -> str:
        """The references that the value is compared with."""
        given = [a for a in op.signature.arguments if a.type.base in ("Array", "Index", "Mask")]
        found = ["NumPy"] if op.name in self.answering and given else []
        found += ["examples"] if op.examples else []
        found += ["mpmath"] if is_elementwise(op, self.spec.ops) and has_value(op, self.spec.ops) else []
        found += ["SciPy"] if op.namespace == "special" or any(place == "special" for place, _ in op.elsewhere) else []
        return ", ".join(found) or "its rules"


def _without_derivative(op: Op) -> str:
    """The reason why an op has no derivative; empty if it has one."""
    if op.form == "unimplemented":
        return "no rule"
    if op.form == "nondifferentiable" or not any(output.differentiable for output in op.signature.outputs):
        kinds = {output.type.base for output in op.signature.visible}
        return "no derivative" if kinds == {"Array"} else "whole numbers" if kinds == {"Index"} else "truth values"
    return "" if op.signature.arrays else "no array in"


def _rule(op: Op, spec: Spec) -> str:
    stated = [f"{kink.call.source}: {kink.value.source}" for kink in op.kinks]
    return "<br>".join([known(op, spec) or "none", *(f"by convention {line}" for line in stated)])


def _asks_for_dtype(op: Op) -> bool:
    return any(a.type.base == "DType" for a in op.signature.arguments)


def _in_place(op: Op) -> str:
    if op.inplace_only or "inplace" in op.variants:
        return YES
    outputs = op.signature.visible
    if len(outputs) > 1 or outputs[0].type.is_list:
        return "several results"
    if op.view:
        return "a view"
    if outputs[0].type.base != "Array":
        return "another dtype"
    first = op.signature.arguments[0] if op.signature.arguments else None
    if first is None or first.type.base != "Array" or first.type.is_list:
        return "no array first"
    return "not offered" if op.shape and op.shape.partition("->")[2].strip() == first.name else "another shape"


def _hard_points(op: Op, spec: Spec) -> str:
    return YES if is_elementwise(op, spec.ops) else "not elementwise"

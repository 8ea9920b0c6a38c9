"""Select the batching rule of an op.

Derives it from an entry: from its shape, its axis arguments and its form.  An entry states `vmap:` if the derived rule is wrong.
The rules themselves are in `runtime/transforms/batching/rules.py`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..spec.expression import substituted
from ..spec.model import Argument, Op, Signature
from ..spec.shapes import Pattern, Shape, shape_of
from ..verify.loops import axis_arguments
from .printer import OnTensors, Spelling

# Rule -> its treatment of an operand whose first axis is the batch.
WAYS = {
    "parts": "a composite operator runs through its parts, any other one through what `vmap:` says that it is made of",
    "elements": "operands are aligned at their last axes",
    "leading": "the batch is one more of the axes that the shape calls `...`",
    "along": "axes are counted from the end, where the batch is not",
    "shaped": "the shape that is asked for gets the length of the batch in front",
    "draws": "as the vmap's `randomness` says",
    "widened": "`along`, with one more axis, and two that are named",
    "beside": "one operand alone may be a batch",
    "broadcast": "`shaped`, of an operand that may have fewer axes",
    "grouped": "the batch joins that of the images, or the channels, in groups of their own, where kernels are batches as well",
    "images": "the batch joins the one axis of a batch that the operator has",
    "index": "the batch is a slice in front of an index, or an index of its own",
    "inserted": "`along`, with axes that are those of the result",
    "order": "the axes of a row in another order",
    "padded": "nothing is put before or behind the batch",
    "places": "two lists of axes, counted from the end",
    "reduced": "`shaped`, of an operand that may have more axes, whose sums are taken",
    "refused": "it looks at memory, of which a row has none",
    "scattered": "`along`, of operands with one number of axes",
    "summed": "a letter of its own in a summation of Einstein's",
    "taken": "places along an axis, the same for all rows or an index",
    "rows": "one row of the batch after the other",
}
_ARRAYS = ("Array", "Index", "Mask")


@dataclass(frozen=True)
class Mapped:
    """The batching rule of one op, with the facts about its arguments that the runtime needs.

    A role is a letter for each argument: `a` an array, `k` a kernel of a convolution or its bias, `l` a list of arrays, `i`
    an index, `x` an axis, `X` several axes, `s` a shape, `g` a generator, `.` anything else.
    """

    way: str
    roles: str
    inputs: tuple[tuple[str, ...], ...] = ()  # for each array, the axes after the `...`
    results: tuple[tuple[str, ...], ...] = ()
    all_axes: bool = False  # whether a missing axis argument means all axes
    formula: str = ""  # the decomposition, as a function of the op's arguments

    @property
    def record(self) -> str:
        if self.formula:
            return f"({self.way!r}, {self.roles!r}, {self.formula})"
        parts: list[object] = [self.way, self.roles]
        if self.inputs:
            parts += [self.inputs, self.results]
        if self.all_axes:
            parts.append(True)
        return repr(tuple(parts))


class _OnRows(OnTensors):
    """Spells expressions on tensors, in Python."""

    def metadata(self, name: str, attribute: str) -> ast.expr:
        return Spelling.metadata(self, name, attribute)


def mapped(op: Op, signatures: dict[str, Signature] | None = None) -> Mapped | None:
    """The batching rule of an op; None for an op that never gets a batch, since it takes no arrays and draws no numbers."""
    roles = "".join(_role(op, a) for a in op.signature.arguments)
    if op.parts is not None:
        whole = substituted(op.parts.expression, op.let_expressions)
        formula = _OnRows(signatures)(whole) if signatures else ""
        others = ["i" if a.type.base in _ARRAYS else "." for a in op.signature.arguments]
        roles = "".join("a" if a in op.signature.arrays else role for a, role in zip(op.signature.arguments, others))
        return Mapped("parts", roles, formula=f"lambda {', '.join(a.name for a in op.signature.arguments)}: {formula}")
    shape = shape_of(op)
    if op.vmap is not None:
        return _stated(op, roles, shape)
    if op.composite:
        return Mapped("parts", roles)
    if op.signature.generators:
        return Mapped("draws", roles)
    if not set("ali") & set(roles):
        return None
    if "i" not in roles:
        for found in (_elements, _leading, _along, _shaped):
            if way := found(op, roles, shape):
                return way
    return Mapped("refused" if op.view and not op.private else "rows", roles)


def _stated(op: Op, roles: str, shape: Shape) -> Mapped:
    way, _, count = str(op.vmap).partition("-")
    if way == "matrices":
        return Mapped("leading", roles, *((("m", "n"),) * len(side) for side in (shape.inputs, shape.results)))
    if way == "beside":
        kept = int(count or 1) - 1
        return Mapped(way, "".join("." if role == "a" and i != kept else role for i, role in enumerate(roles)))
    if way == "grouped":
        roles = "".join("k" if a.name in ("weight", "bias") else role for a, role in zip(op.signature.arguments, roles))
    if count == "whole":
        return Mapped(way, roles, all_axes=True)
    if count:
        return Mapped(way, roles, (tuple("chw"[: int(count)]),), ((),))
    return Mapped(way, roles)


def _role(op: Op, argument: Argument) -> str:
    base, is_list = argument.type.base, argument.type.is_list
    if base in _ARRAYS:
        return "l" if is_list else "i" if base == "Index" and argument.name == "index" else "a"
    if base == "Generator":
        return "g"
    if argument in axis_arguments(op):
        return "X" if is_list else "x"
    return "s" if base == "int" and is_list and argument.name == "shape" else "."


def _elements(op: Op, roles: str, shape: Shape) -> Mapped | None:
    """The rule for operands and results that have one shape, or broadcast to it."""
    names = {name for pattern in shape.inputs for name in pattern.whole}
    fits = all(_is_whole(pattern) and set(pattern.whole) <= names for pattern in (*shape.inputs, *shape.results))
    whole = op.inplace_only or len(shape.inputs) == 1 or all(set(pattern.whole) == names for pattern in shape.results)
    return Mapped("elements", roles) if fits and whole and _leaves_axes_alone(op, roles) else None


def _leaves_axes_alone(op: Op, roles: str) -> bool:
    """Whether no argument names axes or a shape, and each part along an axis is computed independently."""
    return not set("xXsl") & set(roles) and not {"parts", "axes"} & set(op.breaks)


def _is_whole(pattern: Pattern) -> bool:
    return bool(pattern.whole) and not pattern.is_any and not pattern.is_list and pattern.function in ("", "broadcast")


def _leading(op: Op, roles: str, shape: Shape) -> Mapped | None:
    """The rule for operands and results that all have the `...`, followed by axes of their own."""
    patterns = (*shape.inputs, *shape.results)
    if not _leaves_axes_alone(op, roles) or any(pattern.dims[:1] != ("...",) or pattern.is_list for pattern in patterns):
        return None
    inputs, results = ([tuple(map(str, pattern.dims[1:])) for pattern in side] for side in (shape.inputs, shape.results))
    return Mapped("leading", roles, tuple(inputs), tuple(results))


def _along(op: Op, roles: str, shape: Shape) -> Mapped | None:
    """The rule for an array with named axes, or several arrays of one shape."""
    if not set("xX") & set(roles) or "s" in roles or "axes" in op.breaks:
        return None
    named = {name for pattern in shape.inputs for name in pattern.whole}
    if roles.count("a") + roles.count("l") != 1 and (len(named) != 1 or "_" in named):
        return None
    return Mapped("along", roles, all_axes=all(pattern.function == "reduce" for pattern in shape.results))


def _shaped(op: Op, roles: str, shape: Shape) -> Mapped | None:
    """The rule for one array and the shape of the result."""
    if roles.count("s") != 1 or roles.count("a") != 1 or "l" in roles or not roles.startswith("a"):
        return None
    return Mapped("shaped", roles) if shape.results[0].whole == ("shape",) else None


def how(op: Op) -> str:
    """The rule, as in `show` and OPS.md."""
    found = mapped(op)
    return "-" if found is None else found.way


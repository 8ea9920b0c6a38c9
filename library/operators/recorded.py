"""The node of an operator that is defined outside the library: its functions as an `autograd.Function`.

Decides which values each gradient needs, saves them, and passes them to the rules.  Compiled functions call the function on
arrays back at each replay.  The rules consist of operators, and so have derivatives of any order.
"""

from __future__ import annotations

from typing import Any

import gradspec  # noqa: F401 (waits for it)
import gradspec.func  # noqa: F401 (as well)

from ..autograd import Function
from ..core.events import is_listened_to
from ..core.tensor import TensorBase
from ..func.callbacks import OnArrays, called_back
from ..support.dispatch import ops
from ..support.errors import explain
from .rules import dtype_of, ndim_of, shape_of

METADATA = {"shape": shape_of, "ndim": ndim_of, "dtype": dtype_of}
_VARIABLE = ("input", "output", "index")  # kinds of saved values that may be arrays


class Recorded(Function):
    """The part common to all operators; each has its own subclass, which gives the node its name.

    The arguments of `apply` are the operator, the length of each list of arrays among its arguments, an empty list that receives
    the same for the results, and the flattened arguments of the operator.
    """

    pure = True
    FIXED = 3

    @staticmethod
    def forward(ctx: Any, operator: Any, counts: tuple, found: list, *flat: Any) -> Any:
        ctx.set_materialize_grads(False)
        facts, inputs = operator.facts, joined(flat, counts)
        try:
            heard = is_listened_to()  # a compiled function will call it again; otherwise nothing about the call is recorded
            result = called_back(OnArrays(operator.computed, scalars=False), inputs, {}) if heard else operator.direct(inputs)
        except Exception as error:
            raise explain(error, facts.name, **dict(zip(facts.places, inputs))) from None
        results = tuple(result) if len(facts.outputs) > 1 else (result,)
        outputs, sizes = apart(results)
        found.append(sizes)
        counted = zip(facts.outputs, (1 if many is None else many for many in sizes))
        moving = [output in facts.moving for output, many in counted for _ in range(many)]
        ctx.mark_non_differentiable(*[o for o, moves in zip(outputs, moving) if not moves or o.dtype.kind not in "fc"])
        ctx.operator, ctx.counts, ctx.sizes, ctx.like = operator, counts, sizes, [(o.shape, o.dtype) for o in outputs]
        _keep(ctx, facts, inputs, results)
        tensors = [value for value in (*flat, *outputs) if isinstance(value, TensorBase)]
        ctx.plain = [None if isinstance(value, TensorBase) else value for value in flat]
        ctx.kinds = [isinstance(value, TensorBase) for value in flat]
        ctx.save_for_forward(*tensors)
        return outputs

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        facts, needed = ctx.operator.facts, joined(ctx.needs_input_grad[Recorded.FIXED :], ctx.counts)
        wanted = 0
        for bit, name in enumerate(facts.arrays):
            of_it = needed[facts.places[name]]
            wanted |= (any(of_it) if isinstance(of_it, tuple) else of_it) << bit
        saved = _kept(ctx, facts)
        cotangents = [_filled(grad, like) for grad, like in zip(joined(grads, ctx.sizes), joined(ctx.like, ctx.sizes))]
        named = [g for g, output in zip(cotangents, facts.outputs) if output in facts.moving]
        if all(grad is None for grad in named):
            return (None,) * len(ctx.needs_input_grad)
        gradients = dict(zip(facts.arrays, ctx.operator.rule("vjp")(wanted, *saved, *named), strict=True))
        flat: list[Any] = [None] * Recorded.FIXED
        for argument, count in zip(facts.arguments, ctx.counts):
            gradient = gradients.get(argument.name)
            flat += [gradient] if count is None else [None] * count if gradient is None else list(gradient)
        return tuple([g if need else None for g, need in zip(flat, ctx.needs_input_grad)])

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        operator, tensors = ctx.operator, iter(ctx.saved_tensors)
        flat = [next(tensors) if is_tensor else value for value, is_tensor in zip(ctx.plain, ctx.kinds)]
        inputs, results = joined(flat, ctx.counts), joined(tuple(tensors), ctx.sizes)
        moved = joined(tangents[Recorded.FIXED :], ctx.counts)
        found = operator.tangents(inputs, results, moved)
        fitted: list[Any] = []
        for tangent, result in zip(found, results):
            if isinstance(result, tuple):
                fitted += [_fitted(t, r) for t, r in zip(tangent or [None] * len(result), result)]
            else:
                fitted.append(_fitted(tangent, result))
        return tuple(fitted)


def apart(values: Any) -> tuple[tuple, tuple]:
    """Flatten values, and return the length of each list of tensors among them, None for other values."""
    flat: list[Any] = []
    counts: list[int | None] = []
    for value in values:
        several = isinstance(value, (list, tuple)) and any(isinstance(item, TensorBase) for item in value)
        flat += value if several else [value]
        counts.append(len(value) if several else None)
    return tuple(flat), tuple(counts)


def joined(flat: Any, counts: tuple) -> tuple:
    """The inverse of `apart`."""
    items = iter(flat)
    return tuple([next(items) if count is None else tuple([next(items) for _ in range(count)]) for count in counts])


def _keep(ctx: Any, facts: Any, inputs: tuple, results: tuple) -> None:
    """Save the values that the rules of the needed gradients read."""
    needed = joined(ctx.needs_input_grad[Recorded.FIXED :], ctx.counts)
    values = dict(zip(facts.places, inputs)) | dict(zip([name for name, _ in facts.outputs], results))
    kept: list[Any] = []
    for name, kind, readers in facts.saved:
        read = any(any(of_it) if isinstance(of_it := needed[facts.places[r]], tuple) else of_it for r in readers)
        value = values[name] if read else None
        kept.append(value if kind in (*_VARIABLE, "static") or value is None else METADATA[kind](value))
    flat, ctx.kept_counts = apart(kept)
    ctx.kept = [None if isinstance(value, TensorBase) else value for value in flat]
    ctx.kept_kinds = [isinstance(value, TensorBase) for value in flat]
    ctx.save_for_backward(*[value for value in flat if isinstance(value, TensorBase)])


def _kept(ctx: Any, facts: Any) -> tuple:
    tensors = iter(ctx.saved_tensors)
    return joined([next(tensors) if is_tensor else value for value, is_tensor in zip(ctx.kept, ctx.kept_kinds)], ctx.kept_counts)


def _filled(grad: Any, like: Any) -> Any:
    """The cotangent of a list of results with zeros for absent ones; None if all are absent."""
    if type(grad) is not tuple or all(item is None for item in grad):
        return None if type(grad) is tuple else grad
    return tuple([ops.zeros(one[0], dtype=one[1]) if item is None else item for item, one in zip(grad, like)])


def _fitted(tangent: Any, result: Any) -> Any:
    """A tangent with the shape and dtype of its result."""
    if tangent is None or result.dtype.kind not in "fc":
        return None
    if tangent.shape != result.shape:
        tangent = ops.broadcast_to(tangent, result.shape)
    if tangent.dtype != result.dtype:
        real = tangent.dtype.kind == "c" and result.dtype.kind != "c"
        tangent = ops.astype(ops.real(tangent) if real else tangent, result.dtype)
    return tangent

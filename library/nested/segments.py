"""Reductions and softmax of nested tensors: along the ragged axis within each item, along other axes on the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.pieces import segment_reduce
from ..support.dispatch import ops

REDUCTIONS = {"sum": ops.sum, "mean": ops.mean, "prod": ops.prod, "max": ops.max, "min": ops.min}


def axes_of(name: str, nested: Any, axis: Any) -> list[int]:
    """Axes counted from the front."""
    axes = [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    for one in axes:
        if not -nested.ndim <= one < nested.ndim:
            raise IndexError(f"{name}: axis {one} is not one of the {nested.ndim} axes of a nested tensor")
    axes = [int(one) % nested.ndim for one in axes]
    if 0 in axes:
        raise RuntimeError(f"{name}: a nested tensor has no {name} across its items, which have different lengths; write "
                           f"nt.to_padded_tensor(...) first, or axis=None for all elements")  # fmt: skip
    return sorted(set(axes))


def reduced(nested: Any, name: str, axis: Any, keepdims: bool) -> Any:
    """A reduction over everything, along the ragged axis, or along others; several axes are reduced one after the other."""
    operator = REDUCTIONS[name]
    if axis is None:
        whole = operator(nested.values())
        return ops.reshape(whole, (1,) * nested.ndim) if keepdims else whole
    axes = axes_of(name, nested, axis)
    others = tuple(one - 1 for one in axes if one > 1)
    if others:
        nested = nested.map_values(operator, others, keepdims)
    if 1 not in axes:
        return nested
    lengths = np.diff(nested._offsets)
    if name in ("max", "min") and not lengths.all():
        raise ValueError(f"{name}: item {int(np.argmin(lengths))} has no rows, and so no extreme")
    found = segment_reduce(nested.values(), name, lengths=lengths)
    return ops.expand_dims(found, 1) if keepdims else found


def softmax(nested: Any, axis: int) -> Any:
    """exp of log_softmax, or the operator along an axis that all items share."""
    (own,) = axes_of("softmax", nested, axis)
    if own > 1:
        return nested.map_values(ops.softmax, own - 1)
    return log_softmax(nested, axis).map_values(ops.exp)


def log_softmax(nested: Any, axis: int) -> Any:
    """Along the ragged axis, each item minus its maximum, then minus the logarithm of the sum of exponentials."""
    (own,) = axes_of("log_softmax", nested, axis)
    if own > 1:
        return nested.map_values(ops.log_softmax, own - 1)
    values = ops.multiply(nested.values(), 1.0)
    rows, lengths = nested.item_of_rows(), np.diff(nested._offsets)
    highest = segment_reduce(values.detach(), "max", lengths=lengths)
    shifted = values - ops.take(highest, rows, 0)
    totals = segment_reduce(ops.exp(shifted), "sum", lengths=lengths)
    return type(nested)(shifted - ops.log(ops.take(totals, rows, 0)), nested._offsets)

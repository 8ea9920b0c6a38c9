"""Other forms of a call: axes counted from the other end, operands of another rank, and operands without elements.

Generates calls that an op takes besides its samples, so that a rule is not proved for one rank only.  Does not judge the results.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..spec.model import Op
from ..spec.samples import satisfied
from .case import BoundCall

_AXIS = re.compile(r"(\w+_)?ax[ie]s\d?")  # NumPy's names, which the spec uses
_ARRAYS = ("Array", "Index", "Mask")
# The changes to the axes of operands.
_HOW = ("more", "one more", "less", "less at last", "none", "empty at first", "empty at last")
_BESIDE = 1.03125  # a factor for further values, in the same domain and on the same side of every kink


def other_axes(op: Op, call: BoundCall, outputs: list[Any]) -> Iterator[list[BoundCall]]:
    """For each axis argument, the calls that count it from the other end, for the ranks of all inputs and outputs."""
    ranks = sorted({np.ndim(value) for value in [*_arrays(op, call).values(), *outputs] if not isinstance(value, list)})
    for argument in op.signature.arguments:
        value = call.arguments[argument.name]
        if argument.type.base == "int" and _AXIS.fullmatch(argument.name) and _is_axes(value):
            others = dict.fromkeys(_other_end(value, rank) for rank in ranks)
            yield [_with(call, argument.name, other, f"{argument.name}={other}") for other in others]


def other_ranks(op: Op, call: BoundCall) -> Iterator[BoundCall]:
    """The call with one more axis of length 2 in one of several operands, at each position."""
    arrays = _arrays(op, call)
    for name, value in arrays.items() if len(arrays) > 1 else ():
        for place in range(value.ndim + 1):
            wide = np.stack([value, (_BESIDE * value).astype(value.dtype)], place)
            other = _with(call, name, wide, f"{name} of shape {wide.shape}")
            if _in_domain(op, other):
                yield other


def other_shapes(op: Op, call: BoundCall) -> Iterator[BoundCall]:
    """The call with one operand changed, or all: an axis more, an axis less, no axes, or an axis of length 0."""
    arrays = {a.name: call.arguments[a.name] for a in op.signature.arguments if a.type.base in _ARRAYS and not a.type.is_list}
    shapes = {name: dict(_shapes(value)) for name, value in arrays.items() if isinstance(value, np.ndarray)}
    ways = [{name: how} for name, found in shapes.items() for how in found]
    if len(shapes) > 1:
        ways += [dict.fromkeys(shapes, how) for how in _HOW if all(how in found for found in shapes.values())]
    for way in ways:
        other = call
        for name, how in way.items():
            other = _with(other, name, shapes[name][how], f"{name} of shape {shapes[name][how].shape}")
        if _in_domain(op, other):
            yield other


def one_rank(op: Op, call: BoundCall) -> bool:
    """Whether all arrays of a call have the same rank, so that an axis is the same counted from either end."""
    return len({value.ndim for value in _arrays(op, call).values()}) == 1


def _shapes(value: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Each change of `_HOW` that applies to an array, with the changed array."""
    yield "more", np.stack([value, (_BESIDE * value).astype(value.dtype)])
    yield "one more", value[None]
    if value.size and value.ndim:
        yield "less", value[0]
        yield "less at last", value[..., 0]
        yield "none", value.flat[-1].reshape(())
    if value.ndim:
        yield "empty at first", value[:0]
        yield "empty at last", value[..., :0]


def _arrays(op: Op, call: BoundCall) -> dict[str, np.ndarray]:
    given = {a.name: call.arguments[a.name] for a in op.signature.arrays if not a.type.is_list}
    return {name: value for name, value in given.items() if isinstance(value, np.ndarray)}


def _with(call: BoundCall, name: str, value: Any, how: str) -> BoundCall:
    return replace(call, source=f"{call.source} with {how}", arguments={**call.arguments, name: value})


def _is_axes(value: Any) -> bool:
    return isinstance(value, int) or isinstance(value, tuple) and all(isinstance(axis, int) for axis in value)


def _other_end(value: int | tuple[int, ...], rank: int) -> int | tuple[int, ...]:
    if isinstance(value, tuple):
        return tuple(_other_end(axis, rank) for axis in value)
    return value - rank if value >= 0 else value + rank


def _in_domain(op: Op, call: BoundCall) -> bool:
    try:
        return op.domain is None or bool(np.all(satisfied(ast.parse(op.domain.source, mode="eval").body, call.arguments)))
    except ValueError:  # the domain has no meaning for these shapes
        return False

"""Kernels that are wrong, planted in every entry that names axes: how many of them the laws refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from codegen.errors import ErrorList
from codegen.package import Package
from codegen.spec_cache import analysed
from codegen.verify import numeric
from codegen.verify.case import Report, dtypes_of, make_sample
from codegen.verify.check import quiet
from codegen.verify.evaluate import ArrayList, Evaluator
from codegen.verify.laws import check_laws
from codegen.verify.loops import axis_arguments

ROOT = Path(__file__).parents[2]
Straight = Callable[[Mapping[str, Any]], list[Any]]


def named(op: Any, arguments: Mapping[str, Any], change: Callable[[int, int], int]) -> Mapping[str, Any]:
    """The arguments with other axes, in the number of axes of the first array."""
    arrays = [value for value in arguments.values() if isinstance(value, np.ndarray)]
    rank = max((array.ndim for array in arrays), default=1)
    changed = {a.name: arguments[a.name] for a in axis_arguments(op)}
    for name, axes in changed.items():
        if isinstance(axes, tuple):
            changed[name] = tuple(change(axis, rank) for axis in axes)
        elif axes is not None:
            changed[name] = change(axes, rank)
    return {**arguments, **changed}


def mapped(arguments: Mapping[str, Any], change: Callable[[np.ndarray], np.ndarray]) -> Mapping[str, Any]:
    return {name: change(value) if isinstance(value, np.ndarray) and value.ndim else value for name, value in arguments.items()}


def in_memory(x: np.ndarray) -> np.ndarray:
    """The numbers from the first one on, as they lie in memory."""
    low = np.lib.array_utils.byte_bounds(x)[0]
    base = x
    while isinstance(base.base, np.ndarray):
        base = base.base
    flat = base.ravel("K")
    start = (low - np.lib.array_utils.byte_bounds(base)[0]) // x.itemsize
    return flat[start : start + x.size].reshape(x.shape) if len(flat) >= start + x.size else x


def last_axis(op: Any, straight: Straight, arguments: Mapping[str, Any]) -> list[Any]:
    return straight(named(op, arguments, lambda axis, rank: -1))


def first_axis_as_last(op: Any, straight: Straight, arguments: Mapping[str, Any]) -> list[Any]:
    return straight(named(op, arguments, lambda axis, rank: -1 if axis in (0, -rank) else axis))


def nothing_off_the_last(op: Any, straight: Straight, arguments: Mapping[str, Any]) -> list[Any]:
    """The first array as it is where the axis is not the last."""
    x = next(value for value in arguments.values() if isinstance(value, np.ndarray))
    given = [arguments[a.name] for a in axis_arguments(op)]
    axes = [axis for value in given for axis in (value if isinstance(value, tuple) else (value,))]
    right = straight(arguments)
    if {*axes} & {-1, x.ndim - 1, None}:
        return right
    return [np.array(x, y.dtype) if isinstance(y, np.ndarray) and np.shape(y) == x.shape else y for y in right]


def c_order(op: Any, straight: Straight, arguments: Mapping[str, Any]) -> list[Any]:
    return straight(mapped(arguments, lambda x: x if x.flags.c_contiguous else in_memory(x)))


def fortran_as_c(op: Any, straight: Straight, arguments: Mapping[str, Any]) -> list[Any]:
    return straight(mapped(arguments, lambda x: in_memory(x) if x.flags.f_contiguous and not x.flags.c_contiguous else x))


def signless(op: Any, straight: Straight, arguments: Mapping[str, Any]) -> list[Any]:
    return straight(mapped(arguments, lambda x: x[tuple(slice(None, None, -1 if n < 0 else 1) for n in x.strides)]))


def first_rows_only(op: Any, straight: Straight, arguments: Mapping[str, Any]) -> list[Any]:
    """Zeros beyond the third place of the first axis."""
    def cut(y: np.ndarray) -> np.ndarray:
        y = np.array(y)
        if y.ndim > 1:
            y[3:] = 0
        return y
    return [ArrayList(map(cut, y)) if isinstance(y, list) else cut(y) for y in straight(arguments)]


def mixed_rows(op: Any, straight: Straight, arguments: Mapping[str, Any]) -> list[Any]:
    """Each result turned by one along the first axis, where there are several."""
    def turn(y: np.ndarray) -> np.ndarray:
        return np.roll(y, 1, 0) if y.ndim > 1 else y
    return [ArrayList(map(turn, y)) if isinstance(y, list) else turn(y) for y in straight(arguments)]


def other_rank(op: Any, straight: Straight, arguments: Mapping[str, Any]) -> list[Any]:
    """Along the last axis where an array has more than two."""
    many = any(isinstance(value, np.ndarray) and value.ndim > 2 for value in arguments.values())
    return straight(named(op, arguments, lambda axis, rank: -1) if many else arguments)


PLANTED = (last_axis, first_axis_as_last, nothing_off_the_last, c_order, fortran_as_c, signless, first_rows_only, mixed_rows,
           other_rank)  # fmt: skip


class Planted(Evaluator):
    """An evaluator with one wrong kernel."""

    def __init__(self, evaluator: Evaluator, op: Any, wrong: Callable[..., list[Any]]):
        vars(self).update(vars(evaluator))
        self.planted, self.wrong, self.differed = op, wrong, False

    def _forward(self, op: Any, arguments: Mapping[str, Any]) -> list[Any]:
        straight = super()._forward
        if op.name != self.planted.name:
            return straight(op, arguments)
        found = self.wrong(op, lambda given: straight(op, given), arguments)
        self.differed |= not all(map(numeric.same, found, straight(op, arguments)))
        return found


def sweep(spec: Any, evaluator: Evaluator) -> tuple[Counter[str], Counter[str], list[str]]:
    """By kind how many wrong kernels were planted and refused, and those that were not."""
    planted, refused, survivors = Counter(), Counter(), []
    for op in spec.ops.values():
        if not axis_arguments(op) or op.composite or op.signature.generators or evaluator.deferred(op):
            continue
        bare = replace(op, laws=())
        calls = [make_sample(op, index, dtypes_of(op)[0]) for index in range(len(op.samples))]
        for wrong in PLANTED:
            errors = ErrorList("", "")
            place = Planted(evaluator, op, wrong)
            found = False
            try:
                check_laws(bare, place, Report(bare, errors), calls)
                found = bool(errors)
            except Exception:  # a kernel that fails at a sample is refused before any law is tried
                found = place.differed = True
            if place.differed:
                planted[wrong.__name__] += 1
                refused[wrong.__name__] += found
                survivors += [] if found else [f"{op.name}: {wrong.__name__}"]
    return planted, refused, survivors


# What no law refuses, and why.
SURVIVORS = {
    "its entry breaks the law of parts by right": [
        "_concat_backward: mixed_rows", "_diagonal_backward: mixed_rows", "_join: mixed_rows", "_join_backward: mixed_rows",
        "_take_backward: mixed_rows", "expand_dims: mixed_rows", "permute_dims: first_rows_only", "permute_dims: mixed_rows",
        "stack: first_rows_only", "stack: mixed_rows"],
    "its entry breaks the laws of axes and parts by right; an example says what stands where": [
        "_standardize_affine: first_rows_only", "_standardize_affine: mixed_rows", "_windows_backward: first_rows_only",
        "_windows_backward: mixed_rows", "windows: first_axis_as_last", "windows: first_rows_only", "windows: last_axis",
        "windows: mixed_rows", "windows: other_rank"],
    "it is wrong in the same way along both axes that are named": ["roll: last_axis", "swapaxes: last_axis"],
    "its source is broadcast along the axis, and no axis of the call can be moved": [
        "scatter: nothing_off_the_last", "scatter_add: first_axis_as_last", "scatter_add: last_axis",
        "scatter_add: nothing_off_the_last"],
}  # fmt: skip


def test_what_no_law_refuses():
    """Of some 620 kernels that are wrong the laws alone refuse all but 26; examples, shapes and derivatives are not asked."""
    spec = analysed(Package(ROOT))
    with quiet():
        planted, refused, survivors = sweep(spec, Evaluator(spec, ROOT))
    print({kind: f"{refused[kind]} of {planted[kind]}" for kind in planted})
    assert sum(planted.values()) > 500
    assert sorted(survivors) == sorted(name for names in SURVIVORS.values() for name in names)

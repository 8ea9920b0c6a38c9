"""Laws: check properties that hold for an op because of its shape and its axes.

Decides which laws apply to an entry, and checks them at its samples:

    memory  the memory layout of an array (axis order, strides, read-only) changes no value
    axes    moving the named axes to the end of an array moves the axes of the result, and changes no value
    parts   a part along the loop axes gives the same result alone

An entry that breaks a law on purpose states it, with the reason, under `breaks:`.  Does not depend on derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.random

from ..spec.model import LAWS, Op
from ..spec.samples import seed_of
from . import numeric
from .case import BoundCall, Report, dtypes_of, what
from .equations import check_equations
from .evaluate import Evaluator
from .loops import Index, Loops, as_array, axis_arguments, loops_of, taken

MOST = 5  # samples of an entry, with different numbers of axes and different named axes


class Broken(Exception):
    """A law does not hold; the message gives the call."""


def check_laws(op: Op, evaluator: Evaluator, report: Report, calls: Iterable[BoundCall]) -> None:
    """Report the laws that do not hold at the calls of samples, and needless entries of `breaks:`."""
    check_equations(op, evaluator, report)
    laws = Laws(op, evaluator, calls)
    key, drawn = "composite" if op.composite else "forward" if op.forward else "inplace", op.signature.generators
    for name in LAWS:
        try:
            tried = getattr(laws, name)()
        except Broken as broken:
            if name not in op.breaks:
                report(f"breaks the law of {name}: {broken}", key, getattr(op, key))
        else:
            if name in op.breaks and tried:
                report(f"the law of {name} holds at every sample: leave it out", f"breaks: {name}", op.breaks[name].location)
            elif name == "axes" and not tried and axis_arguments(op) and not {"axes", "generator"} & {*op.breaks, *drawn}:
                message = "no sample tells which axes of the arrays the op leaves alone: write `breaks: {axes: the reason}`"
                report(message, "samples")


class Laws:
    """The laws of one op."""

    def __init__(self, op: Op, evaluator: Evaluator, calls: Iterable[BoundCall]):
        self.op, self.evaluator = op, evaluator
        self.random = np.random.default_rng(seed_of(op.name, 0))
        self.cases: list[tuple[BoundCall, list[Any], Loops | None]] = []
        kinds: dict[Any, BoundCall] = {}
        for call in (call for call in calls if call.dtype == dtypes_of(op)[0]):
            kinds.setdefault(kind_of(op, call), call)
        for call in [*kinds.values()][:MOST]:
            outputs = self.outputs(call)
            self.cases.append((call, outputs, loops_of(op, call, outputs)))

    def outputs(self, call: BoundCall) -> list[Any]:
        """The outputs that callers receive."""
        return self.evaluator.forward(self.op, call.arguments)[: len(self.op.signature.visible)]

    def run(self, call: BoundCall, how: str) -> list[Any]:
        """The outputs of a call that a law constructed."""
        try:
            return self.outputs(call)
        except Exception as error:
            raise Broken(f"{how} fails: {what(error)}") from None

    # Memory.

    def memory(self) -> bool:
        """Check the law; return whether it was tried.  A composite is skipped: its callees have their own checks."""
        if self.op.composite:
            return False
        for call, outputs, _ in self.cases[:2]:
            for how in ORDERS:
                values = {name: _ordered(value, ORDERS[how]) for name, value in call.arguments.items()}
                found = self.run(replace(call, arguments=values), f"{call} of {how}")
                if not all(map(numeric.same, found, outputs)):
                    raise Broken(f"{call} gives something else of {how}")
        return any(_has_steps(value) for call, _, _ in self.cases for value in call.arguments.values())

    # Parts.

    def parts(self) -> bool:
        """Check the law; return whether any sample has loop axes, or can have one more."""
        tried, wider = False, set()
        for call, outputs, loops in self.cases:
            if loops is None or not self.has_them(loops, outputs):
                continue
            kind = loops.core if loops.axes else len(loops.sizes)
            if kind not in wider and self.one_more(loops, outputs):
                wider.add(kind)
            for index in self.indices(loops.sizes, first=not tried):
                shown = f"[{', '.join(map(_shown, index))}]"
                found = self.run(loops.part(index), f"{shown} of {call}")
                if not _agree(loops, outputs, found, index):
                    raise Broken(f"{shown} of {call} gives something else by itself than among others")
                tried = True
        return tried or bool(wider)

    def has_them(self, loops: Loops, outputs: list[Any]) -> bool:
        return any(loops.held(i, item) for i, y in enumerate(outputs) for item in _each(y))

    def indices(self, sizes: tuple[int | None, ...], first: bool) -> list[Index]:
        """One part alone, some positions of each axis in some order, and no positions of one axis."""
        if 0 in sizes or not any(sizes):
            return []
        one = [None if n is None else int(self.random.integers(n)) for n in sizes]
        some = [None if n is None else self.random.integers(n, size=n + 1) for n in sizes]
        which = self.random.choice([place for place, n in enumerate(sizes) if n])
        none = [np.arange(0) if place == which else None for place in range(len(sizes))]
        return [one, some, none] if first else [one, some]

    def one_more(self, loops: Loops, outputs: list[Any]) -> bool:
        """Whether a call with one more axis was tried."""
        other = loops.beside()
        try:
            beside = self.outputs(other)
        except Exception:
            return False
        if loops.dropped or not all(map(numeric.is_finite, beside)):
            return False
        both = f"{loops.call} with one more axis"
        call = loops.with_one_more(other)
        found = self.run(call, both)
        wide = loops_of(self.op, call, found)
        held = [bool(loops.held(i, y)) for i, each in enumerate(outputs) for y in _each(each)]
        same = wide is not None and held == [bool(wide.held(i, y)) for i, each in enumerate(found) for y in _each(each)]
        for place, wanted in enumerate((outputs, beside)):
            if not same or not _agree(wide, found, wanted, (place, *[None] * len(loops.sizes))):
                raise Broken(f"{both} gives something else than each of both by itself")
        return True

    # Axes.

    def axes(self) -> bool:
        """Check the law; return whether any sample names axes of arrays."""
        tried = False
        for call, outputs, loops in self.cases:
            if loops is None:
                tried = self.no_axes(call, outputs) or tried
            elif loops.axes:
                moved = loops.moved()
                named = ", ".join(f"{name}={value}" for name, value in loops.axes.items())
                found = self.run(moved, f"{call} with {named} at the end")
                ends = loops_of(self.op, moved, found)
                if not self.has_them(loops, outputs) and not (ends and self.has_them(ends, found)):
                    continue
                pairs = ((i, *pair) for i, each in enumerate(zip(outputs, found)) for pair in _pairs(*each))
                if not all(_same_moved(loops, *pair) for pair in pairs):
                    raise Broken(f"{call} gives something else than along the last axes of what has {named} at the end")
                tried = True
        return tried

    def no_axes(self, call: BoundCall, outputs: list[Any]) -> bool:
        """Check a call without axes, which means all axes or the axis of the flattened array; return whether it was checked."""
        axes, given = axis_arguments(self.op), call.arguments
        counted = [a for a in self.op.signature.arguments if a.type.base == "int" and a.type.is_list]
        if len(axes) != 1 or any(given[a.name] is not None for a in (*axes, *counted)):
            return False
        values = {a.name: as_array(given[a.name]) for a in self.op.signature.arguments if a.type.base in ("Array", "Index")}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray) and value.ndim}
        every, name = axes[0].type.is_list, axes[0].name
        if not arrays or every and "-> _" in self.op.shape:
            return False
        if every:
            how, changed = "all axes by name", {name: tuple(range(-next(iter(arrays.values())).ndim, 0))}
        else:
            how, changed = "axis 0 of all numbers in a row", {name: 0} | {name: value.ravel() for name, value in arrays.items()}
        found = self.run(replace(call, arguments=given | changed), f"{call} with {how}")
        if not all(numeric.same(y.ravel(), one.ravel()) for pair in zip(outputs, found) for y, one in _pairs(*pair)):
            raise Broken(f"{call} gives something else than with {how}")
        return True


def kind_of(op: Op, call: BoundCall) -> tuple[Any, ...]:
    """A key that distinguishes samples of an entry: the named axes, and the ranks of the arrays."""
    axes = [call.arguments[a.name] for a in axis_arguments(op)]
    return (*axes, *(np.ndim(value) for value in call.arguments.values() if isinstance(value, np.ndarray)))


def _agree(loops: Loops, wholes: list[Any], parts: list[Any], index: Index) -> bool:
    """Whether outputs have the given parts along the loop axes, for some possible position of the loop axes."""
    for i, pair in enumerate(zip(wholes, parts)):
        for whole, part in _pairs(*pair):
            places = loops.held(i, whole)
            if places and not any(numeric.same(part, taken(whole, held, index)) for held, _ in places):
                return False
    return True


def _same_moved(loops: Loops, output: int, value: np.ndarray, moved: np.ndarray) -> bool:
    """Whether an output of the moved call equals the output of the call, for some possible position of the axes."""
    places = loops.held(output, value) if value.ndim == moved.ndim else []
    back = (np.moveaxis(moved, to.loops + to.rest, held.loops + held.rest) for held, to in places)
    return any(numeric.same(one, value) for one in back)


def _pairs(one: Any, other: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """The pairs of arrays of two outputs, which may be lists; Broken if their lengths differ."""
    ones, others = _each(one), _each(other)
    if len(ones) != len(others):
        raise Broken(f"{len(others)} arrays stand in the place of {len(ones)}")
    return [*zip(ones, others)]


def _each(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def _shown(at: Any) -> str:
    return ":" if at is None else str(at if isinstance(at, int) else at.tolist())


# Memory.


def _ordered(value: Any, order: Callable[[np.ndarray], np.ndarray]) -> Any:
    if isinstance(value, list):
        return type(value)(_ordered(item, order) for item in value)
    return order(value) if isinstance(value, np.ndarray) and value.ndim else value


def _has_steps(value: Any) -> bool:
    return any(isinstance(item, np.ndarray) and item.ndim for item in _each(value))


def _other_order(x: np.ndarray) -> np.ndarray:
    found = x.T.copy("C").T if x.flags.c_contiguous else x.copy("C")
    found.flags.writeable = False
    return found


def _with_step(step: int) -> Callable[[np.ndarray], np.ndarray]:
    def order(x: np.ndarray) -> np.ndarray:
        between = 99 if x.dtype.kind in "biu" else np.nan
        found = np.full([2 * n for n in x.shape], between).astype(x.dtype)[(slice(None, None, step),) * x.ndim]
        found[...] = x
        return found

    return order


ORDERS = {"a read-only array with its axes in the other order": _other_order, "every other number of an array": _with_step(2),
          "every other number of an array from its end": _with_step(-2)}  # fmt: skip

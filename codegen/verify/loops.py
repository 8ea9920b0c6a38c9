"""Loop axes: find the axes of a call that its op treats independently, so that each part along them is a call of its own.

By the entry's `shape:` these are all axes of an elementwise op, or the `...` of a batch.  By its axis arguments they are all axes
that these arguments do not name.  Also builds calls of parts, calls with one more loop axis, and calls with the named axes at the
end.  Runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..spec.model import Argument, Op
from ..spec.shapes import Pattern, Shape, shape_of, shaped
from .case import BoundCall
from .evaluate import ArrayList

_AXIS = re.compile(r"(\w+_)?ax[ie]s\d?")  # NumPy's names, which the spec uses
_ENDS = ("start_axis", "end_axis")  # of a range of axes
_BESIDE = 1.03125  # a factor for further values, in the same domain and on the same side of every kink
Axes = tuple[int, ...]  # counted from the end
Index = Sequence[Any]  # for each loop axis a position, an array of positions, or None for all


@dataclass(frozen=True)
class Held:
    """The positions of the loop axes in an array, or of the last of them if it has fewer, and its other axes."""

    loops: Axes
    rest: Axes = ()


@dataclass(frozen=True)
class Loops:
    """The loop axes of one call."""

    call: BoundCall
    sizes: tuple[int | None, ...]  # None for an axis with different lengths in the arrays
    inputs: Mapping[str, Any]  # the arguments that have loop axes; for a list, each of its arrays
    results: tuple[Pattern, ...]
    rank: int = 0  # rank of the largest array, if the call names axes
    axes: Mapping[str, Any] | None = None  # the arguments that name axes
    dropped: frozenset[str] = frozenset()  # the optional dims that its arrays lack

    @property
    def core(self) -> Axes:
        """The axes that the call names."""
        return tuple(axis for value in self.axes.values() for axis in _each(value))

    @property
    def frame(self) -> Axes:
        """The loop axes in the largest array."""
        return tuple(axis for axis in range(-self.rank, 0) if axis not in self.core)

    # Calls.

    def part(self, index: Index) -> BoundCall:
        """The call of a part along the loop axes; an axis with one position is removed."""
        changed = self._changed(lambda value, held: taken(value, held, index))
        if self.axes:
            gone = [axis for axis, at in zip(self.frame, index) if isinstance(at, int)]
            changed |= self._named(lambda axis: axis + sum(axis < other for other in gone))
        return self._with(changed)

    def beside(self) -> BoundCall:
        """The call with other values in the arrays that have every loop axis."""
        return self._with(self._changed(lambda value, held: _other(value) if self._has_all(held) else value))

    def with_one_more(self, other: BoundCall) -> BoundCall:
        """The call that stacks both along a new first axis."""

        def both(value: Any, held: Held, second: Any) -> Any:
            if not self._has_all(held):
                return value
            return (2, *value) if isinstance(value, tuple) else np.stack([value, second])

        return self._with(self._changed(both, other) | self._named(lambda axis: axis))

    def moved(self) -> BoundCall:
        """The call with the named axes at the end, in the order of the arguments."""
        core = self.core
        last = tuple(range(-len(core), 0))

        def at_the_end(value: Any, held: Held) -> Any:
            if not held.rest:
                return value
            if isinstance(value, tuple):
                return tuple(value[axis] for axis in (*held.loops, *held.rest))
            return np.moveaxis(value, core, last)

        return self._with(self._changed(at_the_end) | self._named(dict(zip(core, last)).__getitem__))

    # Results.

    def held(self, output: int, value: np.ndarray) -> list[tuple[Held, Held]]:
        """The positions of the loop axes in an output, each with their positions in the output of the moved call.

        There are several answers if neither shape nor rank decides, and none if the output lacks loop axes.
        """
        pattern, rank = self.results[output], value.ndim
        if self.axes is None:
            held = _of_batch(pattern, rank, self.dropped)
            found = [(held, held)] if held else []
        else:
            core = self.core
            last = tuple(range(-len(core), 0))
            found = [*zip(*(_arranged(rank, self.rank, axes, pattern.is_any) for axes in (core, last)))]
        return [pair for pair in found if self._fits(value.shape, pair[0])]

    def _fits(self, shape: tuple[int, ...], held: Held) -> bool:
        pairs = zip(self.sizes, held.loops)
        return len(held.loops) == len(self.sizes) and all(n is None or shape[place] == n for n, place in pairs)

    def _has_all(self, held: Held) -> bool:
        return len(held.loops) == len(self.sizes)

    def _with(self, changed: Mapping[str, Any]) -> BoundCall:
        return replace(self.call, arguments={**self.call.arguments, **changed})

    def _named(self, change: Callable[[int], int]) -> dict[str, Any]:
        named = (self.axes or {}).items()
        return {name: tuple(map(change, value)) if isinstance(value, tuple) else change(value) for name, value in named}

    def _changed(self, change: Callable[..., Any], *others: BoundCall) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, held in self.inputs.items():
            values = [call.arguments[name] for call in (self.call, *others)]
            if isinstance(held, list):
                found[name] = ArrayList(change(one, each, *rest) for each, one, *rest in zip(held, *values))
            else:
                found[name] = change(values[0], held, *values[1:])
        return found


def taken(value: Any, held: Held, index: Index) -> Any:
    """The part of an array, or of a shape, at positions of the loop axes; an axis of length 1 is broadcast."""
    found = list(value) if isinstance(value, tuple) else value
    for place, at in zip(held.loops, index[len(index) - len(held.loops) :]):
        if at is None:
            continue
        if isinstance(found, list):
            found[place : place + 1 or None] = [] if isinstance(at, int) else [len(at)]
        elif found.shape[place] != 1:
            found = np.asarray(np.take(found, at, axis=place))
        elif isinstance(at, int):
            found = np.asarray(np.take(found, 0, axis=place))
    return tuple(found) if isinstance(value, tuple) else found


def axis_arguments(op: Op) -> list[Argument]:
    """The arguments that name axes; a single int called `axes` is a number of axes instead."""
    return [a for a in op.signature.arguments if a.type.base == "int" and _AXIS.fullmatch(a.name)
            and a.name not in _ENDS and (a.type.is_list or not a.name.endswith("axes"))]  # fmt: skip


def loops_of(op: Op, call: BoundCall, outputs: Sequence[Any] = ()) -> Loops | None:
    """The loop axes of a call, None if they are unknown; its outputs tell whether its indices have them."""
    if op.shape is None or op.signature.generators:
        return None
    shape = shape_of(op)
    patterns = {a.name: pattern for a, pattern in zip(shaped(op.signature), shape.inputs)}
    call = replace(call, arguments=call.arguments | {name: as_array(call.arguments[name]) for name in patterns})
    arrays = {name: value for name in patterns if _is_arrays(value := call.arguments[name])}
    if axis_arguments(op):
        return _along(op, call, shape, patterns, arrays, outputs)
    return _batches(call, shape, patterns, arrays)


def as_array(value: Any) -> Any:
    """A list of numbers as an array; tuples are shapes, and parts of an index."""
    if isinstance(value, list) and not _is_arrays(value):
        try:
            found = np.asarray(value)
        except ValueError:
            return value
        return found if found.dtype.kind in "biufc" else value
    return value


def _is_arrays(value: Any) -> bool:
    return isinstance(value, np.ndarray) or isinstance(value, list) and all(isinstance(item, np.ndarray) for item in value)


def _batches(call: BoundCall, shape: Shape, patterns: Mapping[str, Pattern], arrays: Mapping[str, Any]) -> Loops | None:
    """The loop axes by shape: all axes of an elementwise op, else the `...` of the shapes."""
    every = [pattern for pattern in (*patterns.values(), *shape.results) if not pattern.is_any]
    whole = {name for pattern in patterns.values() for name in pattern.whole} - {"_"}
    if any(set(pattern.whole) - whole or pattern.function == "reduce" for pattern in shape.results):
        return None
    if whole and not all(pattern.whole for pattern in every):
        return None
    dropped: set[str] = set()
    inputs: dict[str, Any] = {}
    for name, value in arrays.items():
        pattern = patterns[name]
        if pattern.is_any and any(map(np.ndim, _each(value))):
            return None
        optional = {dim for dim in pattern.dims if isinstance(dim, str) and dim.endswith("?")}
        if any(item.ndim < len(pattern.dims) - (pattern.dims[:1] == ("...",)) for item in _each(value)):
            dropped |= optional
        held = [_of_batch(pattern, item.ndim, dropped) for item in _each(value)]
        if held and all(held):
            inputs[name] = held if isinstance(value, list) else held[0]
    return _looped(call, inputs, shape, dropped=frozenset(dropped)) if inputs else None


def _of_batch(pattern: Pattern, rank: int, dropped: Collection[str]) -> Held | None:
    if pattern.dims[:1] == ("...",):
        core = sum(dim not in dropped for dim in pattern.dims[1:])
        return Held(tuple(range(-rank, -core)), tuple(range(-core, 0)))
    return None if pattern.dims or pattern.is_any or not pattern.whole else Held(tuple(range(-rank, 0)))


def _along(op: Op, call: BoundCall, shape: Shape, patterns: Mapping[str, Pattern], arrays: Mapping[str, Any],
           outputs: Sequence[Any]) -> Loops | None:  # fmt: skip
    """The loop axes by axis arguments: all axes that these do not name, in the arrays and in a `shape` argument."""
    types = {name: op.signature.argument(name).type for name in arrays}
    axes = {a.name: call.arguments[a.name] for a in axis_arguments(op)}
    shapes = {a.name: call.arguments[a.name] for a in op.signature.arguments
              if a.name == "shape" and a.type.base == "int" and isinstance(call.arguments[a.name], tuple)}  # fmt: skip
    said = [name for name in arrays if not patterns[name].is_any]
    named = [name for name in said if types[name].is_array] or said or [name for name in arrays if types[name].is_array][:1]
    ranks = [len(value) for value in shapes.values()] or [item.ndim for name in named for item in _each(arrays[name])]
    rank = max(ranks, default=0)
    counted = [axis for value in axes.values() for axis in _each(value)]
    if None in counted or any(not -rank <= axis < rank for axis in counted):
        return None
    if min(ranks) < rank and max(counted, default=-1) >= 0:  # the axis differs between the arrays
        return None
    axes = {name: _from_the_end(value, rank) for name, value in axes.items()}
    core = tuple(axis for value in axes.values() for axis in _each(value))
    frame = tuple(axis for axis in range(-rank, 0) if axis not in core)
    if len(set(core)) < len(core):
        return None
    along, inputs = Held(frame, core), {name: Held(frame, core) for name in shapes}
    wholes = [*shapes.values(), *(item.shape for name in named for item in _each(arrays[name]) if item.ndim == rank)]
    lengths = tuple(wholes[0][axis] for axis in frame)
    for name, value in arrays.items():
        stated, is_array = name in said, types[name].is_array
        if not stated and not is_array and {item.ndim for y in outputs for item in _each(y)} - {rank}:
            continue
        held = [along if item.ndim == rank else _smaller(item.shape, along, lengths, stated, is_array, bool(shapes))
                for item in _each(value)]  # fmt: skip
        if held and all(held):
            inputs[name] = held if isinstance(value, list) else held[0]
        elif is_array and any(item.ndim for item in _each(value)) and (stated or shapes):
            return None
    exact = [name for name in inputs if name in types and not types[name].is_array]
    return _looped(call, inputs, shape, exact, rank=rank, axes=axes)


def _smaller(shape: tuple[int, ...], along: Held, lengths: tuple[int, ...], said: bool, is_array: bool,
             adjoint: bool) -> Held | None:  # fmt: skip
    """The loop axes of a smaller array: it is broadcast if its shape is declared; else it has the loop axes alone, or none."""
    if said and is_array and not adjoint:
        fits = all(axis >= -len(shape) for axis in along.rest)
        return Held(tuple(axis for axis in along.loops if axis >= -len(shape)), along.rest) if fits else None
    return Held(tuple(range(-len(shape), 0))) if shape == lengths and (said or is_array) else None


def _arranged(rank: int, whole: int, core: Axes, unsaid: bool) -> list[Held]:
    """The possible positions of the loop axes in a result of some rank, for a call along `core`."""
    frame = tuple(axis for axis in range(-whole, 0) if axis not in core)
    count, every = len(frame), tuple(range(-rank, 0))
    kept = Held(frame, (*range(-rank, -whole), *core))
    if rank == whole and not unsaid:
        return [kept]
    found = [kept] if rank >= whole else []
    if rank >= count:
        left = sum(axis < core[0] for axis in frame) if core else 0
        split = rank - count + left
        found.append(Held(every[rank - count :], every[: rank - count]))  # the named axes are removed
        if unsaid:  # or new axes are at the end, or at the position of the first named axis
            found.append(Held(every[:count], every[count:]))
            found.append(Held(every[:left] + every[split:], every[left:split]))
    return found


def _looped(call: BoundCall, inputs: Mapping[str, Any], shape: Shape, exact: Collection[str] = (), **others: Any) -> Loops:
    """The loop axes with their lengths; indices of another length are not broadcast."""
    count = max((len(held.loops) for each in inputs.values() for held in _each(each)), default=0)
    lengths: list[set[int]] = [set() for _ in range(count)]
    indices: list[set[int]] = [set() for _ in range(count)]
    for name, each in inputs.items():
        value = call.arguments[name]
        for item, held in zip(value if isinstance(each, list) else [value], _each(each)):
            dims = item if isinstance(item, tuple) else item.shape
            for place, found in zip(reversed(held.loops), reversed(indices if name in exact else lengths)):
                found.add(dims[place])
    sizes = [None if len(found - {1}) > 1 else max(found - {1}, default=1) for found in lengths]
    sizes = [n if found <= {n} else None for n, found in zip(sizes, indices)]
    return Loops(call, tuple(sizes), inputs, shape.results, **others)


def _each(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _from_the_end(value: Any, rank: int) -> Any:
    return tuple(axis % rank - rank for axis in value) if isinstance(value, tuple) else value % rank - rank


def _other(value: Any) -> Any:
    if isinstance(value, tuple) or value.dtype.kind not in "fc":
        return value
    return (_BESIDE * value).astype(value.dtype)

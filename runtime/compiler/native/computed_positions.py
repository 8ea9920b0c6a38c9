"""Elements that computed integers choose: of tables, rows and gradients of both.

NumPy raises for a position outside of an array; here the element is NaN, and nothing is written there.  A function for this machine
also notes it, and the caller raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import reductions  # noqa: F401 - which registers np.add.at
from .arrays import FUNCTIONS, LONG, METHODS, Array, compute, fresh, known, lift
from .loops import Unwritten, access, nested
from .spelling import TYPES

ADVANCED = int, np.integer, np.ndarray


def is_computed(item: Any) -> bool:
    return type(item) is Array and item.buffer.place != "constant"


class Chosen:
    """The elements of an array at computed positions.

    Parameters
    ----------
    x : Array
    first : ndarray of int
        For each element its position in the buffer, without what the computed positions add.
    steps : list of (Array, int, int)
        Of the shape of `first`: positions along an axis, its length, and its stride.
    """

    def __init__(self, x: Array, first: np.ndarray, steps: list[tuple[Array, int, int]]) -> None:
        self.x, self.first, self.steps = x, first, steps
        if x.dtype.kind != "f":
            raise Unwritten(
                f"numbers that are computed choose elements of {x.dtype}, which has no NaN for those that are missing"
            )

    def lines(self, other: Array, text: str) -> None:
        """A loop over the elements, `{0}` in the text, and over another array, `{1}`."""
        code, shape = self.x.code, self.first.shape
        here = access(self.x.buffer, self.first)
        if here is None:
            raise Unwritten("elements without strides are chosen by numbers that are computed")
        indices, there = [one.access(shape) for one, _, _ in self.steps], other.access(shape)
        inside = " && ".join(f"{-size} <= p{k} && p{k} < {size}" for k, (_, size, _) in enumerate(self.steps))
        moves = "".join(
            f" + {stride} * (long) (p{k} < 0 ? p{k} + {size} : p{k})" for k, (_, size, stride) in enumerate(self.steps)
        )
        word = self.x.buffer.name

        def body(at: dict) -> list[str]:
            found = [f"const {TYPES[one.dtype]} p{k} = {at[i]};" for k, ((one, _, _), i) in enumerate(zip(self.steps, indices))]
            element, outside = f"{word}[{at[here][len(word) + 1 : -1]}{moves}]", f"{at[there]} = NAN;" if text == LOAD else ""
            return [*found, f"if ({inside}) {text.format(element, at[there])};", f"else {{ {code.failed()}1; {outside} }}"]

        lines = nested(tuple(size for size in shape if size > 1), [*indices, here, there], body)
        read, written = (self.x.buffer, other.buffer) if text == LOAD else (other.buffer, self.x.buffer)
        failure = [] if code.failure is None else [code.failure]
        reads = [read, *(i.buffer for i in indices), *([written] if text != LOAD else []), *failure]
        code.block(["{", *(f"    {line}" for line in lines), "}"], reads, [written, *failure])

    def load(self) -> Array:
        y = fresh(self.x.code, self.first.shape, self.x.dtype)
        if y.size:
            self.lines(y, LOAD)
        return y

    def store(self, value: Any, text: str) -> None:
        if self.first.size:
            shape, code = self.first.shape, self.x.code
            self.lines(compute(code, "{0}", self.x.dtype, [value], fresh(code, shape, self.x.dtype)), text)


LOAD, STORE, ADD = "{1} = {0}", "{0} = {1}", "{0} += {1}"


def chosen_by(x: Array, key: Any) -> Chosen | None:
    """The elements of `x[key]` if a part of the key is an array of computed integers; None for another key."""
    key = key if isinstance(key, tuple) else (key,)
    if not any(map(is_computed, key)):
        return None
    at = next((k for k, one in enumerate(key) if one is Ellipsis), None)  # `in` would compare arrays
    if at is not None:
        count = sum(one is not None for one in key) - 1
        key = (*key[:at], *[slice(None)] * (x.ndim - count), *key[at + 1 :])
    key = tuple(known(one) if type(one) is Array and not is_computed(one) else one for one in key)
    places = [k for k, one in enumerate(key) if type(one) is Array or isinstance(one, ADVANCED)]
    if places != list(range(places[0], places[-1] + 1)) or any(one.dtype.kind != "i" for one in key if type(one) is Array):
        raise Unwritten("elements are chosen by numbers that are computed")
    if access(x.buffer, x.index) is None:
        raise Unwritten("elements without strides are chosen by numbers that are computed")
    plain = tuple(0 if k in places else one for k, one in enumerate(key))
    axes = {k: sum(one is not None for one in key[:k]) for k in places}
    if not all(x.shape[axis] for axis in axes.values()):
        raise Unwritten("elements of an empty array are chosen by numbers that are computed")
    first = x.index[plain]
    before = sum(one is None or isinstance(one, slice) for one in key[: places[0]])
    shape = np.broadcast_shapes(*(np.shape(key[k]) for k in places))
    whole = (*first.shape[:before], *shape, *first.shape[before:])
    steps = []
    for k in places:
        size = x.shape[axes[k]]
        along = np.moveaxis(x.index, axes[k], 0).reshape(size, -1)[:, 0]
        one = lift(x.code, key[k], None if type(key[k]) is Array else LONG)
        padded = one.reshape(one.shape + (1,) * (len(whole) - before - len(shape)))
        steps.append((padded.moved(np.broadcast_to, whole), size, int(along[1] - along[0]) if size > 1 else 0))
    first = first.reshape(first.shape[:before] + (1,) * len(shape) + first.shape[before:])
    return Chosen(x, np.broadcast_to(first, whole), steps)


def taken(x: Any, indices: Any, axis: int | None = None, **others: Any) -> Array:
    """np.take."""
    if not is_computed(indices):
        return x.moved(np.take, known(indices), axis)
    x = lift(indices.code, x)
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis % x.ndim)
    return x[(slice(None),) * axis + (indices,)]


def along_axis(x: Any, indices: Any, axis: int | None = -1) -> Array:
    """np.take_along_axis."""
    if not is_computed(indices):
        return x.moved(np.take_along_axis, known(indices), axis)
    x = lift(indices.code, x)
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis % x.ndim)
    shape = np.broadcast_shapes(*(one.shape[:axis] + (1,) + one.shape[axis + 1 :] for one in (x, indices)))
    opened = [np.arange(size).reshape([-1 if k == j else 1 for j in range(x.ndim)]) for k, size in enumerate(shape)]
    opened = [one if x.shape[k] > 1 else one * 0 for k, one in enumerate(opened)]
    return x[tuple(indices if k == axis else one for k, one in enumerate(opened))]


def place_in(x: Any, numbers: Any, side: str = "left", sorter: Any = None) -> Array:
    """np.searchsorted in an ascending constant: how many elements are before a number; all are before NaN."""
    table = known(x) if not is_computed(x) and sorter is None else None
    if table is None or not (table[1:] >= table[:-1]).all():  # NumPy's answer is open there
        raise Unwritten("numpy.searchsorted has C for ascending constants only")
    each = numbers.reshape((*numbers.shape, 1))
    before = np.less_equal(table, each) if side == "right" else np.less(table, each)
    return FUNCTIONS["count_nonzero"](np.logical_or(before, np.not_equal(each, each)), -1)


def of_constants(name: str) -> Any:
    """A function of NumPy that is called where all arrays are constants."""

    def function(x: Array, *args: Any, **keywords: Any) -> Array:
        if is_computed(x):
            raise Unwritten(f"numpy.{name} has C for constants only")
        return lift(x.code, getattr(np, name)(known(x), *args, **keywords))

    return function


def add_at(name: str, x: Array, key: Any, value: Any) -> None:
    """np.add.at."""
    found = chosen_by(x, key) if name == "add" else None
    if found is None:
        return PLAIN(name, x, key, value)
    found.store(value, ADD)


def getitem(x: Array, key: Any) -> Array | None:
    found = chosen_by(x, key)
    return found and found.load()


def setitem(x: Array, key: Any, value: Any) -> bool:
    found = chosen_by(x, key)
    if found is not None:
        found.store(value, STORE)
    return found is not None


PLAIN, METHODS["at"] = METHODS["at"], add_at
FUNCTIONS.update({
    "take": taken, "take_along_axis": along_axis, "searchsorted": place_in, "sort": of_constants("sort"),
    "argsort": of_constants("argsort"), "getitem": getitem, "setitem": setitem,
})  # fmt: skip

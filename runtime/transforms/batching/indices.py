"""Batching of indices: `x[i]`, `x[i] = y`, and operators that take, put and pad along axes.

Computes the position of the batch axis in an index, and the axes of the result.  An index that is a batch selects different
elements for each row; the number of the row becomes an additional leading index.
"""

from typing import Any

import numpy as np

from ...generated.tensor import Tensor
from ...support.dispatch import ops
from .batched import Batched, Level, innermost, inside_of, is_row, spread, together
from .rules import WAYS, Record, Unfit, along


class _Index:
    """An analysed index of a row.

    Attributes
    ----------
    parts : list
        One item for each axis that it names, the ellipsis expanded; integers are arrays if a different part is one.
    own : bool
        Whether some part is a batch.
    first, count : int
        Position of the arrays' axes in the result, if they are adjacent; number of the arrays' axes, 0 without arrays.
    apart : bool
        Whether a slice separates the arrays, so that their axes come first.
    """

    def __init__(self, index: Any, x: Any, level: Level) -> None:
        given = list(index) if isinstance(index, tuple) else [index]
        parts = [_array(part) if isinstance(part, list) and innermost(part) is None else part for part in given]
        if any(isinstance(part, (list, tuple)) for part in parts):
            raise Unfit
        for part in parts:
            if is_row(part, level) and part.dtype.kind == "b":
                raise RuntimeError("vmap: a mask of booleans picks another number of elements in each row of a batch, so the "
                                   "shape of the result is not known; write where(mask, x, y), or "
                                   "sums over where(mask, x, 0)")
        parts = [found for part in parts for found in _numbers(part)]
        used = sum(part is not None and part is not Ellipsis for part in parts)
        dots = [i for i, part in enumerate(parts) if part is Ellipsis]
        if len(dots) > 1 or used > x.ndim:
            raise Unfit  # the operator itself raises the error
        if dots:
            parts[dots[0] : dots[0] + 1] = [slice(None)] * (x.ndim - used)
        self.parts = parts
        self.own = any(is_row(part, level) for part in parts)
        arrays = [i for i, part in enumerate(parts) if isinstance(part, (Tensor, np.ndarray))]
        places = [i for i, part in enumerate(parts) if i in arrays or _is_integer(part)] if arrays else []
        self.count = max((parts[i].ndim for i in arrays), default=0)
        self.apart = bool(places) and places[-1] - places[0] >= len(places)
        self.first = 0 if self.apart or not places else sum(not _is_integer(part) for part in parts[: places[0]])
        self.level = level

    def on(self, with_rows: bool) -> tuple:
        """The index of whole batches; with `with_rows`, of an array that is itself a batch."""
        if not self.own:
            return (slice(None), *self.parts)
        found = []
        for part in self.parts:
            if is_row(part, self.level):
                part = ops.reshape(part.inside, (self.level.size, *(1,) * (self.count - part.ndim), *part.shape))
            found.append(part)
        return (np.arange(self.level.size).reshape(-1, *(1,) * self.count), *found) if with_rows else tuple(found)

    def batch_at(self, with_rows: bool) -> int:
        """The position of the batch axis in the result of the index of whole batches."""
        if not self.own:
            return self.count if self.apart else 0
        return 0 if with_rows or self.apart else self.first

    def leads(self, with_rows: bool) -> bool:
        """Whether the axes of the arrays come before other axes that precede them in a row."""
        return self.own and with_rows and not self.apart and self.first > 0


def _array(part: list) -> np.ndarray:
    array = np.asarray(part)
    return array if array.size else array.astype(np.intp)


def _is_integer(part: Any) -> bool:
    return isinstance(part, (int, np.integer)) and not isinstance(part, bool)


def _numbers(part: Any) -> tuple:
    """A mask as the positions of its true elements."""
    if isinstance(part, (Tensor, np.ndarray)) and part.dtype.kind == "b":
        return tuple(np.nonzero(part.numpy() if isinstance(part, Tensor) else part))
    if isinstance(part, (bool, np.bool_)):
        raise Unfit
    return (part,)


def index(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """`x[index]`, and `x` with different values there."""
    x, found = args[0], None
    parts = _Index(args[1], x, level)
    with_rows = is_row(x, level)
    if len(args) == 2:
        found = call(inside_of(x, level), parts.on(with_rows))
        at = parts.batch_at(with_rows)
        if at:
            found = ops.moveaxis(found, at, 0)
        if parts.leads(with_rows):
            found = ops.moveaxis(found, range(1, 1 + parts.count), range(1 + parts.first, 1 + parts.first + parts.count))
        return together(found, level)
    if any(is_row(number, level) for number in args[3:]):
        raise Unfit  # a different number for each row
    if not with_rows:
        x, with_rows = spread(x, level), True
    return together(call(x.inside, parts.on(True), _put(parts, x, args[2], level), *args[3:]), level)


def _put(parts: _Index, x: Batched, value: Any, level: Level) -> Any:
    """The values to write into a batch, with their axes in its order."""
    if innermost((value,)) is not level and not parts.leads(True) and not parts.batch_at(True):
        return value
    plain = [np.zeros(part.shape, np.intp) if isinstance(part, (Tensor, np.ndarray)) else part for part in parts.parts]
    rank = np.broadcast_to(np.empty((), bool), x.shape)[tuple(plain)].ndim
    value = spread(value, level)
    if value.ndim > rank:
        raise Unfit
    inside = ops.getitem(value.inside, (slice(None), *[None] * (rank - value.ndim)))
    if parts.leads(True):
        inside = ops.moveaxis(inside, range(1 + parts.first, 1 + parts.first + parts.count), range(1, 1 + parts.count))
    at = parts.batch_at(True)
    return ops.moveaxis(inside, 0, at) if at else inside


def taken(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Take elements along an axis, at the positions in one array."""
    x, indices, axis = args[0], args[1], args[op.roles.index("x")]
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    if not -x.ndim <= axis < x.ndim:
        raise Unfit
    if not is_row(indices, level):
        return together(call(x.inside, indices, axis % x.ndim - x.ndim), level)
    return ops.getitem(x, (*[slice(None)] * (axis % x.ndim), indices))


def scattered(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """`along`, for arrays that all have as many axes as the first; indices along one axis are the same for all rows."""
    rank = args[0].ndim
    for role, arg in zip(op.roles, args):
        if role == "a" and getattr(arg, "ndim", 0) != rank:
            raise Unfit
    return along(level, op, call, args)


def beside(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Take one array as a batch; all other arguments are the same for all rows, and axes are counted from the end."""
    if innermost([arg for role, arg in zip(op.roles, args) if role != "a"]) is level:
        raise Unfit
    return along(level, op, call, args)


def padded(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Pad with nothing before and after the batch."""
    x, *others = args
    if innermost(others) is level:
        raise Unfit
    place = 1 if op.roles[1] == "s" else 0  # for an adjoint, which takes the shape
    others[place] = ((0, 0), *[(int(a), int(b)) for a, b in np.broadcast_to(np.asarray(others[place]), (x.ndim, 2))])
    if place:
        others[0] = (level.size, *others[0])
    return together(call(x.inside, *others), level)


def summed(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Einstein summation: the batch gets its own letter, in front."""
    place = op.roles.index(".")
    terms, arrow, result = args[place].partition("->")
    letter = next(c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in args[place])
    arrays = [arg for role, arg in zip(op.roles, args) if role == "a"]
    mine = [is_row(arg, level) for arg in arrays]
    terms = ",".join(letter * own + term for own, term in zip(mine, terms.split(",")))
    found: list = [inside_of(arg, level) for arg in args]
    found[place] = f"{terms}{arrow}{letter}{result}"
    if "s" in op.roles:
        found[op.roles.index("s")] = (level.size, *args[op.roles.index("s")])
    return together(call(*found), level)


WAYS |= {way.__name__: way for way in (beside, index, padded, scattered, summed, taken)}

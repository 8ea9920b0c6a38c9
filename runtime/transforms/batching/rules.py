"""Batching rules: compute operators on whole batches.

Each function here is one way, named in the operator's entry.  It gets the level, the operator's record, the operator and its
arguments, and at least one argument is a batch.  It converts the arguments and calls the operator on whole batches, with the
rows along the first axis.  A way that does not fit a call raises Unfit, and the rows are computed one by one.
"""

from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...generated.tensor import Tensor
from ...support.dispatch import ops
from .batched import Batched, Level, as_batch, each, innermost, inside_of, is_row, spread, together


class Unfit(Exception):
    """The way does not fit this call."""


class Record:
    """The batching data of an operator: its way, the roles of its arguments, the axes that its shape names."""

    __slots__ = ("all_axes", "formula", "inputs", "name", "results", "roles", "way")

    def __init__(self, name: str, way: str, roles: str, *others: Any) -> None:
        self.name, self.way, self.roles, self.inputs, self.results, self.all_axes = name, way, roles, (), (), False
        self.formula = others[0] if others and callable(others[0]) else None
        if self.formula is not None:
            return
        if others and others[0] is not True:
            self.inputs, self.results, *others = others
        self.all_axes = bool(others and others[0])


def parts(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Run the operator's parts on rows; numbers beside the arrays are the same for all rows."""
    if any([role == "." and type(arg) is Batched for role, arg in zip(op.roles, args)]):
        raise Unfit
    if op.formula is None:
        return each(call.parts(*args), lambda tensor: as_batch(tensor, level, args))
    made = op.formula(*[asarray(arg) if role == "a" and arg is not None else arg for role, arg in zip(op.roles, args)])
    return each(made, lambda tensor: as_batch(tensor, level, args))


def elements(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Align operands at their last axes, after the batch axis."""
    rank = max([_rank(arg) for role, arg in zip(op.roles, args) if role in "al"])
    return together(call(*_aligned(level, op, args, rank)), level)


def _aligned(level: Level, op: Record, args: tuple, rank: int) -> list:
    found: list = []
    for role, arg in zip(op.roles, args):
        if is_row(arg, level):
            if role != "a":
                raise Unfit
            missing = rank - arg.ndim
            arg = _with_axes(arg.inside, missing) if missing > 0 else arg.inside
        elif role == "l":  # the operator returns one result for each item: all of them become batches
            arg = [_with_axes(spread(item, level).inside, rank - _rank(item)) for item in arg]
        found.append(arg)
    return found


def _with_axes(inside: Any, count: int) -> Any:
    """A batch with additional axes of length 1 before the axes of a row."""
    return ops.getitem(inside, (slice(None), *[None] * count)) if count else inside


def leading(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Treat the batch as an additional leading loop axis of the operator."""
    cores: list[tuple[str, ...]] = []
    kinds = iter(op.inputs)
    arrays = [(arg, next(kinds)) for role, arg in zip(op.roles, args) if role == "a"]
    dropped: set[str] = set()  # axes that a batch lacks; they are inserted with length 1
    absent: set[str] = set()
    for arg, core in arrays:
        missing = arg is not None and _rank(arg) < len(core)
        if missing:
            gone = {dim for dim in core if dim.endswith("?")}
            if _rank(arg) < len(core) - len(gone):
                raise Unfit
            if is_row(arg, level):
                dropped |= gone
            else:
                absent |= gone
            cores.append(tuple(dim for dim in core if dim not in gone))
        else:
            cores.append(core)
    loops = max(_rank(arg) - len(core) for (arg, _), core in zip(arrays, cores) if arg is not None)
    if dropped and loops == 0 and _is_in_place(level, op, args, dropped):
        return together(call(*[inside_of(arg, level) for arg in args]), level)
    found, place = [], 0
    for role, arg in zip(op.roles, args):
        if role == "a":
            whole, core = arrays[place][1], cores[place]
            place += 1
            if is_row(arg, level):
                own = _rank(arg) - len(core)
                arg = _with_axes(arg.inside, loops - own)
                if len(core) < len(whole):  # an optional axis has length 1
                    index = [slice(None)] * (arg.ndim - len(core)) + [None if dim in dropped else slice(None) for dim in whole]
                    arg = ops.getitem(arg, tuple(index))
        elif type(arg) is Batched:
            raise Unfit
        found.append(arg)
    result = call(*found)
    if dropped:
        results = result if type(result) is tuple else (result,)
        there = [[dim for dim in dims if dim not in absent] for dims in op.results]
        results = tuple([_without(value, dims, dropped) for value, dims in zip(results, there)])
        result = results if type(result) is tuple else results[0]
    return together(result, level)


def _is_in_place(level: Level, op: Record, args: tuple, dropped: set[str]) -> bool:
    """Whether the batch axis of one operand may serve as its missing axis, the first one of all results: x @ w for rows x."""
    gone = tuple(dropped)
    mapped = [is_row(arg, level) for arg in args]
    return (len(gone) == 1 and sum(mapped) == 1 and all(dims[:1] == gone for dims in op.results)
            and all((dims[:1] == gone) is is_mapped for is_mapped, dims in zip(mapped, op.inputs, strict=True)))  # fmt: skip


def _without(value: Any, dims: list[str], dropped: set[str]) -> Any:
    gone = tuple(i - len(dims) for i, dim in enumerate(dims) if dim in dropped)
    return ops.squeeze(value, gone) if gone else value


def along(level: Level, op: Record, call: Any, args: tuple, extra: int = 0) -> Any:
    """Count axes from the end; if there are several arrays each becomes a batch, and a shape argument gets the batch axis."""
    shape = next((arg for role, arg in zip(op.roles, args) if role == "s"), None)
    ranks = [_rank(arg) for role, arg in zip(op.roles, args) if role == "a"]
    ranks += [_rank(item) for role, arg in zip(op.roles, args) if role == "l" for item in arg]
    rank = max(ranks) + extra if shape is None else len(shape)
    several = sum(role in "al" for role in op.roles) > 1
    if several and min(ranks) == 0 < max(ranks):  # one of them counts as having an axis, which its batch would take the place of
        raise Unfit
    found = []
    for role, arg in zip(op.roles, args):
        if role == "a":
            arg = inside_of(arg, level) if arg is None or not several else spread(arg, level).inside
        elif role == "l":
            arg = [spread(item, level).inside for item in arg]
        elif role in "xX":
            if arg is None and min(ranks) < max(ranks):  # each of them is flattened separately
                raise Unfit
            arg = _from_the_end(arg, rank, op, role)
        elif role == "s":
            arg = (level.size, *arg)
        elif type(arg) is Batched:
            raise Unfit
        found.append(arg)
    return together(call(*found), level)


def _from_the_end(axis: Any, rank: int, op: Record, role: str) -> Any:
    if axis is None:
        if op.all_axes and role == "X":
            return tuple(range(-rank, 0))
        if rank == 1:
            return (-1,) if role == "X" else -1
        raise Unfit
    several = isinstance(axis, (tuple, list, range))
    places = [int(a) for a in (axis if several else (axis,))]
    if any(not -rank <= a < rank for a in places):
        raise Unfit  # the operator itself raises the error
    places = [a - rank if a >= 0 else a for a in places]
    return tuple(places) if several else places[0]


def inserted(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """`along`, for axes of the result: as many are inserted as are named."""
    axis = next(arg for role, arg in zip(op.roles, args) if role in "xX")
    return along(level, op, call, args, len(axis) if isinstance(axis, (tuple, list)) else 1)


def widened(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """`along`, for two named axes of the result, which has one axis more than the arrays."""
    return along(level, op, call, args, 1)


def shaped(level: Level, op: Record, call: Any, args: tuple, broadcast: bool = False) -> Any:
    """Put the length of the batch before the requested shape."""
    place = op.roles.index("s")
    shape = args[place]
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    rank, found = len(shape), list(args)
    for i, (role, arg) in enumerate(zip(op.roles, args)):
        if type(arg) is Batched and (i or role != "a"):
            raise Unfit
        if role in "xX":
            if arg is None:
                if _rank(args[0]) == rank:
                    arg = tuple(range(-rank, 0))
                else:
                    raise Unfit
            found[i] = _from_the_end(arg, rank, op, role)
    inside = inside_of(args[0], level)
    found[0] = _with_axes(inside, max(rank - args[0].ndim, 0)) if broadcast else inside
    found[place] = (level.size, *shape)
    return together(call(*found), level)


def broadcast(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """`shaped`, for an array that may have fewer axes than the shape."""
    return shaped(level, op, call, args, True)


def reduced(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """`shaped`, for an array that may have more axes than the shape: it is summed along the additional axes."""
    x, shape = args[0], tuple(args[op.roles.index("s")])
    return together(ops.reshape(call(x.inside, (level.size, *(1,) * (x.ndim - len(shape)), *shape)), (level.size, *shape)), level)


def order(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Permute the axes of a row: all axes are named, or none, which reverses them."""
    rank, axes = args[0].ndim, args[1] if len(args) > 1 else None
    axes = tuple(range(rank))[::-1] if axes is None else tuple(a % rank if -rank <= a < rank else a for a in axes)
    if sorted(axes) != list(range(rank)):
        raise Unfit
    return together(ops.permute_dims(args[0].inside, (0, *[a + 1 for a in axes])), level)


def places(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Take two lists of axes: sources and destinations."""
    rank = args[0].ndim
    axes = [_from_the_end(arg, rank, op, "X") for arg in args[1:]]
    return together(call(args[0].inside, *axes), level)


def images(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Merge the vmap's batch into the optional batch axis before the axes of an image."""
    if not is_row(args[0], level) or innermost(args[1:]) is level:
        raise Unfit
    inside, kept = args[0].inside, ()
    core = len(op.inputs[0]) if op.inputs else args[1].ndim - 1
    if inside.ndim > core + 1:
        kept = inside.shape[: inside.ndim - core]
        inside = ops.reshape(inside, (-1, *inside.shape[inside.ndim - core :]))
    result = call(inside, *args[1:])
    if kept:
        result = _each_shaped(result, kept)
    return together(result, level)


def grouped(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Merge the batch into the batch of images, or, if kernels are a batch, into the channels as separate groups."""
    spatial, makes_kernels = len(args[-2]), "k" not in op.roles
    apart = makes_kernels or any(is_row(arg, level) for role, arg in zip(op.roles, args) if role == "k")
    axis = -spatial - 1 if apart else -spatial - 2  # of the images; the batch is merged into it
    found, alone = list(args), not apart and args[0].ndim == spatial + 1  # an image without a batch gets one
    for i, (role, arg) in enumerate(zip(op.roles, args)):
        if role == "a":
            found[i] = spread(arg, level).inside if alone else _joined(spread(arg, level).inside, axis)
        elif role == "k" and apart and arg is not None:
            found[i] = _joined(spread(arg, level).inside, -arg.ndim)
        elif role == "s":
            found[i] = [level.size, *arg] if alone else list(arg)
            if not alone:
                found[i][0 if makes_kernels else axis] *= level.size
    if apart:
        found[-1] *= level.size
    result = call(*found)
    return together(result if alone else _parted(result, 0 if makes_kernels else axis, level.size), level)


def _joined(inside: Any, axis: int) -> Any:
    """Merge a batch into an axis of its rows, counted from the end, as its outer part."""
    moved = ops.moveaxis(inside, 0, axis - 1)
    shape, place = moved.shape, moved.ndim + axis
    return ops.reshape(moved, (*shape[: place - 1], shape[place - 1] * shape[place], *shape[place + 1 :]))


def _parted(value: Any, axis: int, size: int) -> Any:
    """Split the batch, the outer part of an axis, off that axis."""
    shape, place = value.shape, axis % value.ndim
    return ops.moveaxis(ops.reshape(value, (*shape[:place], size, shape[place] // size, *shape[place + 1 :])), place, 0)


def _each_shaped(result: Any, kept: tuple[int, ...]) -> Any:
    if type(result) is tuple:
        return tuple([_each_shaped(item, kept) for item in result])
    return ops.reshape(result, (*kept, *result.shape[1:]))


# Row by row.


def rows(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Compute row by row and stack the results."""
    found = [call(*[row_of(arg, level, i) for arg in args]) for i in range(level.size)]
    return together(stacked(found), level)


def row_of(value: Any, level: Level, i: int) -> Any:
    if is_row(value, level):
        return ops.getitem(value.inside, i)
    if type(value) is tuple or type(value) is list:
        return type(value)([row_of(item, level, i) for item in value])
    if type(value) is slice:
        return slice(*[row_of(item, level, i) for item in (value.start, value.stop, value.step)])
    return value


def stacked(results: list) -> Any:
    """Results merged into one, whose tensors have the rows along a first axis."""
    first = results[0]
    if isinstance(first, Tensor):
        shapes = {result.shape for result in results}
        if len(shapes) > 1:
            raise RuntimeError("vmap: the shape of the result depends on values and differs between rows: "
                               f"{', '.join(map(str, sorted(shapes)))}. Use where() and sums over masks")  # fmt: skip
        return ops.stack(results)
    if type(first) is tuple or type(first) is list:
        return type(first)([stacked(list(items)) for items in zip(*results, strict=True)])
    return first


def refused(level: Level, op: Record, call: Any, args: tuple) -> Any:
    """Refuse an operator that looks at memory."""
    raise RuntimeError(f"vmap: {op.name} looks at memory, but a row of a batch has no memory of its own; use an index, "
                       "reshape or the like")  # fmt: skip


def _rank(value: Any) -> int:
    if isinstance(value, (Tensor, np.ndarray)):
        return value.ndim
    return max(map(_rank, value), default=0) if isinstance(value, (list, tuple)) else 0


WAYS = {way.__name__: way for way in (
    along, broadcast, elements, grouped, images, inserted, leading, order, parts, places, reduced, refused, rows, shaped, widened,
)}  # fmt: skip

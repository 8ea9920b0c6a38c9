"""Functions of `jax.lax` whose parameters differ from gradspec's.

Each has JAX's parameters and JAX's meaning: a start index that is out of range is moved into it.
"""

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

import gradspec as gs


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """The `k` largest elements along an axis, and their indices."""
    return tuple(gs.topk(operand, k, axis))


def clamp(min: Any, x: Any, max: Any) -> Any:
    """`x` between two bounds."""
    return gs.clip(x, min, max)


def select_n(which: Any, *cases: Any) -> Any:
    """The elements of the case with the number in `which`: for truth values, the second case where it is true."""
    if len(cases) == 2:
        return gs.where(which, cases[1], cases[0])
    return gs.choose(which, cases)


def iota(dtype: Any, size: int) -> Any:
    """The numbers below `size`."""
    return gs.arange(size, dtype=dtype)


def broadcasted_iota(dtype: Any, shape: Sequence[int], dimension: int) -> Any:
    """The index along one dimension, for each element of an array."""
    lengths = [1] * len(shape)
    lengths[dimension] = shape[dimension]
    return gs.broadcast_to(gs.reshape(gs.arange(shape[dimension], dtype=dtype), lengths), tuple(shape))


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Sums up to each element."""
    return gs.cumsum(operand, axis, reverse=reverse)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Products up to each element."""
    return gs.cumprod(operand, axis, reverse=reverse)


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The largest element so far."""
    return _scanned(lambda x: gs.cummax(x, axis)[0], operand, axis, reverse)


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The smallest element so far."""
    return _scanned(lambda x: gs.cummin(x, axis)[0], operand, axis, reverse)


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Logarithms of the sums of exponentials up to each element."""
    return _scanned(lambda x: gs.logcumsumexp(x, axis), operand, axis, reverse)


def _scanned(scan: Any, operand: Any, axis: int, reverse: bool) -> Any:
    return gs.flip(scan(gs.flip(operand, axis)), axis) if reverse else scan(operand)


def reduce_and(operand: Any, axes: Sequence[int]) -> Any:
    """Whether all elements along the axes are true."""
    return gs.all(operand, tuple(axes))


def reduce_or(operand: Any, axes: Sequence[int]) -> Any:
    """Whether an element along the axes is true."""
    return gs.any(operand, tuple(axes))


def reshape(operand: Any, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None) -> Any:
    """The elements in another shape; `dimensions` reorders the axes first."""
    return gs.reshape(operand if dimensions is None else gs.permute(operand, tuple(dimensions)), tuple(new_sizes))


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """An array in ascending order, or several arrays in the order of the first."""
    if not isinstance(operand, (tuple, list)):
        return gs.sort(operand, dimension)
    if num_keys != 1:
        raise NotImplementedError("sort: num_keys above 1 has no counterpart; write gs.lexsort of the keys, and gs.take_along_axis")
    order = gs.argsort(operand[0], dimension)
    return tuple(gs.take_along_axis(x, order, dimension) for x in operand)


def slice(operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None) -> Any:
    """A part of an array, from the start of each axis up to but excluding its limit."""
    steps = strides or [1] * len(start_indices)
    return gs.asarray(operand)[tuple(map(builtins.slice, start_indices, limit_indices, steps))]


def slice_in_dim(operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0) -> Any:
    """A part of an array along one axis."""
    x = gs.asarray(operand)
    return x[(builtins.slice(None),) * (axis % x.ndim) + (builtins.slice(start_index, limit_index, stride),)]


def _places(start: Any, size: int, length: int) -> Any:
    """The indices of `size` elements from a start, which is moved so that all of them are there."""
    if size > length:
        raise ValueError(f"a slice of {size} elements does not fit in an axis of length {length}")
    start = gs.asarray(start)
    start = gs.where(start < 0, start + length, start)
    return gs.clip(start, 0, length - size) + np.arange(size)


def dynamic_slice(operand: Any, start_indices: Any, slice_sizes: Sequence[int]) -> Any:
    """A part of given size of an array; the starts may be tensors."""
    x = gs.asarray(operand)
    for axis, size in enumerate(slice_sizes):
        x = dynamic_slice_in_dim(x, start_indices[axis], size, axis)
    return x


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Any:
    """A part of given size along one axis."""
    return gs.take(operand, _places(start_index, slice_size, np.shape(operand)[axis]), axis)


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """The element at an index of one axis."""
    found = dynamic_slice_in_dim(operand, index, 1, axis)
    return found if keepdims else gs.squeeze(found, axis)


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Any:
    """An array with a part replaced by `update`, from starts that may be tensors."""
    x, update = gs.asarray(operand), gs.asarray(update)
    places = [_places(start, size, length) for start, size, length in zip(start_indices, update.shape, x.shape)]
    index = tuple(place[(builtins.slice(None),) + (None,) * (x.ndim - 1 - axis)] for axis, place in enumerate(places))
    return gs.index_put(x, index, update)


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int) -> Any:
    """An array with a part of one axis replaced by `update`."""
    starts: list[Any] = [0] * np.ndim(operand)
    starts[axis] = start_index
    return dynamic_update_slice(operand, update, starts)

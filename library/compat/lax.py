"""Functions of `jax.lax` whose parameters differ from gradspec's.

Each has JAX's parameters and JAX's meaning: a start index that is out of range is moved into it.
"""

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

import gradspec as gs


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """The `k` largest elements along an axis, and their indices.

    Parameters
    ----------
    operand : array_like
    k : int
        At most the length of the axis; more is a ValueError.
    axis : int

    Returns
    -------
    values : Tensor
        Of the dtype of `operand`, `k` elements along the axis, the largest first.
    indices : Tensor of int64
    """
    return tuple(gs.topk(operand, k, axis))


def clamp(min: Any, x: Any, max: Any) -> Any:
    """`x` between two bounds.

    Parameters
    ----------
    min : array_like
        Broadcasts with `x`, as `max` does.
    x : array_like
    max : array_like

    Returns
    -------
    Tensor
    """
    return gs.clip(x, min, max)


def select_n(which: Any, *cases: Any) -> Any:
    """The elements of the case with the number in `which`: for truth values, the second case where it is true.

    Parameters
    ----------
    which : array_like of bool or int
        Integers may choose between any number of cases, truth values between two.
    *cases : array_like
        Broadcast with each other and with `which`.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        There are more than two cases, and `which` has the number of none.
    """
    if len(cases) == 2:
        return gs.where(which, cases[1], cases[0])
    return gs.choose(which, cases)


def iota(dtype: Any, size: int) -> Any:
    """The numbers below `size`.

    Parameters
    ----------
    dtype : dtype
    size : int

    Returns
    -------
    Tensor, shape (size,)
    """
    return gs.arange(size, dtype=dtype)


def broadcasted_iota(dtype: Any, shape: Sequence[int], dimension: int) -> Any:
    """The index along one dimension, for each element of an array.

    Parameters
    ----------
    dtype : dtype
    shape : sequence of int
    dimension : int

    Returns
    -------
    Tensor
        Of this shape and dtype.
    """
    lengths = [1] * len(shape)
    lengths[dimension] = shape[dimension]
    return gs.broadcast_to(gs.reshape(gs.arange(shape[dimension], dtype=dtype), lengths), tuple(shape))


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Sums up to each element.

    Parameters
    ----------
    operand : array_like
    axis : int
    reverse : bool
        Whether to begin with the last element.

    Returns
    -------
    Tensor
        Of the shape of `operand`. Truth values and short integers are added up as int64.
    """
    return gs.cumsum(operand, axis, reverse=reverse)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Products up to each element.

    Parameters
    ----------
    operand : array_like
    axis : int
    reverse : bool
        Whether to begin with the last element.

    Returns
    -------
    Tensor
        Of the shape of `operand`. Truth values and short integers are multiplied as int64.
    """
    return gs.cumprod(operand, axis, reverse=reverse)


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The largest element so far.

    Parameters
    ----------
    operand : array_like
    axis : int
    reverse : bool
        Whether to begin with the last element.

    Returns
    -------
    Tensor
        Of the shape of `operand` and of its dtype.
    """
    return _scanned(lambda x: gs.cummax(x, axis)[0], operand, axis, reverse)


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The smallest element so far.

    Parameters
    ----------
    operand : array_like
    axis : int
    reverse : bool
        Whether to begin with the last element.

    Returns
    -------
    Tensor
        Of the shape of `operand` and of its dtype.
    """
    return _scanned(lambda x: gs.cummin(x, axis)[0], operand, axis, reverse)


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Logarithms of the sums of exponentials up to each element.

    Parameters
    ----------
    operand : array_like
    axis : int
    reverse : bool
        Whether to begin with the last element.

    Returns
    -------
    Tensor
        Of the shape of `operand`. Integers become floating point numbers.
    """
    return _scanned(lambda x: gs.logcumsumexp(x, axis), operand, axis, reverse)


def _scanned(scan: Any, operand: Any, axis: int, reverse: bool) -> Any:
    return gs.flip(scan(gs.flip(operand, axis)), axis) if reverse else scan(operand)


def reduce_and(operand: Any, axes: Sequence[int]) -> Any:
    """Whether all elements along the axes are true.

    Parameters
    ----------
    operand : array_like
        Numbers count as true unless they are 0.
    axes : sequence of int
        The result lacks these axes.

    Returns
    -------
    Tensor of bool
    """
    return gs.all(operand, tuple(axes))


def reduce_or(operand: Any, axes: Sequence[int]) -> Any:
    """Whether an element along the axes is true.

    Parameters
    ----------
    operand : array_like
        Numbers count as true unless they are 0.
    axes : sequence of int
        The result lacks these axes.

    Returns
    -------
    Tensor of bool
    """
    return gs.any(operand, tuple(axes))


def reshape(operand: Any, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None) -> Any:
    """The elements in another shape; `dimensions` reorders the axes first.

    Parameters
    ----------
    operand : array_like
    new_sizes : sequence of int
        Their product is the number of elements; other shapes are a ValueError.
    dimensions : sequence of int, optional

    Returns
    -------
    Tensor, shape `new_sizes`
    """
    return gs.reshape(operand if dimensions is None else gs.permute(operand, tuple(dimensions)), tuple(new_sizes))


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """An array in ascending order, or several arrays in the order of the first.

    Parameters
    ----------
    operand : array_like, or tuple or list of array_like
        Arrays of one shape.
    dimension : int
    is_stable : bool
        Equal elements keep their order in any case.
    num_keys : int
        Must be 1.

    Returns
    -------
    Tensor, or tuple of Tensor

    Raises
    ------
    NotImplementedError
        `num_keys` is not 1; `gs.lexsort` takes several keys.
    """
    if not isinstance(operand, (tuple, list)):
        return gs.sort(operand, dimension)
    if num_keys != 1:
        raise NotImplementedError("sort: num_keys above 1 has no counterpart; write gs.lexsort of the keys, and gs.take_along_axis")
    order = gs.argsort(operand[0], dimension)
    return tuple(gs.take_along_axis(x, order, dimension) for x in operand)


def slice(operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None) -> Any:
    """A part of an array, from the start of each axis up to but excluding its limit.

    Parameters
    ----------
    operand : array_like
    start_indices, limit_indices : sequence of int
        One for each axis, from 0 to its length. Other bounds are a ValueError, since a negative index does not count from the end.
    strides : sequence of int, optional

    Returns
    -------
    Tensor
        A view of `operand`.
    """
    x, steps = gs.asarray(operand), strides or [1] * len(start_indices)
    bounds = zip(start_indices, limit_indices, x.shape)
    if not (len(start_indices) == len(limit_indices) == x.ndim and all(0 <= a <= b <= length for a, b, length in bounds)):
        raise ValueError(f"slice: for each axis 0 <= start <= limit <= length, got starts {tuple(start_indices)}, limits "
                         f"{tuple(limit_indices)}, lengths {tuple(x.shape)}; x[start:limit] takes others")  # fmt: skip
    return x[tuple(map(builtins.slice, start_indices, limit_indices, steps))]


def slice_in_dim(operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0) -> Any:
    """A part of an array along one axis.

    Parameters
    ----------
    operand : array_like
    start_index, limit_index : int or None
        As in `x[start:limit]`.
    stride : int
    axis : int

    Returns
    -------
    Tensor
        A view of `operand`.
    """
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
    """A part of given size of an array; the starts may be tensors.

    Parameters
    ----------
    operand : array_like
    start_indices : sequence of int or Tensor, or Tensor of int
        One for each axis. A negative start counts from the end, then it is moved so that the slice fits.
    slice_sizes : sequence of int

    Returns
    -------
    Tensor, shape `slice_sizes`

    Raises
    ------
    ValueError
        A size is larger than its axis.
    """
    x = gs.asarray(operand)
    for axis, size in enumerate(slice_sizes):
        x = dynamic_slice_in_dim(x, start_indices[axis], size, axis)
    return x


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Any:
    """A part of given size along one axis.

    Parameters
    ----------
    operand : array_like
    start_index : int or Tensor
        As for `dynamic_slice`.
    slice_size : int
        A size larger than the axis is a ValueError.
    axis : int

    Returns
    -------
    Tensor
    """
    return gs.take(operand, _places(start_index, slice_size, np.shape(operand)[axis]), axis)


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """The element at an index of one axis.

    Parameters
    ----------
    operand : array_like
    index : int or Tensor
        A negative one counts from the end, then it is moved into the axis.
    axis : int
    keepdims : bool
        Whether the axis stays, with length 1.

    Returns
    -------
    Tensor
    """
    found = dynamic_slice_in_dim(operand, index, 1, axis)
    return found if keepdims else gs.squeeze(found, axis)


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Any:
    """An array with a part replaced by `update`, from starts that may be tensors.

    Parameters
    ----------
    operand : array_like
    update : array_like
        As many axes as `operand`, and a dtype that `operand` can hold.
    start_indices : sequence of int or Tensor, or Tensor of int
        As for `dynamic_slice`.

    Returns
    -------
    Tensor
        Of the shape and dtype of `operand`, which is unchanged.

    Raises
    ------
    ValueError
        `update` is larger than `operand`, or has another number of axes.
    TypeError
        `update` would lose a part of its numbers, as floats among integers do.
    """
    x, update = gs.asarray(operand), gs.asarray(update)
    if not x.ndim == update.ndim == len(start_indices):
        raise ValueError(f"dynamic_update_slice: operand has {x.ndim} axes, update {update.ndim}, and there are {len(start_indices)} "
                         "starts; reshape the update")  # fmt: skip
    if not np.can_cast(update.dtype, x.dtype, "same_kind"):
        raise TypeError(f"dynamic_update_slice: {x.dtype} cannot hold the update's {update.dtype}; write operand.astype({update.dtype.name!r})")
    places = [_places(start, size, length) for start, size, length in zip(start_indices, update.shape, x.shape)]
    index = tuple(place[(builtins.slice(None),) + (None,) * (x.ndim - 1 - axis)] for axis, place in enumerate(places))
    return gs.index_put(x, index, update)


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int) -> Any:
    """An array with a part of one axis replaced by `update`.

    Parameters
    ----------
    operand, update : array_like
    start_index : int or Tensor
    axis : int
        As for `dynamic_update_slice`, whose other starts are 0.

    Returns
    -------
    Tensor
    """
    starts: list[Any] = [0] * np.ndim(operand)
    starts[axis] = start_index
    return dynamic_update_slice(operand, update, starts)

"""NumPy's and PyTorch's functions that arrange, choose or summarise pieces of arrays, composed of several operators.

Computes the arrangement and the indices; the rest is operators, so every mode of differentiation works.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..support.dispatch import ops
from ..support.error_hints import answering


class _Joined:
    """The implementation of `r_[...]` and `c_[...]`, which join arrays, numbers and slices."""

    def __init__(self, name: str, axis: int, ndim: int) -> None:
        self.name, self.axis, self.ndim = name, axis, ndim

    def __getitem__(self, key: Any) -> Any:
        items = [self._item(item) for item in (key if isinstance(key, tuple) else (key,))]
        return ops.concat(items, self.axis)

    def _item(self, item: Any) -> Any:
        if isinstance(item, str):
            raise TypeError(f"{self.name}: directives as {item!r} are not known; write concat(arrays, axis)")
        array = asarray(np.r_[item] if isinstance(item, slice) else item)
        shape = (*array.shape, *(1,) * (self.ndim - max(array.ndim, 1)))
        return ops.reshape(array, shape or (1,)) if array.ndim < self.ndim else array

    def __repr__(self) -> str:
        return f"gradspec.{self.name}"


r_ = _Joined("r_", 0, 1)
c_ = _Joined("c_", -1, 2)


def block(arrays: Any) -> Any:
    """One array from blocks in nested lists: innermost lists are joined along the last axis, outer lists along the previous one.

    Parameters
    ----------
    arrays : array_like or nested list of array_like

    Returns
    -------
    Tensor
    """
    from ..methods.numpy_pieces import block  # not imported with gradspec

    return block(arrays)


def choose(a: Any, choices: Sequence[Any], out: Any = None, mode: str = "raise") -> Any:
    """For each element of `a`, an integer, the corresponding element of the array with this number.

    Parameters
    ----------
    a : array_like of int
    choices : sequence of array_like
        Arrays that broadcast with `a`.
    out : Tensor, optional
        Receives the result.
    mode : {'raise', 'wrap', 'clip'}
        Treatment of a number without an array: an error, the remainder modulo the number of arrays, or the nearest number.

    Returns
    -------
    Tensor
    """
    from ..methods.numpy_pieces import choose

    return choose(a, choices, out, mode)


@answering
def float_power(a: Any, b: Any) -> Any:
    """`a` to the power `b` in double precision, whatever the dtypes.

    Parameters
    ----------
    a, b : array_like

    Returns
    -------
    Tensor
    """
    from ..methods.numpy_ufuncs import float_power

    return float_power(a, b)


def is_nonzero(x: Any) -> bool:
    """Whether the only element is not 0.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    bool
    """
    x = asarray(x)
    if x.size != 1:
        raise ValueError(f"is_nonzero: expected one element, got {x.size}; write any(x) or all(x)")
    return bool(x.detach().numpy().reshape(())[()])


def is_same_size(x: Any, other: Any) -> bool:
    """Whether both have the same shape.

    Parameters
    ----------
    x, other : array_like

    Returns
    -------
    bool
    """
    return bool(asarray(x).shape == asarray(other).shape)


def put_along_axis(x: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    """Write values, in place, at indices along one axis, a separate index for each value.

    Parameters
    ----------
    x : Tensor
        Tensor to write to.
    indices : array_like of int
        One index for each value; it broadcasts with `x` along the other axes.
    values : array_like
    axis : int or None
        None numbers the elements in C order.
    """
    from ..methods.numpy_calls import put_along_axis

    put_along_axis(x, indices, values, axis)


def real_if_close(x: Any, tol: float = 100) -> Any:
    """The real parts, if all imaginary parts are near 0.

    Parameters
    ----------
    x : array_like
    tol : float
        Largest distance from 0; above 1, in spacings of the dtype at 1.

    Returns
    -------
    Tensor
    """
    from ..methods.numpy_pieces import real_if_close

    return real_if_close(x, tol)


def segment_reduce(x: Any, reduce: str, *, lengths: Any = None, offsets: Any = None, axis: int = 0,
                   initial: float | None = None) -> Any:  # fmt: skip
    """Sums, means, products or extremes of consecutive segments of slices along one axis.

    Parameters
    ----------
    x : array_like
    reduce : {'sum', 'mean', 'prod', 'max', 'min'}
    lengths : array_like of int, optional
        Number of slices in each segment.
    offsets : array_like of int, optional
        Starts of the segments, and finally the end of the last one.
    axis : int
    initial : float, optional
        Initial value of each segment, and the result of an empty one.  Without it, an empty segment gives 0 for a sum, 1 for
        a product, infinity of either sign for extremes and NaN for a mean.

    Returns
    -------
    Tensor
    """
    words = {"sum": ("sum", 0), "mean": ("sum", 0), "prod": ("prod", 1), "max": ("amax", -np.inf), "min": ("amin", np.inf)}
    if reduce not in words:
        raise ValueError(f"segment_reduce: reduce must be one of {', '.join(words)}, got {reduce!r}")
    if (lengths is None) == (offsets is None):
        raise ValueError("segment_reduce: expected either lengths or offsets")
    x = ops.multiply(x, 1.0)
    counts = np.diff(_whole(offsets)) if lengths is None else _whole(lengths)
    if counts.ndim != 1 or (counts < 0).any() or counts.sum() != x.shape[axis]:
        raise ValueError(f"segment_reduce: the lengths must be a vector of numbers from 0 on whose sum is {x.shape[axis]}, got "
                         f"{counts.tolist()}")  # fmt: skip
    word, neutral = words[reduce]
    shape = list(x.shape)
    shape[axis] = counts.size
    begin = ops.full(tuple(shape), neutral if initial is None else initial, dtype=x.dtype)
    places = np.repeat(np.arange(counts.size), counts)
    if word == "sum":
        y = ops.index_add(begin, axis, places, x)
    else:
        y = ops.index_reduce(begin, axis, places, x, word)
    if reduce != "mean":
        return y
    among = (slice(None), *(None,) * (x.ndim - 1 - axis % x.ndim))
    empty = np.where(counts > 0, 0.0, np.nan if initial is None else 0.0)
    return y / np.maximum(counts, 1)[among].astype(y.dtype) + empty[among].astype(y.dtype)


@answering
def unique_consecutive(x: Any, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None) -> Any:
    """The array with each run of equal neighbours reduced to its first element or slice.

    Parameters
    ----------
    x : array_like
    return_inverse : bool
        Whether to return also the new position of each element, or slice.
    return_counts : bool
        Whether to return also the length of each run.
    axis : int, optional
        Axis of the slices to compare; by default all elements are compared, in C order.

    Returns
    -------
    Tensor or tuple of Tensor
    """
    x = asarray(x)
    flat = ops.ravel(x) if axis is None else ops.moveaxis(x, axis, 0)
    values = flat.detach().numpy()
    rows = values.reshape(len(values), math.prod(values.shape[1:]))
    first = np.ones(len(rows), bool)
    first[1:] = (rows[1:] != rows[:-1]).any(-1)
    begins = np.flatnonzero(first)
    y = ops.take(flat, begins, 0)
    found = [y if axis is None else ops.moveaxis(y, 0, axis)]
    if return_inverse:
        places = np.cumsum(first) - 1
        found.append(asarray(places.reshape(x.shape) if axis is None else places))
    if return_counts:
        found.append(asarray(np.diff(begins, append=len(rows))))
    return found[0] if len(found) == 1 else tuple(found)


def _whole(values: Any) -> np.ndarray:
    array = asarray(values).detach().numpy()
    if array.dtype.kind not in "iu":
        raise TypeError(f"segment_reduce: lengths and offsets are integers, got {array.dtype}")
    return array

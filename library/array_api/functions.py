"""Functions whose parameters or results differ between the standard and the operators, and functions of several operators."""

from collections import namedtuple

import numpy as np

from ..core.conversion import asarray
from ..support.dispatch import ops

UniqueAll = namedtuple("UniqueAll", ["values", "indices", "inverse_indices", "counts"])
UniqueCounts = namedtuple("UniqueCounts", ["values", "counts"])
UniqueInverse = namedtuple("UniqueInverse", ["values", "inverse_indices"])


def values_of(x):
    """The array of a tensor, for functions without a derivative."""
    return asarray(x).detach().numpy()


def summed(x, dtype):
    """The operand of a sum: integers narrower than the default ones are widened."""
    x = asarray(x)
    if dtype is None and x.dtype.kind in "iu" and x.dtype.itemsize < 8:
        dtype = np.int64 if x.dtype.kind == "i" else np.uint64
    return x if dtype is None or x.dtype == dtype else ops.astype(x, dtype)


def as_asked(y, dtype):
    """A sum or a product in the requested dtype: narrow integers, which the operators widen, wrap around."""
    return y if dtype is None or y.dtype == dtype else ops.astype(y, dtype)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """Sum along `axis`, computed in `dtype`."""
    return as_asked(ops.sum(summed(x, dtype), axis, keepdims), dtype)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """Product along `axis`, computed in `dtype`."""
    return as_asked(ops.prod(summed(x, dtype), axis, keepdims), dtype)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running sums; the first is 0 with `include_initial`."""
    return as_asked(scanned(ops.cumsum, ops.zeros, summed(x, dtype), axis, include_initial), dtype)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running products; the first is 1 with `include_initial`."""
    return as_asked(scanned(ops.cumprod, ops.ones, summed(x, dtype), axis, include_initial), dtype)


def scanned(scan, start, x, axis, include_initial):
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"axis must be given for {x.ndim} axes")
        axis = 0
    result = scan(x, axis)
    if not include_initial:
        return result
    shape = list(result.shape)
    shape[axis] = 1
    return ops.concat([start(tuple(shape), dtype=result.dtype), result], axis)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """The `n`-th difference of adjacent elements, with `prepend` before and `append` after `x`."""
    parts = [part for part in (prepend, x, append) if part is not None]
    return ops.diff(parts[0] if len(parts) == 1 else ops.concat(parts, axis), n, axis)


def reshape(x, /, shape, *, copy=None):
    """Another shape; with `copy` False a copy is refused."""
    x = asarray(x)
    y = ops.reshape(x, shape)
    shares = np.shares_memory(values_of(x), values_of(y)) or x.size == 0
    if copy is False and not shares:
        raise ValueError("reshape: this shape needs a copy, which copy=False refuses")
    return ops.copy(y) if copy and shares else y


def round(x, /):
    """The nearest integer, ties to even; complex numbers are rounded in both parts."""
    x = asarray(x)
    if x.dtype.kind != "c":
        return ops.round(x)
    return ops.add(ops.round(ops.real(x)), ops.multiply(1j, ops.round(ops.imag(x))))


def unstack(x, /, *, axis=0):
    """The slices along an axis, as a tuple."""
    return tuple(ops.unstack(x, axis))


def broadcast_shapes(*shapes):
    """The shape that several shapes broadcast to."""
    return np.broadcast_shapes(*shapes)


def broadcast_arrays(*arrays):
    """All arrays broadcast to their common shape."""
    shape = np.broadcast_shapes(*(np.shape(x) for x in arrays))
    return tuple(ops.broadcast_to(x, shape) for x in arrays)


def meshgrid(*arrays, indexing="xy"):
    """The coordinates of a grid, from the coordinates of its axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
    count = len(arrays)
    order = [1, 0, *range(2, count)] if indexing == "xy" and count > 1 else list(range(count))
    spread = [ops.reshape(x, tuple(-1 if place == order[i] else 1 for place in range(count))) for i, x in enumerate(arrays)]
    return tuple(ops.copy(x) for x in broadcast_arrays(*spread)) if count else ()


def isin(x1, x2, /, *, invert=False):
    """Which elements of `x1` are in `x2`."""
    return asarray(np.isin(values_of(x1), values_of(x2), invert=invert))


def nextafter(x1, x2, /):
    """The number next to `x1` towards `x2`; its derivative is that of `x1`."""
    following = np.nextafter(*(x if isinstance(x, (int, float)) else values_of(x) for x in (x1, x2)))
    x1 = ops.broadcast_to(ops.astype(asarray(x1), following.dtype), following.shape)
    far = ~np.isfinite(values_of(x1)) | ~np.isfinite(following)
    step = np.where(far, 0, following - np.where(far, 0, values_of(x1)))  # exact: neighbours differ by a rounding unit
    x1, step = ops.where(far, following, x1), np.where(far, 0, step)
    return ops.where(np.signbit(following), ops.negative(ops.subtract(-step, x1)), ops.add(x1, step))  # zeros have a sign, too


def nonzero(x, /):
    """The indices of nonzero elements, one array for each axis."""
    return ops.nonzero(x)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """The positions for inserting `x2` into the sorted `x1`."""
    return ops.searchsorted(x1 if sorter is None else ops.take(x1, sorter), x2, side)


def first_places(x):
    """The distinct values in order, the position of each one's first occurrence, the inverse indices, and the counts."""
    x = asarray(x)
    asked = {"return_index": True, "return_inverse": True, "return_counts": True, "equal_nan": False}
    _, places, inverse, counts = np.unique(values_of(x), **asked)
    return ops.take(ops.reshape(x, (-1,)), places, 0), asarray(places), asarray(inverse.reshape(x.shape)), asarray(counts)


def unique_all(x, /):
    """The distinct values, the position of each one's first occurrence, the inverse indices, and the counts."""
    return UniqueAll(*first_places(x))


def unique_counts(x, /):
    """The distinct values and their counts."""
    values, _, _, counts = first_places(x)
    return UniqueCounts(values, counts)


def unique_inverse(x, /):
    """The distinct values and, for each element, the index of its value."""
    values, _, inverse, _ = first_places(x)
    return UniqueInverse(values, inverse)


def unique_values(x, /):
    """The distinct values."""
    return first_places(x)[0]

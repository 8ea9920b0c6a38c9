"""Functions whose parameters or results the standard and the operators have otherwise, and functions of several operators."""

from collections import namedtuple

import numpy as np

from ..core.conversion import asarray
from ..support.dispatch import ops

UniqueAll = namedtuple("UniqueAll", ["values", "indices", "inverse_indices", "counts"])
UniqueCounts = namedtuple("UniqueCounts", ["values", "counts"])
UniqueInverse = namedtuple("UniqueInverse", ["values", "inverse_indices"])


def values_of(x):
    """The array of a tensor, for what has no derivative."""
    return asarray(x).detach().numpy()


def summed(x, dtype):
    """What a sum is taken of: integers narrower than the default ones are widened."""
    x = asarray(x)
    if dtype is None and x.dtype.kind in "iu" and x.dtype.itemsize < 8:
        dtype = np.int64 if x.dtype.kind == "i" else np.uint64
    return x if dtype is None or x.dtype == dtype else ops.astype(x, dtype)


def as_asked(y, dtype):
    """A sum or a product in the dtype that was asked for: narrow integers, which the operators widen, wrap round."""
    return y if dtype is None or y.dtype == dtype else ops.astype(y, dtype)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """Sum along `axis`, computed in `dtype`."""
    return as_asked(ops.sum(summed(x, dtype), axis, keepdims), dtype)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """Product along `axis`, computed in `dtype`."""
    return as_asked(ops.prod(summed(x, dtype), axis, keepdims), dtype)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Sums up to each element; the first is 0 with `include_initial`."""
    return as_asked(scanned(ops.cumsum, ops.zeros, summed(x, dtype), axis, include_initial), dtype)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Products up to each element; the first is 1 with `include_initial`."""
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
    """Each element less the one before it, `n` times, of `x` between what is put before and behind it."""
    parts = [part for part in (prepend, x, append) if part is not None]
    return ops.diff(parts[0] if len(parts) == 1 else ops.concat(parts, axis), n, axis)


def reshape(x, /, shape, *, copy=None):
    """Another shape; False refuses where that needs a copy."""
    x = asarray(x)
    y = ops.reshape(x, shape)
    shares = np.shares_memory(values_of(x), values_of(y)) or x.size == 0
    if copy is False and not shares:
        raise ValueError("reshape: this shape needs a copy, which copy=False refuses")
    return ops.copy(y) if copy and shares else y


def round(x, /):
    """The nearest whole number, the even one of two; of complex numbers that of either part."""
    x = asarray(x)
    if x.dtype.kind != "c":
        return ops.round(x)
    return ops.add(ops.round(ops.real(x)), ops.multiply(1j, ops.round(ops.imag(x))))


def unstack(x, /, *, axis=0):
    """The slices along an axis, as a tuple."""
    return tuple(ops.unstack(x, axis))


def broadcast_shapes(*shapes):
    """The shape that several become together."""
    return np.broadcast_shapes(*shapes)


def broadcast_arrays(*arrays):
    """All in the shape that they become together."""
    shape = np.broadcast_shapes(*(np.shape(x) for x in arrays))
    return tuple(ops.broadcast_to(x, shape) for x in arrays)


def meshgrid(*arrays, indexing="xy"):
    """The coordinates of a grid, from those of its axes."""
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
    """The number next to `x1` on the way to `x2`, with the derivative of `x1`, whose neighbour it is."""
    following = np.nextafter(*(x if isinstance(x, (int, float)) else values_of(x) for x in (x1, x2)))
    x1 = ops.broadcast_to(ops.astype(asarray(x1), following.dtype), following.shape)
    far = ~np.isfinite(values_of(x1)) | ~np.isfinite(following)
    step = np.where(far, 0, following - np.where(far, 0, values_of(x1)))  # exact: neighbours are a rounding apart
    x1, step = ops.where(far, following, x1), np.where(far, 0, step)
    return ops.where(np.signbit(following), ops.negative(ops.subtract(-step, x1)), ops.add(x1, step))  # a zero has a sign, too


def nonzero(x, /):
    """The indices of what is not zero, an array for each axis."""
    return tuple(ops.nonzero(x))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where `x2` goes into the sorted `x1`."""
    return ops.searchsorted(x1 if sorter is None else ops.take(x1, sorter), x2, side)


def first_places(x):
    """The different values in order, where each stands first, and what NumPy knows of the others."""
    x = asarray(x)
    asked = {"return_index": True, "return_inverse": True, "return_counts": True, "equal_nan": False}
    _, places, inverse, counts = np.unique(values_of(x), **asked)
    return ops.take(ops.reshape(x, (-1,)), places, 0), asarray(places), asarray(inverse.reshape(x.shape)), asarray(counts)


def unique_all(x, /):
    """The different values, where each stands first, which one each element is, and how often there is each."""
    return UniqueAll(*first_places(x))


def unique_counts(x, /):
    """The different values and how often there is each."""
    values, _, _, counts = first_places(x)
    return UniqueCounts(values, counts)


def unique_inverse(x, /):
    """The different values and which one each element is."""
    values, _, inverse, _ = first_places(x)
    return UniqueInverse(values, inverse)


def unique_values(x, /):
    """The different values."""
    return first_places(x)[0]

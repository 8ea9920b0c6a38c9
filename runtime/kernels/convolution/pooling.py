"""Pooling and resampling: compute the tables of windows and weights, and arrange arrays for the loops.

The loops are in `pooling_loops` and in the kernels that gather and scatter.
"""

import functools
import math

import numpy as np

from ..indexing.gathering import take_along_axis
from ..indexing.scattering import take_along_axis_backward
from .pooling_loops import max_windows, weighted_sums

__all__ = [
    "adaptive_max_pool", "max_pool", "plane_numbers", "pool", "pool_backward", "resample", "resample_backward", "take_planes",
    "take_planes_backward",
]  # fmt: skip

# The dtypes that the loops support; other dtypes are converted to one from this table and back.
_WIDE = {"e": "f", "b": "q", "h": "q", "i": "q", "l": "q", "?": "q", "B": "Q", "H": "Q", "I": "Q", "L": "Q"}


def max_pool(x, kernel, size, stride, padding, dilation):
    """The largest element of each window, and its index in C order within its plane.

    Parameters
    ----------
    x : ndarray
        The pooled axes are the last ones.
    kernel, size, stride, padding, dilation : tuple of int
        One number for each pooled axis; `size` is the shape of the result along these axes.

    Returns
    -------
    tuple of ndarray
        Among equal elements the first is chosen; a NaN counts as larger than any number.
    """
    ends = _window_ends(x.shape[x.ndim - len(size) :], *map(tuple, (kernel, size, stride, padding, dilation)))
    return _max_pool(x, size, ends, dilation)


def adaptive_max_pool(x, size):
    """max_pool with windows that divide each of the last axes into `size` parts."""
    if x.ndim < len(size):
        raise ValueError(f"{len(size)} axes are pooled, the shape is {x.shape}")
    ends = [_parts(n, m) for n, m in zip(x.shape[-len(size) :], size)]
    return _max_pool(x, size, _packed([a for a, _ in ends], [b for _, b in ends]), (1,) * len(size))


def resample(x, axis, size, kind, window, step):
    """Weighted sums along one axis, for pooling or interpolation of the given kind.

    Parameters
    ----------
    x : ndarray
    axis : int
        Counted from the end.
    size : int
        The length of the axis in the result.
    kind : str
        'windows', 'area' (means of equal parts), 'nearest', 'nearest-exact', 'linear', 'cubic'.  The last two may be followed by
        'smooth', a filter as wide as the elements that are reduced to one, and by 'aligned', which maps ends to ends.
    window : tuple of int
        For 'windows' their length, stride and padding, whether the padding is counted, and whether sums are not divided.
    step : float
        Distance in `x` between adjacent elements of the result, for interpolation.

    Returns
    -------
    ndarray
    """
    return _along(x, axis, size, _plan, (x.shape[axis], size, kind, tuple(window), step))


def resample_backward(x, axis, size, kind, window, step):
    """The adjoint of resample; `size` is the length of the axis in the input of resample."""
    return _along(x, axis, size, _adjoint_plan, (size, x.shape[axis], kind, tuple(window), step))


def pool(x, size, kernel, stride, padding, counted, summed):
    """Means of windows along the last axes, one axis after the other.

    Parameters
    ----------
    x : ndarray
    size : tuple of int
        The lengths of the pooled axes in the result.
    kernel, stride, padding : tuple of int
        One number for each axis; empty for parts that divide an axis as evenly as integers allow.
    counted, summed : bool
        Whether the padding is counted, and whether sums are not divided.

    Returns
    -------
    ndarray
    """
    for axis, (n, (kind, window)) in enumerate(zip(size, _pooled(size, kernel, stride, padding, counted, summed)), -len(size)):
        x = _along(x, axis, n, _plan, (x.shape[axis], n, kind, window, 1.0))
    return x


def pool_backward(x, size, kernel, stride, padding, counted, summed):
    """The adjoint of pool; `size` are the lengths of the axes in the input of pool."""
    for axis, (n, (kind, window)) in enumerate(zip(size, _pooled(size, kernel, stride, padding, counted, summed)), -len(size)):
        x = _along(x, axis, n, _adjoint_plan, (n, x.shape[axis], kind, window, 1.0))
    return x


def _pooled(size, kernel, stride, padding, counted, summed):
    """The kind of resampling along each axis, and its windows."""
    if not kernel:
        return [("area", ())] * len(size)
    return [("windows", (*window, counted, summed)) for window in zip(kernel, stride, padding, strict=True)]


def take_planes(x, indices, axes):
    """For each element of `indices`, the element of `x` with that index in its plane.

    Parameters
    ----------
    x : ndarray
    indices : ndarray of int
        The same number of axes and the same leading lengths as `x`; the last axes may differ.
    axes : int
        Number of axes of a plane.

    Returns
    -------
    ndarray
    """
    places, inside = _numbers(indices, x.shape, axes)
    return take_along_axis(x.reshape(len(places), inside), places, 1).reshape(np.shape(indices))


def take_planes_backward(x, indices, shape, axes):
    """The adjoint of take_planes: zeros of the given shape with the elements of `x` added at their indices."""
    places, inside = _numbers(indices, shape, axes)
    if x.shape != np.shape(indices):
        raise ValueError(f"x is of shape {x.shape}, the indices of {np.shape(indices)}")
    return take_along_axis_backward(x.reshape(places.shape), places, (len(places), inside), 1).reshape(shape)


def plane_numbers(indices, shape, axes):
    """The indices of take_planes as one row for each plane."""
    return _numbers(indices, shape, axes)[0].copy()


def _numbers(indices, shape, axes):
    """The indices as one row for each plane, checked to be in range, and the number of elements of a plane."""
    indices = np.asarray(indices)
    if indices.dtype.kind not in "iu" and indices.size:
        raise IndexError(f"indices must be integers, got {indices.dtype}")
    lead, inside = shape[: len(shape) - axes], math.prod(shape[len(shape) - axes :])
    if not 0 < axes <= len(shape) or indices.ndim != len(shape) or indices.shape[: len(lead)] != tuple(lead):
        raise ValueError(f"indices of shape {indices.shape} do not count in the last {axes} axes of {tuple(shape)}")
    planes = math.prod(lead)
    places = np.ascontiguousarray(indices, np.intp).reshape(planes, math.prod(indices.shape[len(lead) :]))
    if places.size and not (0 <= places.min() and places.max() < inside):
        raise IndexError(f"indices must be in [0, {inside}), got {places.min()} to {places.max()}")
    return places, inside


@functools.lru_cache(256)
def _window_ends(lengths, kernel, size, stride, padding, dilation):
    """Start and end of each window along each axis; windows that start in the padding are advanced by whole steps."""
    first = [np.arange(n) * s - p for n, s, p in zip(size, stride, padding)]
    last = [np.minimum(a + d * (k - 1) + 1, n) for a, d, k, n in zip(first, dilation, kernel, lengths)]
    return _packed([a + np.maximum(-(a // max(d, 1)), 0) * d for a, d in zip(first, dilation)], last)


def _packed(first, last):
    """The ends of windows as one array for three axes; None if a window contains no element."""
    if any((a >= b).any() for a, b in zip(first, last)):
        return None
    more = 3 - len(first)
    ends = np.zeros((2, 3, max(1, *map(len, first))), np.intp)
    ends[1] = 1
    for axis, (a, b) in enumerate(zip(first, last)):
        ends[0, more + axis, : len(a)], ends[1, more + axis, : len(b)] = a, b
    return ends


def _max_pool(x, size, ends, step):
    spatial = len(size)
    if min(step, default=1) < 1:
        raise ValueError(f"steps of {tuple(step)} do not go through a window")
    if ends is None:
        raise ValueError(f"a window over the last axes of {x.shape} holds no element")
    lead, planes = x.shape[: x.ndim - spatial], math.prod(x.shape[: x.ndim - spatial])
    more = 3 - spatial
    shape, size = (1,) * more + x.shape[x.ndim - spatial :], (1,) * more + tuple(size)
    wide = _WIDE.get(x.dtype.char, x.dtype.char)
    y, indices = np.empty((planes, *size), wide), np.empty((planes, *size), np.intp)
    if y.size:
        max_windows(_as_loops_take_it(x, wide).reshape(planes, *shape), ends[0], ends[1], (1,) * more + tuple(step), y, indices)
    result = (*lead, *size[more:])
    return y.astype(x.dtype, copy=False).reshape(result), indices.reshape(result)


def _along(x, axis, size, plan, arguments):
    """Weighted sums along one axis, computed on the shape (before, axis, behind) with the weights of `plan(*arguments)`."""
    dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(float)
    wide = _WIDE.get(dtype.char, dtype.char)
    axis %= x.ndim
    shape = x.shape
    before, behind = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    y = np.empty((before, size, behind), wide)
    if not x.size:
        y.fill(0)
    elif y.size:
        starts, places, weights = plan(*arguments, wide.lower())
        weighted_sums(_as_loops_take_it(x, wide).reshape(before, shape[axis], behind), starts, places, weights, y)
    y = y.reshape(*shape[:axis], size, *shape[axis + 1 :])
    return y if y.dtype is dtype else y.astype(dtype, copy=False)


def _as_loops_take_it(x, wide):
    """A contiguous, aligned array of the dtype `wide`."""
    flags = x.flags
    if x.dtype.char == wide and x.dtype.isnative and flags.c_contiguous and flags.aligned:
        return x
    return np.require(x, wide, "CA")


def _parts(length, size):
    """Starts and ends of parts that divide a length as evenly as integers allow; adjacent parts may share an element."""
    i = np.arange(size)
    return i * length // size, -(-((i + 1) * length) // size)


@functools.lru_cache(256)
def _plan(length, size, kind, window, step, dtype):
    """The elements of an axis that each element of the result sums, with their weights: starts, places, weights."""
    name, *words = kind.split(" ")
    if name not in _KINDS or not {*words} <= {"smooth", "aligned"} or (len(window) == 5) != (name in _WINDOWED):
        raise ValueError(f"{kind!r}, window {window}, is not a kind of resampling")
    o = np.arange(size)
    if window or kind == "area":
        if not window:
            (first, last), parts, counted, summed = _parts(length, size), 1, 0, 0
        else:
            extent, stride, padding, counted, summed = window
            first = o * stride - padding
            last = np.minimum(first + extent, length + padding)
            parts = last - first
            first, last = np.maximum(first, 0), np.minimum(last, length)
        count = np.maximum(last - first, 0)
        divisor = 1 if summed else parts if counted else count
        starts = np.concatenate([[0], np.cumsum(count)])
        places = np.arange(starts[-1]) - np.repeat(starts[:-1] - first, count)
        weights = np.repeat(np.broadcast_to(1 / np.maximum(divisor, 1), count.shape), count)
    elif "smooth" in words:
        starts, places, weights = _smooth(o, length, step, *_FILTERS[name])
    else:
        places, weights = _TAPS[name](o, length, step, "aligned" in words)
        starts = np.arange(size + 1) * places.shape[1]
        places = np.clip(places, 0, length - 1)
    wanted = ((starts, np.intp), (places, np.intp), (weights, np.float64))
    found = [np.ascontiguousarray(array, of).reshape(-1) for array, of in wanted]
    found[2] = found[2].astype(dtype, copy=False)
    for array in found:
        array.flags.writeable = False
    return tuple(found)


@functools.lru_cache(256)
def _adjoint_plan(length, size, kind, window, step, dtype):
    """The transposed plan: for each element of the axis, the elements of the result that use it, with their weights."""
    starts, places, weights = _plan(length, size, kind, window, step, dtype)
    order = np.argsort(places, kind="stable")
    ends = np.searchsorted(places, np.arange(length + 1), sorter=order)
    found = ends.astype(np.intp), np.repeat(np.arange(size), np.diff(starts))[order], weights[order]
    for array in found:
        array.flags.writeable = False
    return found


def _nearest(o, length, step, aligned):
    return np.floor(o * step)[:, None].astype(np.intp), np.ones((len(o), 1))


def _nearest_exact(o, length, step, aligned):
    return np.floor((o + 0.5) * step)[:, None].astype(np.intp), np.ones((len(o), 1))


def _linear(o, length, step, aligned):
    source = o * step if aligned else np.maximum((o + 0.5) * step - 0.5, 0)
    low = np.minimum(np.floor(source), length - 1)
    part = np.minimum(source - low, 1)
    return np.stack([low, low + 1], 1).astype(np.intp), np.stack([1 - part, part], 1)


def _cubic(o, length, step, aligned):
    """Keys' kernel with a = -3/4."""
    a = -0.75
    source = o * step if aligned else (o + 0.5) * step - 0.5
    low = np.floor(source)
    t = np.stack([source - low + 1, source - low, low + 1 - source, low + 2 - source], 1)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return (low[:, None] + np.arange(-1, 3)).astype(np.intp), np.where(t <= 1, near, far)


def _smooth(o, length, step, shape, support):
    """A filter around each place, widened by the step if that is above 1; weights sum to 1.

    As in PyTorch, the places are computed as if not aligned, even if the step is the step for aligned ends.
    """
    stretch = max(step, 1.0)
    centres = (o + 0.5) * step
    first = np.maximum((centres - support * stretch + 0.5).astype(np.intp), 0)
    count = np.maximum(np.minimum((centres + support * stretch + 0.5).astype(np.intp), length) - first, 1)
    starts = np.concatenate([[0], np.cumsum(count)])
    places = np.arange(starts[-1]) - np.repeat(starts[:-1] - first, count)
    weights = shape(np.abs(places - np.repeat(centres, count) + 0.5) / stretch)
    return starts, places, weights / np.repeat(np.add.reduceat(weights, starts[:-1]), count)


def _triangle(t):
    return np.maximum(1 - t, 0)


def _keys(t):
    """Keys' kernel with a = -1/2."""
    return np.where(t < 1, (1.5 * t - 2.5) * t * t + 1, np.where(t < 2, ((-0.5 * t + 2.5) * t - 4) * t + 2, 0))


_FILTERS = {"linear": (_triangle, 1.0), "cubic": (_keys, 2.0)}  # each with the distance from its centre to its end
_TAPS = {"nearest": _nearest, "nearest-exact": _nearest_exact, "linear": _linear, "cubic": _cubic}
_WINDOWED = frozenset({"windows"})
_KINDS = _WINDOWED | {"area", *_TAPS}

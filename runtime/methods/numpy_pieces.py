"""NumPy's functions that need several operators: choices by lists, blocks, and functions with callbacks or several results.

Composes them from operators.  A function with one operator is data (`generated.numpy_table`); a function that writes into its
argument is in `numpy_calls`.
"""

import numpy as np

from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..support.dispatch import ops
from ..support.scipy_operands import asked_by_solver
from .numpy_parameters import values_of, write_into
from .numpy_ranges import full_like, geomspace, linspace, logspace


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = ops.moveaxis(asarray(arr), axis, -1)
    parts = [asarray(func1d(ops.getitem(arr, place), *args, **kwargs)) for place in np.ndindex(arr.shape[:-1])]
    whole = ops.reshape(ops.stack(parts), (*arr.shape[:-1], *parts[0].shape))
    count = parts[0].ndim
    return ops.moveaxis(whole, tuple(range(-count, 0)), tuple(axis + i for i in range(count))) if count and axis >= 0 else whole


def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError("np.select: list of cases must be same length as list of conditions, and not empty")
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        if asarray(condition).dtype != bool:
            raise TypeError("np.select: the conditions must be boolean")
        result = ops.where(condition, choice, result)
    return result


def piecewise(x, condlist, funclist, *args, **kw):
    x = asarray(x)
    first = condlist if np.ndim(condlist) == 0 else condlist[0]
    conditions = [condlist] if np.ndim(condlist) == 0 or x.ndim and np.ndim(first) == 0 else condlist
    conditions = [np.broadcast_to(np.asarray(values_of(condition), bool), x.shape) for condition in conditions]
    if len(conditions) == len(funclist) - 1:
        conditions.append(~np.any(conditions, 0))
    elif len(conditions) != len(funclist):
        raise ValueError(f"np.piecewise: with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} "
                         "functions are expected")
    y = ops.zeros_like(x)
    for condition, function in zip(conditions, funclist):
        value = function
        if callable(function):
            if not condition.any():
                continue
            value = function(ops.getitem(x, condition), *args, **kw)
        y = ops.index_put(y, condition, value)
    return y


def at_least(operator):
    """A function of several arrays: one array gives one tensor, several give a tuple."""

    def call(*arrays):
        results = tuple(operator(array) for array in arrays)
        if len(results) > 1:
            return results
        return results[0].numpy() if asked_by_solver() and not results[0].requires_grad else results[0]

    return call


def block(arrays):
    depth, leaves = depth_of(arrays), []
    collect(arrays, leaves, depth, 0)
    ndim = max([depth, *(leaf.ndim for leaf in leaves)])
    return laid(arrays, iter(leaves), depth, ndim)


def depth_of(arrays):
    return 1 + depth_of(arrays[0]) if isinstance(arrays, list) and arrays else int(isinstance(arrays, list))


def collect(arrays, leaves, depth, level):
    """Append the arrays in nested lists to `leaves`, in order."""
    if isinstance(arrays, tuple):
        raise TypeError("np.block: only lists can be used to arrange blocks, not tuples")
    if isinstance(arrays, list):
        if not arrays:
            raise ValueError("np.block: list depths are mismatched, or a list is empty")
        for item in arrays:
            collect(item, leaves, depth, level + 1)
    elif level != depth:
        raise ValueError("np.block: list depths are mismatched")
    else:
        leaves.append(asarray(arrays))


def laid(arrays, leaves, depth, ndim):
    if isinstance(arrays, list):
        return ops.concat([laid(item, leaves, depth - 1, ndim) for item in arrays], -depth)
    leaf = next(leaves)
    return ops.reshape(leaf, (1,) * (ndim - leaf.ndim) + leaf.shape) if leaf.ndim < ndim else ops.copy(leaf)


def choose(a, choices, out=None, mode="raise"):
    places, choices = values_of(a), [asarray(choice) for choice in choices]
    if places.dtype.kind not in "iub":
        raise TypeError(f"np.choose: a must be integers, got {places.dtype}")
    count, shape = len(choices), np.broadcast_shapes(places.shape, *(choice.shape for choice in choices))
    if mode == "raise" and ((places < 0) | (places >= count)).any():
        raise ValueError(f"np.choose: an element of a is not among the {count} choices")
    places = places.astype(np.intp) % count if mode == "wrap" else np.clip(places, 0, count - 1)
    choices = ops.stack([ops.broadcast_to(choice, shape) for choice in choices])
    found = ops.take_along_axis(choices, np.broadcast_to(places, shape)[None], 0)[0]
    return found if out is None else write_into(out, found, "np.choose")


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        return ops.cross(a, b, axis=axis)
    return ops.moveaxis(ops.cross(ops.moveaxis(asarray(a), axisa, -1), ops.moveaxis(asarray(b), axisb, -1)), -1, axisc)


def einsum(*operands, out=None, optimize=False):
    found = ops.einsum(*lettered(operands))
    return found if out is None else write_into(out, found, "np.einsum")


def lettered(operands):
    """The call with a string of letters, for operands that are each followed by their axis numbers."""
    if isinstance(operands[0], str):
        return operands
    lists, last = operands[1::2], operands[-1] if len(operands) % 2 else None
    letters = dict(zip(sorted({i for item in (*lists, *filter(None, [last])) for i in item if i is not Ellipsis}),
                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))  # fmt: skip

    def spelled(item):
        return "".join("..." if i is Ellipsis else letters[i] for i in item)

    text = ",".join(map(spelled, lists))
    return (text if last is None else f"{text}->{spelled(last)}"), *operands[: 2 * len(lists) : 2]


def gradient(f, *varargs, axis=None, edge_order=1):
    f = asarray(f)
    axes = tuple(range(f.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    steps = varargs * len(axes) if len(varargs) == 1 and np.ndim(varargs[0]) == 0 else varargs or (1.0,) * len(axes)
    if len(steps) != len(axes):
        raise TypeError("np.gradient: invalid number of arguments")
    found = [ops.gradient(f, step, place, edge_order) for step, place in zip(steps, axes)]
    return found[0] if len(found) == 1 else tuple(found)


def histogram(a, bins=10, range=None, density=None, weights=None):
    if isinstance(bins, str):
        return NotImplemented
    if np.ndim(bins):  # the edges themselves: the counts between them have no gradient
        if weights is not None or density:
            return NotImplemented
        return asarray(np.histogram(values_of(a), values_of(bins))[0]), asarray(bins)
    counts, edges = ops.histogram(a, int(bins), range, bool(density), weights)
    return counts if density or weights is not None else ops.astype(counts, np.intp), edges


def lstsq(a, b, rcond=None):
    a, b = asarray(a), asarray(b)
    rows, columns = a.shape
    if rcond == -1:
        rcond = np.finfo(a.dtype if a.dtype.kind in "fc" else np.float64).eps
    x, squares, rank, values = ops.lstsq(a, b, rcond)
    return x, squares if int(rank) == columns < rows else ops.zeros((0,), dtype=values.dtype), int(rank), values


def pad(array, pad_width, mode="constant", *, stat_length=None, constant_values=0, end_values=0, reflect_type="even"):
    array = asarray(array)
    made = mode == "linear_ramp" or mode in STATISTICS
    if callable(mode) or reflect_type != "even" or not made and stat_length is not None or made and array.dtype.kind not in "fc":
        return NotImplemented
    if isinstance(pad_width, dict):
        pad_width = widths_by_axis(pad_width, array.ndim)
    if not made and np.ndim(constant_values) == 0 and not isinstance(constant_values, TensorBase):
        return ops.pad(array, pad_width, mode, constant_values=constant_values)
    if not made and mode != "constant":
        return ops.pad(array, pad_width, mode)
    widths = np.broadcast_to(pad_width, (array.ndim, 2)).tolist()
    values = ops.broadcast_to(end_values if made else constant_values, (array.ndim, 2))
    reaches = np.broadcast_to(stat_length or 0, (array.ndim, 2)).tolist()
    for axis, (width, end, reach) in enumerate(zip(widths, values, reaches)):
        length = array.shape[axis]
        if mode == "constant":
            shapes = [[*array.shape[:axis], count, *array.shape[axis + 1 :]] for count in width]
            first, last = (ops.astype(ops.broadcast_to(value, shape), array.dtype) for value, shape in zip(end, shapes))
        elif mode == "linear_ramp":
            edges = ops.narrow(array, axis, 0, 1), ops.narrow(array, axis, length - 1, 1)
            first, last = (ramp(*sought, axis) for sought in zip(edges, end, width))
            last = ops.flip(last, axis)
        else:
            reach = [min(count, length) if stat_length is not None else length for count in reach]
            sides = ops.narrow(array, axis, 0, reach[0]), ops.narrow(array, axis, length - reach[1], reach[1])
            first, last = (ops.repeat(STATISTICS[mode](side, axis, True), count, axis) for side, count in zip(sides, width))
        array = ops.concat((first, array, last), axis)
    return array


def widths_by_axis(widths, ndim):
    found = [(0, 0)] * ndim
    for axis, width in widths.items():
        found[axis] = tuple(np.broadcast_to(width, 2).tolist())
    return found


STATISTICS = {"maximum": ops.max, "mean": ops.mean, "median": ops.median, "minimum": ops.min}


def ramp(edge, end, width, axis):
    """`width` equal steps from a number towards the edge, which is not included."""
    share = np.reshape(np.arange(width) / max(width, 1), [-1 if i == axis else 1 for i in range(edge.ndim)])
    share = share.astype(np.real(np.ones(0, edge.dtype)).dtype, copy=False)
    return ops.add(ops.multiply(1 - share, ops.astype(end, edge.dtype)), ops.multiply(share, edge))


def running(scan, start):
    """The array API's cumulative sums or products, which may start with the empty one."""

    def call(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        x = asarray(x) if dtype is None else ops.astype(x, dtype)
        if axis is None and x.ndim != 1:
            raise ValueError(f"np.cumulative_{scan.__name__[3:]}: axis must be given for an array of {x.ndim} axes")
        axis = axis or 0
        y = scan(x, axis)
        if include_initial:
            y = ops.concat([start((*y.shape[:axis], 1, *y.shape[axis:][1:]), dtype=y.dtype), y], axis)
        return y if out is None else write_into(out, y, f"np.cumulative_{scan.__name__[3:]}")

    return call


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    x = asarray(x)
    sizes = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    axes = tuple(range(x.ndim)) if axis is None else tuple(axis) if np.iterable(axis) else (axis,)
    if len(sizes) != len(axes):
        raise ValueError(f"np.lib.stride_tricks.sliding_window_view: window_shape has {len(sizes)} lengths for {len(axes)} axes")
    ndim = x.ndim
    for size, place in zip(sizes, axes):
        x = ops.windows(x, place if place >= 0 else place + ndim, size)
    return x


def unstack(x, /, *, axis=0):
    return tuple(ops.unstack(x, axis))


def real_if_close(a, tol=100):
    a = asarray(a)
    if a.dtype.kind != "c":
        return a
    limit = tol * np.finfo(a.dtype).eps if tol > 1 else tol
    return ops.real(a) if (np.abs(values_of(a).imag) < limit).all() else a


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True):
    ar = asarray(ar)
    _, *found = np.unique(values_of(ar), True, True, True, axis, equal_nan=equal_nan)
    y = ops.take(ops.ravel(ar) if axis is None else ar, found[0], axis or 0)
    asked = [asarray(part) for part, wanted in zip(found, (return_index, return_inverse, return_counts)) if wanted]
    return (y, *asked) if asked else y


PIECED = {
    np.apply_along_axis: apply_along_axis, np.atleast_1d: at_least(ops.atleast_1d), np.atleast_2d: at_least(ops.atleast_2d),
    np.atleast_3d: at_least(ops.atleast_3d), np.block: block, np.choose: choose, np.cross: cross, np.einsum: einsum,
    np.full_like: full_like, np.geomspace: geomspace, np.gradient: gradient, np.histogram: histogram,
    np.linalg.lstsq: lstsq, np.linspace: linspace, np.logspace: logspace, np.pad: pad, np.piecewise: piecewise,
    np.lib.stride_tricks.sliding_window_view: sliding_window_view, np.real_if_close: real_if_close, np.select: select,
    np.unique: unique,
}  # fmt: skip
if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    PIECED |= {
        np.cumulative_prod: running(ops.cumprod, ops.ones), np.cumulative_sum: running(ops.cumsum, ops.zeros),
        np.unstack: unstack,
    }  # fmt: skip

"""NumPy's functions that are made of several operators: choices by lists, blocks in lists, functions that call back or return
parts.

Owns their calls as compositions of operators.  A function with one operator is data (`generated.numpy_table`); a function that
writes into its argument is in `numpy_calls`.
"""

import numpy as np

from ..core.operand import asarray
from ..support.dispatch import ops
from .numpy_parameters import values_of


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
        if values_of(condition).dtype != bool:
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


def block(arrays):
    depth, leaves = depth_of(arrays), []
    collect(arrays, leaves, depth, 0)
    ndim = max([depth, *(leaf.ndim for leaf in leaves)])
    return laid(arrays, iter(leaves), depth, ndim)


def depth_of(arrays):
    return 1 + depth_of(arrays[0]) if isinstance(arrays, list) and arrays else int(isinstance(arrays, list))


def collect(arrays, leaves, depth, level):
    """The arrays in nested lists, in order."""
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
    if np.ndim(bins):  # the edges themselves: what lies between them is counted, and has no gradient
        if weights is not None or density:
            return NotImplemented
        return asarray(np.histogram(values_of(a), values_of(bins))[0]), asarray(bins)
    counts, edges = ops.histogram(a, int(bins), range, weights, bool(density))
    return counts if density or weights is not None else ops.astype(counts, np.intp), edges


def lstsq(a, b, rcond=None):
    if rcond is not None:
        return NotImplemented
    a, b = asarray(a), asarray(b)
    values, rows, columns = ops.svdvals(a), *a.shape
    limit = max(rows, columns) * np.finfo(values.dtype).eps * np.max(values_of(values), initial=0)
    rank = int(np.count_nonzero(values_of(values) > limit))
    x = ops.lstsq(a, b)
    rest = ops.subtract(b, ops.matmul(a, x))
    squares = ops.real(ops.sum(ops.multiply(rest, ops.conj(rest)), 0, b.ndim == 1))
    return x, squares if rank == columns < rows else ops.zeros((0,), dtype=values.dtype), rank, values


PIECED = {
    np.apply_along_axis: apply_along_axis, np.block: block, np.gradient: gradient, np.histogram: histogram,
    np.linalg.lstsq: lstsq, np.piecewise: piecewise, np.select: select,
}  # fmt: skip

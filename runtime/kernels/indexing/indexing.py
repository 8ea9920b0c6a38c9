"""Reading and writing array elements through indices; a repeated index accumulates unless a function says otherwise."""

import operator

import numpy as np

from . import elements_loops as across
from . import rows_loops as rows
from .add_at import add_at


def gather(x, axis, indices):
    """Elements of `x` at `indices` along `axis`, in place i of every other axis.

    Parameters
    ----------
    x : ndarray
    axis : int
    indices : ndarray of int
        As many axes as `x`, none of them longer except `axis`.

    Returns
    -------
    ndarray
        Has the shape of `indices`.
    """
    indices = _integers(indices)
    y = across.take_across(x, axis, indices)
    return x[_along(x, indices, axis)] if y is None else y


def getitem(x, index):
    """``x[index]`` as an array: a view, also of a single element, when the index is basic.

    Parameters
    ----------
    x : ndarray
    index : int, slice, None, Ellipsis, ndarray, list, or a tuple of these

    Returns
    -------
    ndarray
    """
    index, basic = _normalize(index)
    if basic and Ellipsis not in index:
        index += (Ellipsis,)
    if len(index) == 1 and not basic and index[0].dtype.kind in "iu" and x.ndim and x.flags.c_contiguous:
        return rows.take(x, index[0], 0)  # half again as fast, but it copies what is not contiguous
    return x[index]


def getitem_backward(x, index, shape):
    """Zeros of the given shape with `x` added at `index`.

    Parameters
    ----------
    x : ndarray
        Broadcasts to the shape of ``y[index]``.
    index : as in getitem
    shape : tuple of int

    Returns
    -------
    ndarray
    """
    y = np.zeros(shape, x.dtype)
    index, _ = _normalize(index)
    if _has_integers(index):
        add_at(y, index, x)
    else:
        y[index] = x
    return y


def index_add(x, axis, indices, source):
    """A copy of `x` to which index_add_ was applied."""
    return index_add_(np.array(x, np.result_type(x, source)), axis, indices, source)


def index_add_(x, axis, indices, source):
    """Adds slice i of `source` to slice ``indices[i]`` of `x` along `axis`.

    Parameters
    ----------
    x : ndarray
        Changed and returned.
    axis : int
    indices : ndarray of int
    source : ndarray

    Returns
    -------
    ndarray
    """
    add_at(x, _axis_index(indices, axis, x.ndim), source)
    return x


def index_put(x, index, value):
    """A copy of `x` to which index_put_ was applied."""
    return index_put_(np.array(x), index, value)


def index_put_(x, index, value):
    """``x[index] = value``; where an index is repeated the last value stays.

    Parameters
    ----------
    x : ndarray
        Changed and returned.
    index : as in getitem
    value : ndarray or scalar
        Broadcasts to the shape of ``x[index]``.

    Returns
    -------
    ndarray
    """
    x[_normalize(index)[0]] = value
    return x


def index_put_backward(x, index, shape):
    """The adjoint of assigning a value of the given shape to ``x[index]``.

    Parameters
    ----------
    x : ndarray
    index : as in getitem
    shape : tuple of int
        Broadcasts to the shape of ``x[index]``.

    Returns
    -------
    ndarray
        ``x[index]``, zero where a later value was written to the same element, summed to `shape`.
    """
    index, basic = _normalize(index)
    y = np.asarray(x[index])
    if not basic and _has_integers(index):
        turns = np.arange(y.size).reshape(y.shape)
        last = np.empty(x.shape, turns.dtype)
        last[index] = turns
        y = y * (last[index] == turns)
    y = _sum_to(y, shape)
    return y.copy() if np.may_share_memory(y, x) else y


def kept(index, length):
    """The numbers below `length` without those that `index` names.

    Parameters
    ----------
    index : int, slice or array_like of int or bool
    length : int

    Returns
    -------
    ndarray of int
    """
    return np.delete(np.arange(length), index)


def masked_fill_(x, mask, value):
    """Writes `value` into `x` where `mask` is true.

    Parameters
    ----------
    x : ndarray
        Changed and returned.
    mask : ndarray of bool
    value : ndarray or scalar

    Returns
    -------
    ndarray
    """
    np.copyto(x, value, where=mask)
    return x


def last_written(indices, axis, shape):
    """Whether scatter with these indices leaves what it writes, and writes to no such place again.

    Parameters
    ----------
    indices : ndarray of int
    axis : int
    shape : tuple of int
        Of the array that is written to.

    Returns
    -------
    ndarray of bool
        Has the shape of `indices`.
    """
    indices = _integers(indices)
    found = across.last_across(shape, axis, indices)
    if found is not None:
        return found
    turns = np.arange(indices.size).reshape(indices.shape)
    last = np.empty(shape, turns.dtype)
    index = _along(last, indices, axis)
    last[index] = turns
    return last[index] == turns


def scatter(x, axis, indices, source):
    """A copy of `x` to which scatter_ was applied."""
    return scatter_(np.array(x), axis, indices, source)


def scatter_(x, axis, indices, source):
    """Writes ``source[..., i, ...]`` to ``x[..., indices[..., i, ...], ...]``; of equal indices the last one stays.

    Parameters
    ----------
    x : ndarray
        Changed and returned.
    axis, indices, source
        As in scatter_add_.

    Returns
    -------
    ndarray
    """
    indices = _integers(indices)
    if np.may_share_memory(x, source):
        source = source.copy()
    if not across.put_across(x, axis, indices, source):
        x[_along(x, indices, axis)] = source
    return x


def scatter_add(x, axis, indices, source):
    """A copy of `x` to which scatter_add_ was applied."""
    return scatter_add_(np.array(x, np.result_type(x, source)), axis, indices, source)


def scatter_add_(x, axis, indices, source):
    """Adds ``source[..., i, ...]`` to ``x[..., indices[..., i, ...], ...]``.

    Parameters
    ----------
    x : ndarray
        Changed and returned.
    axis : int
    indices : ndarray of int
        As many axes as `x`, none of them longer except `axis`.
    source : ndarray
        Broadcasts to the shape of `indices`.

    Returns
    -------
    ndarray
    """
    indices = _integers(indices)
    if not across.add_across(x, axis, indices, source):
        add_at(x, _along(x, indices, axis), source)
    return x


def take_along_axis(x, indices, axis):
    """``np.take_along_axis``, of lists too.

    Parameters
    ----------
    x : ndarray
    indices : ndarray of int
    axis : int or None

    Returns
    -------
    ndarray
    """
    indices = _integers(indices)
    y = None if axis is None else across.take_across(x, axis, indices)
    return np.take_along_axis(x, indices.reshape(-1) if axis is None else indices, axis) if y is None else y


def take_along_axis_backward(x, indices, shape, axis):
    """Zeros of the given shape with `x` added where np.take_along_axis would have taken it from.

    Parameters
    ----------
    x : ndarray
    indices : ndarray of int
    shape : tuple of int
    axis : int or None

    Returns
    -------
    ndarray
    """
    y, indices = np.zeros(shape, x.dtype), _integers(indices)
    if axis is None:
        add_at(y.reshape(-1), (indices.reshape(-1),), x)
    elif not across.add_across(y, axis, indices, x):
        add_at(y, _open_index(indices, axis, shape), x)
    return y


def take_backward(x, indices, shape, axis):
    """Zeros of the given shape with `x` added where np.take would have taken it from.

    Parameters
    ----------
    x : ndarray
    indices : ndarray of int
    shape : tuple of int
    axis : int or None

    Returns
    -------
    ndarray
    """
    y = np.zeros(shape, x.dtype)
    flat = y.reshape(-1) if axis is None else y
    add_at(flat, _axis_index(indices, axis or 0, flat.ndim), x)
    return y


def _normalize(index):
    """The index as a tuple, lists as arrays, and whether it is basic, so that indexing makes a view."""
    if not isinstance(index, tuple):
        # NumPy has no use for a list that holds slices; PyTorch reads it as a tuple.
        several = isinstance(index, list) and any(i is None or i is Ellipsis or isinstance(i, slice) for i in index)
        index = tuple(index) if several else (index,)
    parts, basic = [], True
    for part in index:
        if part is None or part is Ellipsis or isinstance(part, slice) or type(part) is int:
            parts.append(part)
            continue
        array = part if isinstance(part, np.ndarray) else np.asarray(part)
        if array.size == 0 and not isinstance(part, np.ndarray):
            array = array.astype(np.intp)
        if array.ndim == 0 and array.dtype.kind in "iu":
            parts.append(operator.index(array[()]))
        else:
            parts.append(array)
            basic = False
    return tuple(parts), basic


def _has_integers(index):
    """Whether an index of _normalize holds an integer array, so that an element may stand in it twice."""
    return any(isinstance(part, np.ndarray) and part.dtype.kind in "iu" for part in index)


def _integers(indices):
    indices = np.asarray(indices)
    if indices.dtype.kind not in "iub" and indices.size:
        raise IndexError(f"indices must be integers, got {indices.dtype}")
    return indices.astype(np.intp) if indices.size == 0 else indices


def _axis_index(indices, axis, ndim):
    """The index that takes `indices` along one axis."""
    return (slice(None),) * operator.index(axis % max(ndim, 1)) + (_integers(indices),)


def _open_index(indices, axis, shape):
    """The index that takes `indices` along `axis` and place i along every other axis of the given shape."""
    ndim = len(shape)
    if indices.ndim != ndim:
        raise ValueError(f"indices have {indices.ndim} axes, the array has {ndim}")
    places = [np.arange(n).reshape((-1,) + (1,) * (ndim - 1 - i)) for i, n in enumerate(shape)]
    places[axis] = indices
    return tuple(places)


def _along(x, indices, axis):
    """The index into `x` that takes `indices` along `axis`, which may be shorter than `x` along every axis."""
    if indices.ndim != x.ndim:
        raise ValueError(f"indices have {indices.ndim} axes, the array has {x.ndim}")
    return _open_index(indices, axis, indices.shape)


def _sum_to(x, shape):
    """`x` summed to a shape that broadcasts to its own; leading axes of length 1 may be more than x has."""
    inner = tuple(shape)[max(len(shape) - x.ndim, 0) :]
    lead = x.ndim - len(inner)
    axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(inner) if n == 1 and x.shape[lead + i] != 1)
    return (x.sum(axes) if axes else x).reshape(shape)

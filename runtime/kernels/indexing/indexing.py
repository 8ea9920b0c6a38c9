"""Read and write array elements with indices of any kind; adjoints accumulate at repeated indices."""

import operator

import numpy as np

from ..loops.copying import copy_of, zeros_of
from .gathering_loops import take
from .scattering import add_at


def getitem(x, index):
    """``x[index]`` as an array: a view, also of a single element, if the index is basic.

    Parameters
    ----------
    x : ndarray
    index : int, slice, None, Ellipsis, ndarray, list, or a tuple of these

    Returns
    -------
    ndarray
    """
    index, basic = normalize(index)
    if basic and Ellipsis not in index:
        index += (Ellipsis,)
    if len(index) == 1 and not basic and index[0].dtype.kind in "iu" and x.ndim and x.flags.c_contiguous:
        return take(x, index[0], 0)  # 50 per cent faster, but copies arrays that are not contiguous
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
    y = zeros_of(shape, x)
    index, _ = normalize(index)
    if has_integers(index):
        add_at(y, index, x)
    else:
        y[index] = x
    return y


def index_put(x, index, value, accumulate=False):
    """A copy of `x` with index_put_ applied."""
    return index_put_(copy_of(x), index, value, accumulate)


def index_put_(x, index, value, accumulate=False):
    """``x[index] = value``; if an index is repeated the last value remains, or with `accumulate` all values are added.

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
    index, _ = normalize(index)
    if not accumulate:
        x[index] = value
    elif has_integers(index):
        add_at(x, index, value)
    else:
        x[index] += np.asarray(value).astype(x.dtype, copy=False)
    return x


def index_put_backward(x, index, shape, accumulate=False):
    """The adjoint of assigning a value of the given shape to ``x[index]``, or of adding it there.

    Parameters
    ----------
    x : ndarray
    index : as in getitem
    shape : tuple of int
        Broadcasts to the shape of ``x[index]``.

    Returns
    -------
    ndarray
        ``x[index]``, zero for elements that were overwritten by a later value, summed to `shape`.
    """
    index, basic = normalize(index)
    y = np.asarray(x[index])
    if not accumulate and not basic and has_integers(index):
        turns = np.arange(y.size).reshape(y.shape)
        last = np.empty(x.shape, turns.dtype)
        last[index] = turns
        y = y * (last[index] == turns)
    y = _sum_to(y, shape)
    return copy_of(y) if np.may_share_memory(y, x) else y


def normalize(index):
    """The index as a tuple with lists converted to arrays, and whether it is basic, so that indexing returns a view."""
    if not isinstance(index, tuple):
        # NumPy does not accept a list that contains slices; PyTorch reads it as a tuple.
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


def has_integers(index):
    """Whether a normalized index contains an integer array, so that it may select an element twice."""
    return any(isinstance(part, np.ndarray) and part.dtype.kind in "iu" for part in index)


def _sum_to(x, shape):
    """`x` summed to a shape that broadcasts to its own; the shape may have more leading axes, of length 1, than x."""
    inner = tuple(shape)[max(len(shape) - x.ndim, 0) :]
    lead = x.ndim - len(inner)
    axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(inner) if n == 1 and x.shape[lead + i] != 1)
    return (x.sum(axes) if axes else x).reshape(shape)

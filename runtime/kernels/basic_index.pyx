"""Indexing by basic indices, of integers, slices, None and Ellipsis: the quick way of the kernels in `indexing`.

Owns the test for a basic index.  Anything else goes to the general kernels.
"""

cimport numpy as cnp
from numpy cimport ndarray

import numpy as np

from ..capi cimport PyArray_CheckExact
from . import indexing

cnp.import_array()


cdef inline bint is_basic_part(object part) noexcept:
    return type(part) is int or type(part) is slice or part is None or part is Ellipsis


cdef bint is_basic(object index) noexcept:
    if type(index) is tuple:
        for part in <tuple> index:
            if not is_basic_part(part):
                return False
        return True
    return is_basic_part(index)


def getitem(x, index):
    """``x[index]`` as an array: a view, also of a single element, when the index is basic."""
    if not is_basic(index):
        return indexing.getitem(x, index)
    found = x[index]
    if PyArray_CheckExact(found):
        return found
    return x[(*index, ...) if type(index) is tuple else (index, ...)]


def getitem_backward(x, index, shape):
    """Zeros of the given shape with `x` added at `index`."""
    cdef ndarray y
    if not is_basic(index):
        return indexing.getitem_backward(x, index, shape)
    y = np.zeros(shape, x.dtype)
    y[index] = x
    return y


def index_put(x, index, value):
    """A copy of `x` to which index_put_ was applied."""
    return index_put_(np.array(x), index, value)


def index_put_(x, index, value):
    """``x[index] = value``; where an index is repeated the last value stays."""
    if not is_basic(index):
        return indexing.index_put_(x, index, value)
    x[index] = value
    return x


def index_put_backward(x, index, shape):
    """The adjoint of assigning a value of the given shape to ``x[index]``."""
    if is_basic(index):
        found = x[index]
        if PyArray_CheckExact(found) and found.shape == shape:
            return found.copy()
    return indexing.index_put_backward(x, index, shape)

"""Indexing by integers, slices, None and Ellipsis: the fast path of the kernels in `indexing`.

Decides whether an index is basic; all other indices are left to the kernels of `indexing`.
"""

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ITEMSIZE, PyArray_NBYTES, PyArray_NDIM, PyArray_STRIDES, ndarray, npy_intp,
)
from . import indexing
from ..loops.copying cimport LARGE, copy_into, copy_of, zeros_of

__all__ = ["copy_", "getitem", "getitem_backward", "index_put", "index_put_", "index_put_backward"]

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
    """``x[index]`` as an array: a view, also of a single element, if the index is basic."""
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
    y = zeros_of(shape, x)
    if PyArray_CheckExact(x) and PyArray_NBYTES(x) >= LARGE:
        copy_into(getitem(y, index), x)
    else:
        y[index] = x
    return y


def index_put(x, index, value, bint accumulate=False):
    """A copy of `x` with index_put_ applied."""
    return index_put_(copy_of(x), index, value, accumulate)


cdef bint span(ndarray array, char** low, char** high) noexcept:
    """Find the addresses of the first and past the last byte of an array's elements; False for an empty array."""
    cdef int i
    cdef npy_intp step
    low[0], high[0] = PyArray_BYTES(array), PyArray_BYTES(array) + PyArray_ITEMSIZE(array)
    for i in range(PyArray_NDIM(array)):
        if PyArray_DIMS(array)[i] == 0:
            return False
        step = (PyArray_DIMS(array)[i] - 1) * PyArray_STRIDES(array)[i]
        if step > 0:
            high[0] += step
        else:
            low[0] += step
    return True


cdef bint overlap(ndarray a, ndarray b) noexcept:
    """Whether the memory spans of two arrays overlap."""
    cdef char* a_low
    cdef char* a_high
    cdef char* b_low
    cdef char* b_high
    return span(a, &a_low, &a_high) and span(b, &b_low, &b_high) and a_low < b_high and b_low < a_high


def index_put_(x, index, value, bint accumulate=False):
    """``x[index] = value``; if an index is repeated the last value remains, or with `accumulate` all values are added.

    A value that overlaps `x` is copied first, because NumPy may otherwise read elements that it has just written.
    """
    if PyArray_CheckExact(value) and PyArray_CheckExact(x) and overlap(x, value):
        value = copy_of(value)
    if accumulate or not is_basic(index):
        return indexing.index_put_(x, index, value, accumulate)
    if PyArray_CheckExact(x) and PyArray_NBYTES(x) >= LARGE:
        part = x[index]
        if PyArray_CheckExact(part):
            copy_into(part, value)
            return x
    x[index] = value
    return x


def copy_(x, source):
    """Write `source`, broadcast and cast, into `x`, and return `x`; all of `source` is read first."""
    return index_put_(x, ..., source)


def index_put_backward(x, index, shape, bint accumulate=False):
    """The adjoint of assigning a value of the given shape to ``x[index]``, or of adding it there."""
    if is_basic(index):
        found = x[index]
        if PyArray_CheckExact(found) and found.shape == shape:
            return copy_of(found)
    return indexing.index_put_backward(x, index, shape, accumulate)

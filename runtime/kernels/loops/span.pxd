"""Where the axes of a reduction lie in a contiguous array: outer x length x inner, if they lie together."""

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_DIMS, PyArray_NDIM, PyArray_TYPE, ndarray, npy_intp
from .memory cimport empty

cdef enum:
    DIMENSIONS = 64

cdef struct Span:
    npy_intp outer      # the array is outer x length x inner,
    npy_intp length     # with the axis in the middle
    npy_intp inner
    int first           # the axes that it is made of
    int last


cdef inline bint find_span(ndarray x, object axis, Span* span):
    """Where the axes of a reduction lie; False where they do not lie together, or are none."""
    cdef int ndim = PyArray_NDIM(x), i, count = 0
    cdef npy_intp* dims = PyArray_DIMS(x)
    cdef bint[DIMENSIONS] given
    if type(axis) is int and -ndim <= axis < ndim:
        span.first = span.last = axis + ndim if axis < 0 else axis
    elif axis is None and ndim:
        span.first, span.last = 0, ndim - 1
    elif type(axis) is tuple and axis:
        for i in range(ndim):
            given[i] = False
        span.first, span.last = ndim, -1
        for place in <tuple> axis:
            i = place
            i = i + ndim if i < 0 else i
            if not 0 <= i < ndim or given[i]:
                return False
            given[i] = True
            count += 1
            span.first, span.last = min(span.first, i), max(span.last, i)
        if span.last - span.first + 1 != count:
            return False
    else:
        return False
    span.outer = span.length = span.inner = 1
    for i in range(ndim):
        if i < span.first:
            span.outer *= dims[i]
        elif i <= span.last:
            span.length *= dims[i]
        else:
            span.inner *= dims[i]
    return True


cdef inline ndarray empty_reduced(ndarray x, Span* span, bint keepdims):
    """A new array of the shape of `x` without those axes, or with 1 in their place."""
    cdef npy_intp[DIMENSIONS] dims
    cdef int i, ndim = 0
    for i in range(PyArray_NDIM(x)):
        if keepdims or not span.first <= i <= span.last:
            dims[ndim] = 1 if span.first <= i <= span.last else PyArray_DIMS(x)[i]
            ndim += 1
    return empty(ndim, dims, PyArray_TYPE(x))

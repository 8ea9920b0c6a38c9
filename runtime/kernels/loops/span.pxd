"""View a contiguous array as outer x length x inner, with the axes of a reduction in the middle if they are adjacent."""

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_DIMS, PyArray_NDIM, PyArray_TYPE, ndarray, npy_intp
from .memory cimport empty

cdef enum:
    DIMENSIONS = 64

cdef struct Span:
    npy_intp outer      # the array is outer x length x inner,
    npy_intp length     # with the axis in the middle
    npy_intp inner
    int first           # the first and the last axis of the reduction
    int last


cdef inline bint find_span(ndarray x, object axis, Span* span):
    """Find the span of a reduction's axes; False if there are none or they are not adjacent."""
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
    """A new array with the shape of `x` without those axes, or with length 1 for each."""
    cdef npy_intp[DIMENSIONS] dims
    cdef int i, ndim = 0
    for i in range(PyArray_NDIM(x)):
        if keepdims or not span.first <= i <= span.last:
            dims[ndim] = 1 if span.first <= i <= span.last else PyArray_DIMS(x)[i]
            ndim += 1
    return empty(ndim, dims, PyArray_TYPE(x))

"""Sums and means along axes, and broadcasting back, without NumPy's iterators: every loss ends in one of them.

Owns which arrays need no iterator: plain ones of an inexact dtype whose reduced axes lie together, summed by NumPy's own inner
loop in NumPy's order, so that results are NumPy's to the bit.  `folds` and `reductions` take the others, and whatever raised
a floating-point flag.  Knows nothing of autograd.
"""

from libc.string cimport memset

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE, ndarray,
    npy_intp,
)
from . import folds, reductions
from ..loops.axes cimport view_of
from ..loops.flags cimport fp_clear, fp_raised
from ..program.by_name cimport as_array
from ..loops.plain cimport is_plain, item_size, slot_of
from ..loops.span cimport DIMENSIONS, Span, empty_reduced, find_span
from ..loops.threads cimport GRAIN
from ..program.ufunc cimport PyUFuncGenericFunction, Ufunc

cnp.import_array()

cdef enum:
    SHORT = 8           # elements of a row below which `folds` is quicker

cdef Ufunc _add = Ufunc(np.add, "add")


cdef struct Sum:
    PyUFuncGenericFunction add
    void* data
    Span span
    npy_intp item
    char* x
    char* y


cdef void add_up(Sum* sum) noexcept nogil:
    """Into `y`, which is zero, the sums of `x`: of each row as a whole, or row upon row where the rows are what stays."""
    cdef Span span = sum.span
    cdef npy_intp i, j, row = span.inner * sum.item
    cdef npy_intp[3] within = [0, sum.item, 0], upon = [sum.item, sum.item, sum.item]
    cdef char* args[3]
    for i in range(span.outer):
        args[0] = args[2] = sum.y + i * row
        if span.inner == 1:
            args[1] = sum.x + i * span.length * row
            sum.add(args, &span.length, within, sum.data)
            continue
        for j in range(span.length):
            args[1] = sum.x + (i * span.length + j) * row
            sum.add(args, &span.inner, upon, sum.data)


cdef ndarray summed(object x, object axis, bint keepdims, Span* span):
    """The sum; None where NumPy has to do it."""
    cdef Sum sum
    cdef ndarray x_, y
    cdef int slot
    if not PyArray_CheckExact(x) or not is_plain(x):
        return None
    x_ = x
    slot = slot_of(PyArray_TYPE(x_))
    if slot < 0 or not find_span(x_, axis, span) or PyArray_SIZE(x_) == 0:
        return None
    if span.inner == 1 and span.outer > 1 and span.length < SHORT:
        return None
    y = empty_reduced(x_, span, keepdims)
    sum.add, sum.data, sum.span, sum.item = _add.loops[slot], _add.loop_data[slot], span[0], item_size(slot)
    sum.x, sum.y = PyArray_BYTES(x_), PyArray_BYTES(y)
    memset(sum.y, 0, span.outer * span.inner * sum.item)
    fp_clear()
    if PyArray_SIZE(x_) < GRAIN:
        add_up(&sum)
        return None if fp_raised() else y
    with nogil:
        add_up(&sum)
        raised = fp_raised()
    return None if raised else y


def sum_along(x, axis, keepdims):
    """Sum along `axis`, as `folds.sum_along`."""
    cdef Span span
    y = summed(x, axis, keepdims, &span)
    return folds.sum_along(x, axis, keepdims) if y is None else y


def mean_along(x, axis, keepdims):
    """Arithmetic mean along `axis`.

    Parameters
    ----------
    x : ndarray
    axis : int, tuple of int or None
    keepdims : bool

    Returns
    -------
    ndarray
    """
    cdef Span span
    cdef ndarray y = None
    cdef npy_intp i
    if PyArray_CheckExact(x) and PyArray_TYPE(x) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        y = summed(x, axis, keepdims, &span)
    if y is None:
        return np.mean(x, axis=axis, keepdims=keepdims)
    for i in range(PyArray_SIZE(y)):
        if PyArray_TYPE(y) == cnp.NPY_FLOAT32:
            (<float*> PyArray_BYTES(y))[i] = <float> ((<float*> PyArray_BYTES(y))[i] / <double> span.length)
        else:
            (<double*> PyArray_BYTES(y))[i] /= <double> span.length
    return y


cpdef object sum_to(object x, object shape):
    """Sum over the axes along which an array of the given shape is broadcast to `x`.

    Parameters
    ----------
    x : ndarray
    shape : tuple of int

    Returns
    -------
    ndarray
        New memory, also where there is nothing to sum.
    """
    x = np.asarray(x)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    cdef int i, extra = x.ndim - len(shape)
    axes = tuple([i for i in range(x.ndim) if i < extra or shape[i - extra] == 1 != x.shape[i]])
    if len(axes) == extra:  # the leading ones alone
        return as_array(sum_along(x, axes, False))
    y = as_array(sum_along(x, axes, True))
    return y.reshape(shape) if extra else y


def unreduce(x, shape, axis, keepdims):
    """Broadcast a reduced array back along the axes that were reduced, as `reductions.unreduce`."""
    y = broadcast_back(x, shape, axis, keepdims) if PyArray_CheckExact(x) and type(shape) is tuple else None
    return reductions.unreduce(x, shape, axis, keepdims) if y is None else y


cdef ndarray broadcast_back(ndarray x, tuple shape, object axis, bint keepdims):
    """The view, with strides of 0 along those axes; None where NumPy has to say what does not fit."""
    cdef npy_intp[DIMENSIONS] dims, strides
    cdef bint[DIMENSIONS] reduced
    cdef int ndim = len(shape), i, j = 0
    if ndim > DIMENSIONS:
        return None
    for i in range(ndim):
        reduced[i] = axis is None
    if axis is not None:
        for place in axis if type(axis) is tuple else (axis,):
            i = place
            if not -ndim <= i < ndim:
                return None
            reduced[i + ndim if i < 0 else i] = True
    for i in range(ndim):
        dims[i], strides[i] = shape[i], 0
        if reduced[i] and not keepdims:
            continue
        if j == PyArray_NDIM(x) or PyArray_DIMS(x)[j] != (1 if reduced[i] else dims[i]):
            return None
        if not reduced[i]:
            strides[i] = PyArray_STRIDES(x)[j]
        j += 1
    if j != PyArray_NDIM(x):
        return None
    return view_of(x, ndim, dims, strides, PyArray_BYTES(x), 0)

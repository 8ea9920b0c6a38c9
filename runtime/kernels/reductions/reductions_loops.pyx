"""Sums, means and extremes along axes, and their adjoints, without NumPy's iterators: every loss ends in one of them.

Covers arrays that need no iterator: plain arrays of an inexact dtype with adjacent reduced axes, and rows at equal distances.
NumPy's own inner loops reduce them, in NumPy's order, so results equal NumPy's to the bit.  The module `reductions` handles all
other arrays, and arrays that raised a floating-point flag.  Does not depend on autograd.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE, ndarray,
    npy_intp,
)
from . import reductions
from .pairwise cimport PIECE, AddColumns, AddRow, AddRows, Join, add_columns, add_row, add_rows, cut, join, most_pieces
from .sums import offer_sum
from ..loops.axes cimport view_of
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.plain cimport is_plain, item_size, slot_of
from ..loops.span cimport DIMENSIONS, Span, empty_reduced, find_span
from ..loops.threads cimport GRAIN, parallel
from ..fusion_engine.broadcast cimport Rows, find_rows
from ..fusion_engine.by_name cimport as_array
from ..fusion_engine.ufunc cimport PyUFuncGenericFunction, Ufunc

__all__ = ["max_along", "mean_along", "min_along", "nansum", "sum_along", "sum_to", "unreduce"]

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISBEHAVED_RO(ndarray)

cdef enum:
    SHORT = 8           # elements of a row; below it combining slices is faster than calling NumPy's loop for each row,
    WORTH = 1 << 11     # in an array of at least so many elements
    CHUNK = 1 << 13     # elements that make a task for a thread worthwhile
    COLUMNS = 128       # columns that are added at a time,
    MORE_COLUMNS = 1024  # or combined by NumPy's loop, which is slow to begin

offer_sum("sum", lambda shape, axis, keepdims: axis)
offer_sum("mean", lambda shape, axis, keepdims: axis, mean=True)
offer_sum("_sum_to", lambda whole, shape: axes_to(whole, shape))

cdef Ufunc _add = Ufunc(np.add, "add")
cdef Ufunc _maximum = Ufunc(np.maximum, "maximum")
cdef Ufunc _minimum = Ufunc(np.minimum, "minimum")


cdef struct Reduction:
    PyUFuncGenericFunction loop
    void* data
    Span span
    npy_intp item
    npy_intp pitch      # bytes between the starts of adjacent rows
    npy_intp wide       # columns that are reduced at a time
    AddRow add          # our own loops for sums, NULL for other reductions; for complex numbers only the last one
    AddRows add_rows    # for adjacent rows
    AddColumns add_columns
    bint from_zero      # the result begins as zero, otherwise as the first element
    bint raised         # a floating-point flag was raised in some part
    char* x
    char* y
    int parts           # real numbers in an element
    npy_intp pieces     # of a long row
    npy_intp* starts    # first numbers of the pieces, and the end of the row
    char* sums          # of the pieces of all rows


cdef inline void reduce_row(Reduction* job, char* x, char* y, npy_intp length) noexcept nogil:
    """Reduce contiguous elements."""
    cdef npy_intp rest = length - (not job.from_zero)
    cdef npy_intp[3] steps = [0, job.item, 0]
    cdef char* args[3]
    if job.add != NULL:
        job.add(x, y, length)
        return
    if job.from_zero:
        memset(y, 0, job.item)
    else:
        memcpy(y, x, job.item)
    args[0], args[1], args[2] = y, x + (length - rest) * job.item, y
    if rest:
        job.loop(args, &rest, steps, job.data)


cdef void reduce_rows(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Reduce some rows, each as a whole."""
    cdef Reduction* job = <Reduction*> context
    cdef npy_intp i
    fp_clear()
    if job.add != NULL and job.pitch == job.span.length * job.item:
        job.add_rows(job.x + start * job.pitch, job.y + start * job.item, stop - start, job.span.length)
    else:
        for i in range(start, stop):
            reduce_row(job, job.x + i * job.pitch, job.y + i * job.item, job.span.length)
    if fp_raised():
        job.raised = True


cdef void reduce_columns(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Reduce row upon row, some columns at a time."""
    cdef Reduction* job = <Reduction*> context
    cdef npy_intp inner = job.span.inner, blocks = blocks_of(job), i, j, column, wide
    cdef npy_intp[3] steps = [job.item, job.item, job.item]
    cdef char* args[3]
    cdef char* x
    cdef char* y
    fp_clear()
    for i in range(start, stop):
        column = i % blocks * job.wide
        wide = min(inner - column, job.wide)
        x, y = job.x + i // blocks * job.pitch + column * job.item, job.y + (i // blocks * inner + column) * job.item
        if job.from_zero:
            job.add_columns(x, y, job.span.length, inner * job.parts, wide * job.parts)
            continue
        memcpy(y, x, wide * job.item)
        for j in range(1, job.span.length):
            args[0], args[1], args[2] = y, x + j * inner * job.item, y
            job.loop(args, &wide, steps, job.data)
    if fp_raised():
        job.raised = True


cdef inline npy_intp blocks_of(Reduction* job) noexcept nogil:
    return (job.span.inner + job.wide - 1) // job.wide


cdef void add_pieces(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Add some pieces of long rows."""
    cdef Reduction* job = <Reduction*> context
    cdef npy_intp i, number = job.item // job.parts
    cdef npy_intp* piece
    fp_clear()
    for i in range(start, stop):
        piece = job.starts + i % job.pieces
        reduce_row(job, job.x + i // job.pieces * job.pitch + piece[0] * number, job.sums + i * job.item,
                   (piece[1] - piece[0]) // job.parts)
    if fp_raised():
        job.raised = True


cdef bint add_long_rows(Reduction* job, Join joined) noexcept nogil:
    """Add long rows by their pieces; False if an allocation fails."""
    cdef npy_intp numbers = job.span.length * job.parts
    job.starts, job.sums = <npy_intp*> malloc((most_pieces(numbers) + 1) * sizeof(npy_intp)), NULL
    if job.starts != NULL:
        job.pieces = cut(0, numbers, job.starts)
        job.sums = <char*> malloc(job.span.outer * job.pieces * job.item)
    if job.sums != NULL:
        parallel(add_pieces, job, job.span.outer * job.pieces, 1)
        fp_clear()
        joined(job.sums, job.y, job.span.outer, numbers, job.pieces, job.parts)
        if fp_raised():
            job.raised = True
    free(job.starts)
    free(job.sums)
    return job.sums != NULL


cdef npy_intp pitch_of(ndarray x, Span* span, npy_intp item) noexcept:
    """Bytes between adjacent rows, for a plain array or reduced rows; 0 if rows are not at equal distances."""
    cdef Rows rows
    if is_plain(x):
        return span.length * span.inner * item
    if span.first != PyArray_NDIM(x) - 1 or span.length == 1 or not find_rows(x, PyArray_NDIM(x), PyArray_DIMS(x), item, &rows):
        return 0
    if rows.step != item or rows.length != span.length or rows.period != rows.count:
        return 0
    return rows.stride if rows.stride >= span.length * item or -rows.stride >= span.length * item else 0


cdef ndarray reduced(Ufunc ufunc, object x, object axis, bint keepdims, Span* span, bint known=False):
    """The reduction by the ufunc; None if NumPy has to do it."""
    cdef Reduction job
    cdef ndarray x_, y
    cdef int slot
    cdef bint done = True
    if not PyArray_CheckExact(x) or not PyArray_ISBEHAVED_RO(x):
        return None
    x_ = x
    slot = slot_of(PyArray_TYPE(x_))
    if slot < 0 or not find_span(x_, axis, span) or PyArray_SIZE(x_) == 0:
        return None
    job.pitch = pitch_of(x_, span, item_size(slot))
    if job.pitch == 0 or known and slot > 1:
        return None
    if span.inner == 1 and span.outer > 1 and span.length < SHORT and PyArray_SIZE(x_) >= WORTH and (ufunc is not _add or slot > 1):
        return None
    y = empty_reduced(x_, span, keepdims)
    job.loop, job.data, job.span, job.item = ufunc.loops[slot], ufunc.loop_data[slot], span[0], item_size(slot)
    job.from_zero, job.raised, job.x, job.y = ufunc is _add, False, PyArray_BYTES(x_), PyArray_BYTES(y)
    job.parts, job.wide = 2 if slot > 1 else 1, COLUMNS if job.from_zero else MORE_COLUMNS
    job.add, job.add_columns = add_row[known][slot & 1] if job.from_zero and slot < 2 else NULL, add_columns[known][slot & 1]
    job.add_rows = add_rows[known][slot & 1]
    if PyArray_SIZE(x_) < GRAIN:
        if span.inner > 1:
            reduce_columns(&job, 0, span.outer * blocks_of(&job))
        else:
            reduce_rows(&job, 0, span.outer)
    else:
        with nogil:
            if span.inner > 1:
                parallel(reduce_columns, &job, span.outer * blocks_of(&job), at_once(span.length * min(span.inner, job.wide)))
            elif job.from_zero and span.length * job.parts > PIECE:
                done = add_long_rows(&job, join[slot & 1])
            else:
                parallel(reduce_rows, &job, span.outer, at_once(span.length))
    return y if done and not job.raised else None


cdef inline npy_intp at_once(npy_intp size) noexcept nogil:
    """The number of units of so many elements in a task for a thread."""
    return max(<npy_intp> 1, CHUNK // size)


def max_along(x, axis, keepdims):
    """Largest element along `axis`, as `reductions.max_along`."""
    cdef Span span
    y = reduced(_maximum, x, axis, keepdims, &span)
    return reductions.max_along(x, axis, keepdims) if y is None else y


def min_along(x, axis, keepdims):
    """Smallest element along `axis`, as `reductions.min_along`."""
    cdef Span span
    y = reduced(_minimum, x, axis, keepdims, &span)
    return reductions.min_along(x, axis, keepdims) if y is None else y


def sum_along(x, axis, keepdims):
    """Sum along `axis`, as `reductions.sum_along`."""
    cdef Span span
    y = reduced(_add, x, axis, keepdims, &span)
    return reductions.sum_along(x, axis, keepdims) if y is None else y


def nansum(x, axis, keepdims):
    """Sum of the elements along `axis` that are not NaN, as `reductions.nansum`."""
    cdef Span span
    y = reduced(_add, x, axis, keepdims, &span, True)
    return reductions.nansum(x, axis, keepdims) if y is None else y


def mean_along(x, axis, keepdims):
    """Arithmetic mean along `axis`."""
    cdef Span span
    cdef ndarray y = None
    cdef npy_intp i
    if PyArray_CheckExact(x) and PyArray_TYPE(x) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        y = reduced(_add, x, axis, keepdims, &span)
    if y is None:
        return np.mean(x, axis=axis, keepdims=keepdims)
    for i in range(PyArray_SIZE(y)):
        if PyArray_TYPE(y) == cnp.NPY_FLOAT32:
            (<float*> PyArray_BYTES(y))[i] = <float> ((<float*> PyArray_BYTES(y))[i] / <double> span.length)
        else:
            (<double*> PyArray_BYTES(y))[i] /= <double> span.length
    return y


def axes_to(tuple whole, tuple shape):
    """The axes that broadcasting from `shape` to `whole` adds or repeats."""
    cdef int i, extra = len(whole) - len(shape)
    return tuple([i for i in range(len(whole)) if i < extra or shape[i - extra] == 1 != whole[i]])


cpdef object sum_to(object x, object shape):
    """The adjoint of broadcasting: sum `x` over the axes that broadcasting from the given shape adds or repeats.

    Parameters
    ----------
    x : ndarray
    shape : tuple of int

    Returns
    -------
    ndarray
        A new array, even if there is nothing to sum.
    """
    x = np.asarray(x)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    cdef int i, extra = x.ndim - len(shape)
    axes = axes_to(x.shape, shape)
    if extra < 0 or any([i not in axes and shape[i - extra] != x.shape[i] for i in range(extra, x.ndim)]):
        raise ValueError(f"an array of shape {shape} is not broadcast to {x.shape}")
    if len(axes) == extra:  # only leading axes
        return as_array(sum_along(x, axes, False))
    y = as_array(sum_along(x, axes, True))
    return y.reshape(shape) if extra else y


def unreduce(x, shape, axis, keepdims):
    """Broadcast a reduced array back along the axes that were reduced, as `reductions.unreduce`."""
    y = broadcast_back(x, shape, axis, keepdims) if PyArray_CheckExact(x) and type(shape) is tuple else None
    return reductions.unreduce(x, shape, axis, keepdims) if y is None else y


cdef ndarray broadcast_back(ndarray x, tuple shape, object axis, bint keepdims):
    """A view with strides of 0 along the reduced axes; None if the shapes do not fit and NumPy has to raise the error."""
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

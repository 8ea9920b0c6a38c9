# cython: boundscheck=False, wraparound=False
"""Running sums, products and extremes, recurrences and shifts along one axis, and products along adjacent axes.

Loops over contiguous arrays of float32 and float64, from element to element in NumPy's order, for several rows at a time.  The
functions of `scans` handle other dtypes and layouts, and arrays that raised a floating-point flag, so that NumPy warns as
`numpy.errstate` says.  The loops are bound by memory, for a single row by the latency of an addition.
"""

from libc.string cimport memcpy

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp,
)
from . import scans
from ..elementwise.logistic import logaddexp
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain, same_shape
from ..loops.span cimport Span, empty_reduced, find_span
from ..loops.threads cimport GRAIN, parallel

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "linear_recurrence", "logcumsumexp", "prod", "product_of_others", "shift"]

cnp.import_array()

ctypedef fused real:
    float
    double

cdef enum Task:
    SUM, PRODUCT, RECURRENCE, WHOLE_PRODUCT, OTHERS

cdef enum:
    ROWS = 8            # rows processed together
    CHUNK = 1 << 14     # elements that make a task for a thread worthwhile
    MANY = 32           # rows that make a loop over vectors of their elements worthwhile
    FEW = 4             # rows below which NumPy's product is as fast: it uses several partial products for a row

cdef struct Job:
    Task task
    bint single         # float32
    bint raised         # a floating-point flag was raised
    npy_intp outer, length, inner
    npy_intp step       # from element to element; negative for backwards
    npy_intp first      # the starting place
    char* x
    char* a             # the factors of a recurrence
    char* y


cdef inline void go_along(Task task, real* x, real* a, real* y, npy_intp length, npy_intp step, npy_intp rows) noexcept nogil:
    """Scan `rows` rows at distance `length`, each from element to element."""
    cdef real[ROWS] state
    cdef npy_intp _i, r, at = 0
    for r in range(rows):
        state[r] = x[r * length] + a[r * length] * 0 if task == RECURRENCE else x[r * length]
        if task != WHOLE_PRODUCT:
            y[r * length] = state[r]
    for _i in range(1, length):
        at += step
        for r in range(rows):
            if task == SUM:
                state[r] = state[r] + x[r * length + at]
            elif task == RECURRENCE:
                state[r] = a[r * length + at] * state[r] + x[r * length + at]
            else:
                state[r] = state[r] * x[r * length + at]
            if task != WHOLE_PRODUCT:
                y[r * length + at] = state[r]
    if task == WHOLE_PRODUCT:
        for r in range(rows):
            y[r] = state[r]


cdef inline void go_across(Task task, real* x, real* a, real* y, npy_intp length, npy_intp step, npy_intp n) noexcept nogil:
    """Scan from row to row of n elements."""
    cdef npy_intp _i, k
    cdef real* before
    for k in range(n):
        y[k] = x[k] + a[k] * 0 if task == RECURRENCE else x[k]
    for _i in range(1, length):
        x, a, before = x + step, a + step, y
        if task != WHOLE_PRODUCT:
            y = y + step
        if task == SUM:
            for k in range(n):
                y[k] = before[k] + x[k]
        elif task == RECURRENCE:
            for k in range(n):
                y[k] = a[k] * before[k] + x[k]
        else:
            for k in range(n):
                y[k] = before[k] * x[k]


cdef inline void others_along(real* x, real* y, npy_intp length, npy_intp rows) noexcept nogil:
    """Write the product of the elements before each element, then multiply it by the product of all elements after it."""
    cdef real[ROWS] state
    cdef npy_intp i, r
    for r in range(rows):
        state[r] = 1
    for i in range(length):
        for r in range(rows):
            y[r * length + i] = state[r]
            state[r] = state[r] * x[r * length + i]
    for r in range(rows):
        state[r] = 1
    for i in range(length - 1, -1, -1):
        for r in range(rows):
            y[r * length + i] = y[r * length + i] * state[r]
            state[r] = state[r] * x[r * length + i]


cdef void go(Task task, real* x, real* a, real* y, Job* job, npy_intp start, npy_intp stop) noexcept nogil:
    cdef npy_intp o = start, size = job.length * job.inner, place
    while o < stop:
        place = o if task == WHOLE_PRODUCT else o * size + job.first
        if task == OTHERS and stop - o >= ROWS:
            others_along(x + place, y + place, job.length, ROWS)
            o += ROWS
        elif task == OTHERS:
            others_along(x + place, y + place, job.length, 1)
            o += 1
        elif job.inner > 1:
            go_across(task, x + o * size + job.first, a + o * size + job.first,
                      y + (o * job.inner if task == WHOLE_PRODUCT else place), job.length, job.step, job.inner)
            o += 1
        elif stop - o >= ROWS:
            go_along(task, x + o * size + job.first, a + o * size + job.first, y + place, job.length, job.step, ROWS)
            o += ROWS
        else:
            go_along(task, x + o * size + job.first, a + o * size + job.first, y + place, job.length, job.step, 1)
            o += 1


cdef void go_as(Job* job, real* x, npy_intp start, npy_intp stop) noexcept nogil:
    """Select a copy of the loop for each task."""
    cdef real* a = <real*> job.a
    cdef real* y = <real*> job.y
    if job.task == SUM:
        go(SUM, x, a, y, job, start, stop)
    elif job.task == PRODUCT:
        go(PRODUCT, x, a, y, job, start, stop)
    elif job.task == RECURRENCE:
        go(RECURRENCE, x, a, y, job, start, stop)
    elif job.task == OTHERS:
        go(OTHERS, x, a, y, job, start, stop)
    else:
        go(WHOLE_PRODUCT, x, a, y, job, start, stop)


cdef void part(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Job* job = <Job*> context
    fp_clear()
    if job.single:
        go_as(job, <float*> job.x, start, stop)
    else:
        go_as(job, <double*> job.x, start, stop)
    if fp_raised():
        job.raised = True


cdef bint run(Task task, Span* span, bint reverse, ndarray x, ndarray a, ndarray y):
    """Scan all rows; False if a floating-point flag was raised."""
    cdef Job job
    cdef npy_intp chunk
    job.task, job.single, job.raised = task, PyArray_TYPE(x) == cnp.NPY_FLOAT32, False
    job.outer, job.length, job.inner = span.outer, span.length, span.inner
    job.step = -span.inner if reverse else span.inner
    job.first = (span.length - 1) * span.inner if reverse else 0
    job.x, job.a, job.y = PyArray_BYTES(x), PyArray_BYTES(a), PyArray_BYTES(y)
    if PyArray_SIZE(x) < GRAIN:
        part(&job, 0, job.outer)
    else:
        chunk = CHUNK // (job.length * job.inner)
        with nogil:
            parallel(part, &job, job.outer, max(<npy_intp> 1, chunk // ROWS * ROWS if chunk >= ROWS else chunk))
    return not job.raised


cdef struct Extremes:
    bint single
    bint least          # minima
    npy_intp length, inner
    char* x
    char* y
    npy_intp* at


cdef inline void extremes_of_row(bint least, real* x, real* y, npy_intp* at, npy_intp length) noexcept nogil:
    cdef npy_intp i, found = 0
    cdef real state = x[0], value
    for i in range(length):
        value = x[i]
        if (value <= state if least else value >= state) or value != value:
            found = i
            if value != state:
                state = value
        y[i], at[i] = state, found


cdef void go_extremes(Extremes* job, real* x, npy_intp start, npy_intp stop) noexcept nogil:
    """Scan the rows of a plane, from one to the next: of equal elements the last one, and NaN after the first NaN."""
    cdef npy_intp o, i, k, inner = job.inner, place
    cdef real* y = <real*> job.y
    cdef npy_intp* at = job.at
    cdef real value, state
    if inner == 1:
        for o in range(start, stop):
            if job.least:
                extremes_of_row(True, x + o * job.length, y + o * job.length, at + o * job.length, job.length)
            else:
                extremes_of_row(False, x + o * job.length, y + o * job.length, at + o * job.length, job.length)
        return
    for o in range(start, stop):
        place = o * job.length * inner
        for k in range(inner):
            y[place + k] = x[place + k]
            at[place + k] = 0
        for i in range(1, job.length):
            place += inner
            for k in range(place, place + inner):
                value, state = x[k], y[k - inner]
                y[k], at[k] = state, at[k - inner]
                if (value <= state if job.least else value >= state) or value != value:
                    at[k] = i
                    if value != state:
                        y[k] = value


cdef void extremes_part(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Extremes* job = <Extremes*> context
    if job.single:
        go_extremes(job, <float*> job.x, start, stop)
    else:
        go_extremes(job, <double*> job.x, start, stop)
    fp_clear()  # comparing NaNs raises flags


cdef object extremes(object x, object axis, bint least):
    """The running extremes and their positions; None if the expression has to compute them."""
    cdef ndarray x_ = plain(x), y, at
    cdef Span span
    cdef Extremes job
    if x_ is None or PyArray_NDIM(x_) == 0 or not find_span(x_, axis, &span):
        return None
    y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    at = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), cnp.NPY_INTP)
    job.single, job.least, job.length, job.inner = PyArray_TYPE(x_) == cnp.NPY_FLOAT32, least, span.length, span.inner
    job.x, job.y, job.at = PyArray_BYTES(x_), PyArray_BYTES(y), <npy_intp*> PyArray_BYTES(at)
    if PyArray_SIZE(x_) < GRAIN:
        extremes_part(&job, 0, span.outer)
    else:
        with nogil:
            parallel(extremes_part, &job, span.outer, max(<npy_intp> 1, CHUNK // (span.length * span.inner)))
    return y, at


cdef ndarray plain(object x):
    """The array if the loops accept it and it is not empty; else None."""
    if not PyArray_CheckExact(x) or PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) or PyArray_SIZE(x) == 0:
        return None
    return x if is_plain(x) else np.require(x, (<object> x).dtype.newbyteorder("="), "CA")


cdef ndarray mapped(Task task, object x, object a, object axis, bint reverse):
    """A scan of the shape of `x`, or flat; None if NumPy has to compute it."""
    cdef ndarray x_ = plain(x), a_ = x_, y
    cdef Span span
    if x_ is None or PyArray_NDIM(x_) == 0:
        return None
    if axis is None:
        if PyArray_NDIM(x_) > 1:
            x_ = (<object> x_).reshape(-1)
        a_, axis = x_, 0
    if not find_span(x_, axis, &span):
        return None
    if task == RECURRENCE:
        a_ = plain(a)
        if a_ is None or PyArray_TYPE(a_) != PyArray_TYPE(x_) or not same_shape(a_, x_):
            return None
    y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    return y if run(task, &span, reverse, x_, a_, y) else None


def cummax(x, axis):
    """Running maximum and its position, as `scans.cummax`."""
    found = extremes(x, axis, False)
    return scans.cummax(x, axis) if found is None else found


def cummin(x, axis):
    """Running minimum and its position, as `scans.cummin`."""
    found = extremes(x, axis, True)
    return scans.cummin(x, axis) if found is None else found


def cumprod(x, axis, reverse):
    """Running product, from the end if `reverse`, as `scans.cumprod`."""
    y = mapped(PRODUCT, x, None, axis, reverse)
    return scans.cumprod(x, axis, reverse) if y is None else y


def cumsum(x, axis, reverse):
    """Running sum, from the end if `reverse`, as `scans.cumsum`."""
    y = mapped(SUM, x, None, axis, reverse)
    return scans.cumsum(x, axis, reverse) if y is None else y


def linear_recurrence(a, b, axis, reverse):
    """Solve ``y[i] = a[i] * y[i-1] + b[i]`` along `axis`, as `scans.linear_recurrence`."""
    y = mapped(RECURRENCE, b, a, axis, reverse)
    return scans.linear_recurrence(a, b, axis, reverse) if y is None else y


def logcumsumexp(x, axis):
    """Logarithm of the running sum of ``exp(x)``, as `scans.logcumsumexp`."""
    if not PyArray_CheckExact(x) or PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) or PyArray_NDIM(x) == 0 or (
            not PyArray_SIZE(x) >= MANY * x.shape[axis] > 0):
        return scans.logcumsumexp(x, axis)
    steps = np.ascontiguousarray(np.moveaxis(x, axis, 0))
    y = np.empty_like(steps)
    y[0] = steps[0]
    for before, step, row in zip(y, steps[1:], y[1:]):
        row[...] = logaddexp(before, step)
    return np.ascontiguousarray(np.moveaxis(y, 0, axis))


def prod(x, axis, keepdims):
    """Product along `axis`, as ``np.prod``."""
    cdef ndarray x_, y
    cdef Span span
    if PyArray_CheckExact(x) and PyArray_SIZE(x) >= GRAIN and not is_plain(x):
        return np.prod(x, axis=axis, keepdims=keepdims)  # in memory order, because a copy would take longer
    x_ = plain(x)
    if x_ is not None and find_span(x_, axis, &span) and (
            PyArray_SIZE(x_) < GRAIN or span.inner > 1 or span.outer >= FEW):
        y = empty_reduced(x_, &span, keepdims)
        if run(WHOLE_PRODUCT, &span, False, x_, x_, y):
            return y
    return np.prod(x, axis=axis, keepdims=keepdims)


def product_of_others(x, axis):
    """The product of all elements along `axis` except one, for each element, as `scans.product_of_others`."""
    cdef ndarray x_ = plain(x), y
    cdef Span span
    if x_ is not None and find_span(x_, axis, &span) and span.inner == 1:
        y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
        if run(OTHERS, &span, False, x_, x_, y):
            return y
    return scans.product_of_others(x, axis)


def shift(x, n, axis, fill):
    """Move elements by `n` along `axis`, and write `fill` to the vacated places, as `scans.shift`."""
    cdef ndarray x_ = plain(x), y
    cdef Span span
    cdef npy_intp o, k, row, moved, size
    cdef char* source
    cdef char* target
    cdef double value
    if x_ is None or type(n) is not int or type(fill) not in (int, float) or not find_span(x_, axis, &span):
        return scans.shift(x, n, axis, fill)
    y, value = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_)), fill
    size = cnp.PyArray_ITEMSIZE(x_)
    moved = min(max(<npy_intp> n, -span.length), span.length) * span.inner
    row = span.length * span.inner
    for o in range(span.outer):
        source, target = PyArray_BYTES(x_) + o * row * size, PyArray_BYTES(y) + o * row * size
        memcpy(target + max(moved, <npy_intp> 0) * size, source + max(-moved, <npy_intp> 0) * size, (row - abs(moved)) * size)
        for k in range(moved if moved > 0 else -moved):
            if size == 4:
                (<float*> target)[k if moved > 0 else row - 1 - k] = <float> value
            else:
                (<double*> target)[k if moved > 0 else row - 1 - k] = value
    return y

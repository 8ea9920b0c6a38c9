# cython: cdivision=True
"""Variances, deviations and norms of contiguous rows and of columns, each read from memory once.

Loops over the rows of plain float32 and float64 arrays, or over blocks of columns that stay in the cache. The expressions of
`moments` handle all other arrays, and rows whose results lost their digits to rounding, went out of range or raised a floating-
point flag.
"""

from libc.math cimport isinf, sqrt

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp,
)
from . import moments
from ..reductions import reductions_loops
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain
from ..loops.span cimport Span, empty_reduced, find_span
from ..loops.threads cimport GRAIN, parallel
from ..loops.wide cimport dot, excess, moment, real, total

__all__ = ["centred", "euclidean_norm", "std", "std_mean", "var", "var_mean"]

cnp.import_array()

cdef enum:
    SMALL = 1 << 11     # up to this number of elements a transposed copy is faster than the expressions
    COLUMNS = 64        # columns of a block
    CHUNK = 1 << 13     # elements that make a task for a thread worthwhile

cdef enum Kind:
    CENTRED
    NORM
    STD
    VAR

cdef struct Job:
    Kind kind
    Span span
    double correction
    char* x
    char* y
    bint single         # the numbers are float32
    bint lost           # some result is not reliable

cdef extern from "gradspec/kernels/row_wise/moments_loops.h" nogil:
    void gradspec_column_excesses_float(const float*, const float*, float*, npy_intp, npy_intp, npy_intp)
    void gradspec_column_excesses_double(const double*, const double*, double*, npy_intp, npy_intp, npy_intp)
    void gradspec_column_moments_float(const float*, const float*, float*, float*, npy_intp, npy_intp, npy_intp)
    void gradspec_column_moments_double(const double*, const double*, double*, double*, npy_intp, npy_intp, npy_intp)
    void gradspec_less_centres_float(const float*, const float*, const float*, float*, npy_intp, npy_intp, npy_intp)
    void gradspec_less_centres_double(const double*, const double*, const double*, double*, npy_intp, npy_intp, npy_intp)

cdef extern from "<float.h>" nogil:
    float FLT_MIN, FLT_EPSILON
    double DBL_MIN, DBL_EPSILON


def centred(x, axis):
    """Each element minus the mean, as `moments.centred`."""
    y = by_rows(CENTRED, x, axis, False, 0)
    return moments.centred(x, axis) if y is None else y


def euclidean_norm(x, axis, keepdims):
    """Square root of the sum of squared moduli, as `moments.euclidean_norm`."""
    y = by_rows(NORM, x, axis, keepdims, 0)
    return moments.euclidean_norm(x, axis, keepdims) if y is None else y


def std(x, axis, correction, keepdims):
    """Square root of `var`, at every scale, as `moments.std`."""
    y = by_rows(STD, x, axis, keepdims, correction)
    return moments.std(x, axis, correction, keepdims) if y is None else y


def var(x, axis, correction, keepdims):
    """Mean squared distance from the mean, as `moments.var`."""
    y = by_rows(VAR, x, axis, keepdims, correction)
    return moments.var(x, axis, correction, keepdims) if y is None else y


def std_mean(x, axis, correction, keepdims):
    """`std`, and the mean with the bits of `mean_along`."""
    return std(x, axis, correction, keepdims), reductions_loops.mean_along(x, axis, keepdims)


def var_mean(x, axis, correction, keepdims):
    """`var`, and the mean with the bits of `mean_along`."""
    return var(x, axis, correction, keepdims), reductions_loops.mean_along(x, axis, keepdims)


cdef ndarray by_rows(Kind kind, object x, object axis, bint keepdims, double correction):
    """The result; None if the expressions have to compute it."""
    cdef Job job
    cdef ndarray x_, y
    cdef npy_intp units, size
    if not PyArray_CheckExact(x) or not is_plain(x) or PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        return None
    x_ = x
    if not find_span(x_, axis, &job.span) or PyArray_SIZE(x_) == 0 or job.span.length - correction <= 0:
        return None
    if job.span.inner != 1 and kind != CENTRED and PyArray_SIZE(x_) <= SMALL and PyArray_NDIM(x_) == 2:
        y = by_rows(kind, (<object> x_).T.copy(), 1, keepdims, correction)
        return (<object> y).T if y is not None and keepdims else y
    if kind == CENTRED:
        y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    else:
        y = empty_reduced(x_, &job.span, keepdims)
    job.kind, job.correction, job.x, job.y = kind, correction, PyArray_BYTES(x_), PyArray_BYTES(y)
    job.single, job.lost = PyArray_TYPE(x_) == cnp.NPY_FLOAT32, False
    units, size = job.span.outer * blocks_of(&job.span), job.span.length * min(job.span.inner, <npy_intp> COLUMNS)
    if PyArray_SIZE(x_) < GRAIN:
        some(&job, 0, units)
    else:
        with nogil:
            parallel(some, &job, units, max(<npy_intp> 1, CHUNK // size))
    return None if job.lost else y


cdef inline npy_intp blocks_of(Span* span) noexcept nogil:
    return (span.inner + COLUMNS - 1) // COLUMNS


cdef void some(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Compute some rows, or some blocks of columns."""
    cdef Job* job = <Job*> context
    cdef bint known
    fp_clear()
    if job.span.inner == 1:
        known = rows(<float*> job.x, job, start, stop) if job.single else rows(<double*> job.x, job, start, stop)
    else:
        known = columns(<float*> job.x, job, start, stop) if job.single else columns(<double*> job.x, job, start, stop)
    if not known or fp_raised():
        job.lost = True


cdef bint rows(real* x, Job* job, npy_intp start, npy_intp stop) noexcept nogil:
    """Whether all rows gave a reliable result."""
    cdef npy_intp n = job.span.length, row, i
    cdef real mean, second, squares
    cdef real* y = <real*> job.y
    x += start * n
    for row in range(start, stop):
        if job.kind == NORM:
            if not done(job, dot(x, x, n), <real> 0, y + row):
                return False
        else:
            mean = total(x, n) / n
            second = excess(x, mean, n)
            if job.kind == CENTRED:
                second /= n
                for i in range(n):
                    y[row * n + i] = (x[i] - mean) - second
            else:
                squares = moment(x, mean, n)
                if not done(job, squares, second, y + row):
                    return False
        x += n
    return True


cdef bint columns(real* x, Job* job, npy_intp start, npy_intp stop) noexcept nogil:
    """Whether all blocks of columns gave reliable results."""
    cdef npy_intp n = job.span.length, inner = job.span.inner, blocks = blocks_of(&job.span), unit, j, wide, first
    cdef real[COLUMNS] mean, second, squares
    cdef real* p
    for unit in range(start, stop):
        first = unit % blocks * COLUMNS
        wide = min(inner - first, <npy_intp> COLUMNS)
        p = x + unit // blocks * n * inner + first
        for j in range(wide):
            mean[j] = 0
        if job.kind != NORM:
            excesses(p, mean, second, n, inner, wide)
            for j in range(wide):
                mean[j] = second[j] / n
        if job.kind == CENTRED:
            excesses(p, mean, second, n, inner, wide)
            for j in range(wide):
                second[j] /= n
            if real is float:
                gradspec_less_centres_float(p, mean, second, <float*> job.y + (p - x), n, inner, wide)
            else:
                gradspec_less_centres_double(p, mean, second, <double*> job.y + (p - x), n, inner, wide)
            continue
        if real is float:
            gradspec_column_moments_float(p, mean, second, squares, n, inner, wide)
        else:
            gradspec_column_moments_double(p, mean, second, squares, n, inner, wide)
        for j in range(wide):
            if not done(job, squares[j], 0 if job.kind == NORM else second[j], <real*> job.y + unit // blocks * inner + first + j):
                return False
    return True


cdef inline void excesses(real* x, real* centre, real* sums, npy_intp n, npy_intp pitch, npy_intp wide) noexcept nogil:
    if real is float:
        gradspec_column_excesses_float(x, centre, sums, n, pitch, wide)
    else:
        gradspec_column_excesses_double(x, centre, sums, n, pitch, wide)


cdef inline bint done(Job* job, real squares, real left, real* y) noexcept nogil:
    """Store the result of the sums of squared distances and of distances from the mean; False if it is not reliable."""
    cdef npy_intp n = job.span.length
    cdef real least = 16 * sqrt(FLT_MIN) / FLT_EPSILON if real is float else 16 * sqrt(DBL_MIN) / DBL_EPSILON
    if job.kind != NORM:
        left = left * left / n
        if left >= squares / 1024:  # rounding error too large, or equal elements: a second pass
            return False
        squares = (squares - left) / <real> (n - job.correction)
    y[0] = squares if job.kind == VAR else <real> sqrt(squares)
    return job.kind == VAR or not (y[0] < least or isinf(y[0]))  # otherwise a square may be out of range

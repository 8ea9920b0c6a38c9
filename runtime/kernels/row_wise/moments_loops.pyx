# cython: cdivision=True
"""Variances, deviations and norms of contiguous rows, each read once or twice.

Loops over the rows of plain float32 and float64 arrays.  The expressions of `moments` handle all other arrays, and rows whose
results lost their digits to rounding, went out of range or raised a floating-point flag.
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
from ..loops.threads cimport GRAIN
from ..loops.wide cimport dot, excess, moment, real, total

__all__ = ["centred", "euclidean_norm", "std", "std_mean", "var", "var_mean"]

cnp.import_array()

cdef enum:
    SMALL = 1 << 11     # up to this number of elements a transposed copy is faster than the expressions

cdef enum Kind:
    CENTRED
    NORM
    STD
    VAR

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
    cdef Span span
    cdef ndarray x_, y
    cdef bint known
    if not PyArray_CheckExact(x) or not is_plain(x) or PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        return None
    x_ = x
    if not find_span(x_, axis, &span) or PyArray_SIZE(x_) == 0 or span.length - correction <= 0:
        return None
    if span.inner != 1:
        if kind == CENTRED or PyArray_SIZE(x_) > SMALL or PyArray_NDIM(x_) != 2:
            return None
        y = by_rows(kind, (<object> x_).T.copy(), 1, keepdims, correction)
        return (<object> y).T if y is not None and keepdims else y
    if kind == CENTRED:
        y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    else:
        y = empty_reduced(x_, &span, keepdims)
    if PyArray_SIZE(x_) < GRAIN:
        known = some_rows(kind, PyArray_TYPE(x_) == cnp.NPY_FLOAT32, PyArray_BYTES(x_), PyArray_BYTES(y), &span, correction)
    else:
        with nogil:
            known = some_rows(kind, PyArray_TYPE(x_) == cnp.NPY_FLOAT32, PyArray_BYTES(x_), PyArray_BYTES(y), &span, correction)
    return y if known else None


cdef bint some_rows(Kind kind, bint single, char* x, char* y, Span* span, double correction) noexcept nogil:
    """Whether all rows gave a reliable result."""
    fp_clear()
    if single:
        return rows(<float*> x, <float*> y, kind, span, correction) and not fp_raised()
    return rows(<double*> x, <double*> y, kind, span, correction) and not fp_raised()


cdef bint rows(real* x, real* y, Kind kind, Span* span, double correction) noexcept nogil:
    cdef npy_intp n = span.length, row, i
    cdef real mean, left, squares
    cdef real least = 16 * sqrt(FLT_MIN) / FLT_EPSILON if real is float else 16 * sqrt(DBL_MIN) / DBL_EPSILON
    for row in range(span.outer):
        if kind == NORM:
            y[row] = <real> sqrt(dot(x, x, n))
        else:
            mean = total(x, n) / n
            if kind == CENTRED:
                for i in range(n):
                    y[i] = x[i] - mean
                mean = total(y, n) / n  # removes the rounding error of the first mean if the numbers are large
                for i in range(n):
                    y[i] -= mean
                y += n
            else:
                squares, left = moment(x, mean, n), excess(x, mean, n)
                left = left * left / n
                if left >= squares / 1024:  # rounding error too large, or equal elements: a second pass
                    return False
                y[row] = <real> ((squares - left) / <real> (n - correction))
                if kind == STD:
                    y[row] = <real> sqrt(y[row])
        if (kind == NORM or kind == STD) and (y[row] < least or isinf(y[row])):  # a square may be out of range
            return False
        x += n
    return True

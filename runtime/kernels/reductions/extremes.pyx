# cython: boundscheck=False, wraparound=False
"""Largest and smallest elements along an axis, or some that lie together.

Owns loops over contiguous arrays of float32 and float64.  The functions of `folds` take other dtypes and layouts, what is
empty, and arrays that hold a NaN, which raises a flag.  The limit is memory.
"""

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_CheckExact, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp
from . import folds
from ..loops.flags cimport fp_clear, fp_raised  # no-cython-lint: called in C
from ..loops.plain cimport is_plain
from ..loops.span cimport Span, empty_reduced, find_span
from ..loops.threads cimport GRAIN, Work, parallel
from ..loops.wide cimport highest  # no-cython-lint: for the choice among copies of a loop

cnp.import_array()

cdef extern from *:
    """
    #include <string.h>

    typedef struct { const char *x; char *y; npy_intp length, inner; int raised; } gradspec_extremes;

    #define GRADSPEC_BEST(a, b, BETTER) ((a) BETTER (b) ? (a) : (b))
    #define GRADSPEC_EXTREMES(T, NAME, BETTER) \\
        GRADSPEC_WIDE static T gradspec_##NAME##_of_##T(const T *x, npy_intp n) { \\
            T best[32], most = x[0]; \\
            npy_intp i = 0, k; \\
            if (n >= 32) { \\
                for (k = 0; k < 32; k++) best[k] = x[k]; \\
                for (i = 32; i + 32 <= n; i += 32) for (k = 0; k < 32; k++) best[k] = GRADSPEC_BEST(x[i + k], best[k], BETTER); \\
                for (k = 0; k < 16; k++) best[k] = GRADSPEC_BEST(best[k + 16], best[k], BETTER); \\
                for (k = 0; k < 8; k++) best[k] = GRADSPEC_BEST(best[k + 8], best[k], BETTER); \\
                for (k = 0; k < 8; k++) most = GRADSPEC_BEST(best[k], most, BETTER); \\
            } \\
            for (; i < n; i++) most = GRADSPEC_BEST(x[i], most, BETTER); \\
            return most; \\
        } \\
        GRADSPEC_WIDE static void gradspec_##NAME##_rows_##T(T *restrict y, const T *restrict x, npy_intp length, npy_intp n) { \\
            npy_intp i, k; \\
            memcpy(y, x, n * sizeof(T)); \\
            for (i = 1; i < length; i++) for (k = 0; k < n; k++) y[k] = GRADSPEC_BEST(x[i * n + k], y[k], BETTER); \\
        } \\
        static void gradspec_##NAME##_##T(void *context, npy_intp start, npy_intp stop) { \\
            gradspec_extremes *job = (gradspec_extremes *) context; \\
            const npy_intp n = job->inner, size = job->length * n; \\
            fp_clear(); \\
            for (npy_intp o = start; o < stop; o++) { \\
                const T *x = (const T *) job->x + o * size; \\
                T *y = (T *) job->y + o * n; \\
                if (n == 1) *y = gradspec_##NAME##_of_##T(x, size); \\
                else gradspec_##NAME##_rows_##T(y, x, job->length, n); \\
            } \\
            if (fp_raised()) job->raised = 1; \\
        }
    GRADSPEC_EXTREMES(float, largest, >)
    GRADSPEC_EXTREMES(double, largest, >)
    GRADSPEC_EXTREMES(float, smallest, <)
    GRADSPEC_EXTREMES(double, smallest, <)
    """
    ctypedef struct Job "gradspec_extremes":
        char* x
        char* y
        npy_intp length, inner
        bint raised
    void gradspec_largest_float(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_largest_double(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_smallest_float(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_smallest_double(void*, npy_intp, npy_intp) noexcept nogil

cdef enum:
    CHUNK = 1 << 15     # elements that are worth a call


cdef ndarray reduced(Work single, Work double_, object x, object axis, bint keepdims):
    """The extremes; None where NumPy has to find them."""
    cdef Span span
    cdef Job job
    cdef ndarray y
    cdef Work work
    if not PyArray_CheckExact(x) or PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) or PyArray_SIZE(x) == 0:
        return None
    if not is_plain(x) or not find_span(x, axis, &span):
        return None
    y = empty_reduced(x, &span, keepdims)
    work = single if PyArray_TYPE(x) == cnp.NPY_FLOAT32 else double_
    job.x, job.y, job.length, job.inner, job.raised = PyArray_BYTES(x), PyArray_BYTES(y), span.length, span.inner, False
    if PyArray_SIZE(x) < GRAIN:
        work(&job, 0, span.outer)
    else:
        with nogil:
            parallel(work, &job, span.outer, max(<npy_intp> 1, CHUNK // (span.length * span.inner)))
    return None if job.raised else y


def max_along(x, axis, keepdims):
    """Largest element along `axis`, as `folds.max_along`."""
    y = reduced(gradspec_largest_float, gradspec_largest_double, x, axis, keepdims)
    return folds.max_along(x, axis, keepdims) if y is None else y


def min_along(x, axis, keepdims):
    """Smallest element along `axis`, as `folds.min_along`."""
    y = reduced(gradspec_smallest_float, gradspec_smallest_double, x, axis, keepdims)
    return folds.min_along(x, axis, keepdims) if y is None else y

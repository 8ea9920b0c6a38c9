# cython: boundscheck=False, wraparound=False
"""Largest and smallest elements along an axis, or some that lie together.

Owns loops over contiguous arrays of float32 and float64.  The functions of `folds` take other dtypes and layouts, what is
empty, and arrays that hold a NaN, which raises a flag.  The limit is memory.
"""

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_CheckExact, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp
from . import folds
from ..loops.plain cimport is_plain
from ..loops.span cimport Span, empty_reduced, find_span
from ..loops.threads cimport GRAIN, Work, parallel

cnp.import_array()

cdef extern from "gradspec/kernels/reductions/extremes.h":
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

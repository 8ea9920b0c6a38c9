"""Softmax and related functions on rows: the tasks of the loops, and the arrays that they accept."""

from ...support.capi cimport ndarray, npy_intp
from ..loops.span cimport Span
from ..loops.wide cimport real

cdef enum Task:
    SOFTMAX
    SOFTMAX_OR_ZERO
    LOG_SOFTMAX
    LOGSUMEXP
    LOGSUMEXP_BACKWARD
    CROSS_ENTROPY
    CROSS_ENTROPY_BACKWARD
    SOFTMAX_BACKWARD
    LOG_SOFTMAX_BACKWARD

cdef bint compute(
    Task task, Span* span, ndarray x, ndarray y, ndarray other=*, ndarray grad=*, ndarray losses=*,
    ndarray classes=*, npy_intp ignored=*,
)
cdef ndarray plain(object x, int type_num=*)
cdef bint softmax_in_place(real* x, npy_intp rows, npy_intp n, real* scratch) noexcept nogil
cdef bint adjoint_in_place(real* x, real* y, npy_intp rows, npy_intp n) noexcept nogil

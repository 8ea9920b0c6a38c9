"""Softmax and related functions on rows: the tasks of the loops, and the arrays that they accept."""

from ...support.capi cimport ndarray, npy_intp
from ..loops.span cimport Span

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

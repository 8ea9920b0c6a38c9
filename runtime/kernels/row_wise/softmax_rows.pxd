"""Softmax and its kin on rows: what the loops can do, and which arrays they take."""

from ...support.capi cimport ndarray, npy_intp
from ..loops.span cimport Span

cdef enum Task:
    SOFTMAX
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

"""Softmax and its kin on rows: what the loops need to know of an array, and what they can do."""

from numpy cimport ndarray, npy_intp

cdef enum Task:
    SOFTMAX
    LOG_SOFTMAX
    LOGSUMEXP
    LOGSUMEXP_BACKWARD
    CROSS_ENTROPY
    CROSS_ENTROPY_BACKWARD
    SOFTMAX_BACKWARD
    LOG_SOFTMAX_BACKWARD

cdef struct Span:
    npy_intp outer      # the array is outer x length x inner,
    npy_intp length     # with the axis in the middle
    npy_intp inner
    int first           # the axes that it is made of
    int last

cdef bint compute(Task task, Span* span, ndarray x, ndarray y, ndarray other, ndarray grad, ndarray classes)

"""Donation of a buffer: a caller offers an existing array for the next result."""

from cpython.ref cimport PyObject

from ...support.capi cimport ndarray

cdef PyObject* offered      # NULL if no array is offered

cdef bint is_mine() noexcept
cdef void offer(ndarray array) noexcept
cdef bint take_back(ndarray array) noexcept
cdef int give_up(ndarray y, ndarray operand) except -1

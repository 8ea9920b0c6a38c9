"""Offers: an array that is there, for the next result."""

from cpython.ref cimport PyObject

from ...support.capi cimport ndarray

cdef PyObject* offered      # NULL where none is

cdef bint is_mine() noexcept
cdef void offer(ndarray array) noexcept
cdef bint take_back(ndarray array) noexcept
cdef int give_up(ndarray y, ndarray operand) except -1

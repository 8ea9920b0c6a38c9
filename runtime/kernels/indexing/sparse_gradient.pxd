"""Gradients that are zeros but for some places."""

from ...support.capi cimport ndarray

cdef class Placed:
    cdef ndarray value
    cdef tuple index     # NumPy's: where the value stands
    cdef tuple shape
    cdef bint repeated   # a place may stand in the index twice

    cdef ndarray computed(self)
    cdef int add_to(self, ndarray total) except -1

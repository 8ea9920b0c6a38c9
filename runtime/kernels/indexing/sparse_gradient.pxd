"""Gradients that are zero except at some indices."""

from ...support.capi cimport ndarray

cdef class Placed:
    cdef ndarray value
    cdef tuple index     # as for NumPy: the index of the value
    cdef tuple shape
    cdef bint repeated   # the index may select an element twice

    cdef ndarray computed(self)
    cdef int add_to(self, ndarray total) except -1

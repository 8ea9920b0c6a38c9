"""Deferred arrays: values that represent arrays not yet computed."""

from ...support.capi cimport ndarray

cdef class Deferred:
    cdef ndarray array  # None until it is computed

    cdef ndarray computed(self)
    cdef object call(self, object function, tuple operands, unsigned int wanted)

cdef Deferred deferred_among(tuple operands)

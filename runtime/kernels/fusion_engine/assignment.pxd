"""Kernels that put their result into an array that is there."""

from cpython.ref cimport PyObject

from ...support.capi cimport ndarray

ctypedef int (*Into)(PyObject** operands, ndarray out) except -1

cdef int offer_into(str name, int operands, Into function) except -1
cdef Into into_of(str name)

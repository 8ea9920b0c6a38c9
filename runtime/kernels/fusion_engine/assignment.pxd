"""Kernels that write their result into an existing array."""

from cpython.ref cimport PyObject

from ...support.capi cimport ndarray

ctypedef int (*Into)(PyObject** operands, ndarray out) except -1

cdef int offer_into(str name, int operands, Into function) except -1
cdef Into into_of(str name)

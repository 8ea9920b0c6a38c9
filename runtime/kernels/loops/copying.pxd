"""Copy and fill large arrays by several threads."""

from ...support.capi cimport ndarray

cdef enum:
    LARGE = 1 << 18     # bytes that several threads copy

cdef bint is_apart(ndarray x, ndarray out) except -1
cpdef ndarray copy_into(ndarray target, object source)
cpdef ndarray copy_of(object x)
cdef ndarray copy_alike(ndarray x)
cpdef ndarray empty_of(tuple shape, ndarray x)
cpdef ndarray full(tuple shape, object value, object dtype)
cpdef ndarray full_like(object x, object value, object dtype)
cpdef ndarray zeros_of(tuple shape, object x)
cdef ndarray filled(ndarray y, const char* item)

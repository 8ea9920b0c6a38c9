"""Arrays of a trace: the identity and the bounds of an array, and the leaves of arguments."""

from libc.stdint cimport uintptr_t

from ...support.capi cimport ndarray

cdef int ends_of(ndarray array, uintptr_t* start, uintptr_t* end) noexcept
cdef ndarray last_owner(ndarray array)
cpdef object mapped(object tree, object leaf)
cdef int collect(object tree, object kind, list found) except -1

"""Values: identify the names of a program by the memory that they refer to."""

from libc.stdint cimport uintptr_t

from ...support.capi cimport ndarray

cdef class Layout:
    cdef readonly object dtype
    cdef readonly tuple shape, strides
    cdef readonly Py_ssize_t count      # elements
    cdef readonly bint dense, c_contiguous
    cdef readonly bint boolean

cdef class Value:
    cdef public str name, kind
    cdef public object shape            # a tuple; a trace may leave sizes in it open
    cdef public object dtype, strides
    cdef readonly Layout layout
    cdef Value shared                   # the memory, if it belongs to a different value
    cdef public object data, definer, line, inner, hosts
    cdef public uintptr_t address     # of its first element during the recording; 0 without an array

    cdef int fill(self, str kind, ndarray array, Value memory, str name) except -1

cdef inline Value memory_of(Value value):
    return value if value.shared is None else value.shared

cdef struct Block:
    uintptr_t low, high

cdef class Memory:
    cdef dict places                    # address -> arrays and their values, alternating
    cdef public list values             # all values, in the order of their first use
    cdef public dict sources
    cdef public object reserved         # names of parameters, not available to the program's own generators
    cdef Block* blocks                  # in order
    cdef Py_ssize_t block_count, room
    cdef list owners                    # for each block, its first value and that value's array

    cpdef Value known(self, ndarray array)
    cpdef Value enter(self, ndarray array, str kind)
    cpdef tuple block(self, ndarray array)
    cdef int settle(self, ndarray array, Value value) except -1
    cdef int join(self, Value part, Value memory) except -1
    cdef Py_ssize_t behind(self, uintptr_t low) noexcept

cdef Layout layout_of(ndarray array)
cpdef list values_in(object tree)
cdef bint lies_in(Value value, Value whole) except -1

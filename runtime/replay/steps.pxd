"""Slots and steps: a program between instructions and a tape."""

cdef class Slot:
    cdef public str place
    cdef public object dtype, data
    cdef public tuple shape, strides
    cdef public Py_ssize_t root, offset
    cdef public bint object
    cdef readonly Py_ssize_t bytes

cdef class Step:
    cdef public str kind, name
    cdef public tuple reads, writes
    cdef public object given, line

"""Slots and steps: a program between instructions and an executable."""

cdef class Slot:
    cdef public str place
    cdef public object dtype, data
    cdef public tuple shape, strides
    cdef public Py_ssize_t root, offset
    cdef public bint object
    cdef readonly Py_ssize_t bytes

    cdef int fill(
        self, str place, object dtype, tuple shape, tuple strides, Py_ssize_t root, Py_ssize_t offset, object data
    ) except -1

cdef class Loop:
    cdef readonly str operator
    cdef readonly str second            # operator, of the same operand, whose result is another one; None of none
    cdef readonly int which             # of the operator's loops
    cdef readonly tuple slots, strides  # of operands and result
    cdef readonly Py_ssize_t size       # elements, of a row where there are rows
    cdef readonly Py_ssize_t rows
    cdef readonly tuple jumps           # from row to row

cdef class Step:
    cdef public str kind, name
    cdef public tuple reads, writes
    cdef public object given, line

cdef Step step_of(str kind, object given, str name, object line, tuple reads, tuple writes)

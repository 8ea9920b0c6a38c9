"""Low-level representation: slots and steps, between instructions and an executable."""

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
    cdef readonly str second            # a second operator on the same operand with its own result, or None
    cdef readonly int which             # index of the operator's loop
    cdef readonly tuple slots, strides  # operands, then the result
    cdef readonly Py_ssize_t size       # elements; with rows, elements of one row
    cdef readonly Py_ssize_t rows
    cdef readonly tuple jumps           # strides from row to row

cdef class Step:
    cdef public str kind, name
    cdef public tuple reads, writes
    cdef public object given, line

cdef Step step_of(str kind, object given, str name, object line, tuple reads, tuple writes)

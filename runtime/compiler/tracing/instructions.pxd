"""Instructions: flatten the tree of recorded calls to a list of operators."""

from .values cimport Value

cdef class Instruction:
    cdef public str name
    cdef object given
    cdef readonly object outputs
    cdef public object line
    cdef readonly list read, made   # the values among arguments and outputs
    cdef readonly Value target
    cdef readonly object entry

    cdef int fill(self, str name, tuple arguments, object outputs, object line) except -1
    cdef int take(self, tuple arguments) except -1
    cpdef Instruction replaced(self, tuple arguments, object outputs=*)

cdef Instruction instruction(str name, tuple arguments, object outputs, object line)

cdef object other_values(object tree, dict names)
cpdef list renamed(list lines, dict names)
cdef bint draws(Instruction line) except -1
cdef set written_memory(list lines)

cdef enum Naming:
    NAMES               # a value is itself
    LAYOUTS             # a value is any value with the same layout
    SIZES_REFUSED       # a value is itself, and a size that a trace leaves open has no signature

cdef object signature(object item, Naming naming)
cpdef tuple layouts_of(Instruction line)

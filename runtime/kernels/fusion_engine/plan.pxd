"""Plans: what a program does on operands of given kinds."""

from ...support.capi cimport npy_intp
from .numbers cimport Number
from .ufunc cimport PyUFuncGenericFunction

cdef enum:
    MOST = 64       # registers of a plan
    ARITY = 4       # most operands and result of a step
    # Kinds of operands beside the slots of arrays.
    INT = 5
    FLOAT = 6
    ABSENT = 7
    UNIFORM = 8     # added to the slot of an array of one element that stands for all
    # Where a number comes from, if it is no input.
    KNOWN = -1
    COMPUTED = -2

cdef enum Place:
    INPUT           # an array that is given
    NUMBER          # a number that is given, known, or computed once
    SCRATCH         # a block
    RESULT          # an array that is made

cdef struct Register:
    Place place
    int index               # of the input or result; a block's offset, in bytes for each element
    int slot                # its dtype
    int given               # the input that a number is, KNOWN or COMPUTED
    unsigned int serves     # of a result: bit i where result i is made of it
    npy_intp step           # bytes from one element to the next; 0 of one element for all

cdef struct Step:
    PyUFuncGenericFunction function
    void* data
    int count               # of operands and result
    int[ARITY] registers
    unsigned int serves     # bit i: result i is made of it
    bint uniform            # of one element for all

cdef class Plan:
    cdef unsigned long long key     # the kinds of operands that it is for
    cdef bint works                 # False where NumPy has to compute step by step
    cdef bint has_uniform           # whether some step is
    cdef Register[MOST] registers
    cdef Step[MOST] steps
    cdef Number[MOST] numbers       # of registers: those that the program knows
    cdef int register_count, step_count
    cdef int cost                   # of an element, in additions
    cdef int scratch                # bytes of all blocks together, for each element

cdef Plan make_plan(int inputs, list nodes, tuple results, unsigned long long key)

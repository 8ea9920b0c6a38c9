"""Plans: the steps of a program for given kinds of operands."""

from ...support.capi cimport npy_intp
from .numbers cimport Number
from .ufunc cimport PyUFuncGenericFunction, Ufunc

cdef enum:
    MOST = 64       # registers of a plan
    ARITY = 4       # most operands and result of a step
    # Kinds of operands, in addition to the slots of arrays.
    INT = 5
    FLOAT = 6
    ABSENT = 7
    UNIFORM = 8     # added to the slot of an array whose one element is used for all
    # The source of a number that is not an input.
    KNOWN = -1
    COMPUTED = -2

cdef enum Place:
    INPUT           # an input array
    NUMBER          # a number: an input, a constant, or computed once
    SCRATCH         # a block
    RESULT          # a new array

cdef struct Register:
    Place place
    int index               # number of the input or result; for a block its offset, in bytes per element of a block
    int slot                # its dtype
    int given               # the input that the number is, KNOWN or COMPUTED
    unsigned int serves     # for a result: bit i if result i depends on it
    npy_intp step           # bytes between adjacent elements; 0 if one element is used for all

cdef struct Step:
    PyUFuncGenericFunction function
    void* data
    int count               # operands and result
    int[ARITY] registers
    unsigned int serves     # bit i: result i depends on it
    bint uniform            # computes one element for all

cdef class Plan:
    cdef unsigned long long key     # the kinds of operands that it is for
    cdef bint works                 # False if NumPy has to compute step by step
    cdef bint has_uniform           # whether some step is uniform
    cdef Register[MOST] registers
    cdef Step[MOST] steps
    cdef Number[MOST] numbers       # of registers: the constants of the program
    cdef int register_count, step_count
    cdef int cost                   # per element, in additions
    cdef Ufunc last                 # of the last step
    cdef int scratch                # bytes of all blocks together, per element

cdef Plan make_plan(int inputs, list nodes, tuple results, unsigned long long key)

"""Elementwise formulas as straight-line programs of inner loops, run block by block in cache."""

from ...support.capi cimport ndarray
from .plan cimport Plan

cdef class Program:
    cdef readonly str text          # the formula
    cdef tuple names                # of the inputs
    cdef tuple made                 # names of the results
    cdef list nodes                 # as `make_plan` takes them, once the text has been read
    cdef tuple results              # the node of each result
    cdef Plan plan                  # of the latest call
    cdef list plans                 # of all calls
    cdef readonly int computing     # the last value that was computed step by step, counting inputs

    cdef object run(self, tuple inputs, unsigned int wanted=*)
    cdef bint into(self, tuple inputs, ndarray out) except -1
    cdef object in_blocks(self, tuple inputs, unsigned int wanted, ndarray out)
    cdef object by_rows(self, tuple inputs, unsigned int wanted)
    cdef int read(self) except -1
    cdef Plan find(self, unsigned long long key)
    cdef object step_by_step(self, tuple inputs, unsigned int wanted)

cdef Program program_of(int count, list nodes, tuple results)

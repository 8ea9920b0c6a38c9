"""Snapshot: what a buffer held before a recorded write."""

from libc.stdint cimport uint32_t

from ..support.capi cimport ndarray
from ..core.grad_mode cimport ThreadState
from ..core.tensor cimport TensorBase, VersionCounter

cdef class Snapshot:
    cdef uint32_t version       # of the buffer, when it held this
    cdef ndarray array          # the base as it was, in memory of its own; None until a recorded write ends the version
    cdef char* address          # where the base was

    cdef int take(self, ndarray base) except -1
    cdef ndarray array_of(self, ndarray present)

cdef int begin_write(ThreadState* state, TensorBase target, bint recorded) except -1
cdef Snapshot present_snapshot(VersionCounter counter)

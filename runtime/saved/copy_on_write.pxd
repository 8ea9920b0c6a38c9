"""Copy on write: keep a buffer's content before a recorded write, for the nodes that saved it."""

from libc.stdint cimport uint32_t

from ..support.capi cimport ndarray
from ..core.grad_mode cimport ThreadState
from ..core.tensor cimport TensorBase, VersionCounter

cdef class Snapshot:
    cdef uint32_t version       # the version of the buffer with this content
    cdef ndarray array          # the old base, in its own memory; None until a recorded write ends the version
    cdef char* address          # address of the base's data at that time

    cdef int take(self, ndarray base) except -1
    cdef ndarray array_of(self, ndarray present)

cdef int begin_write(ThreadState* state, TensorBase target, bint recorded) except -1
cdef Snapshot present_snapshot(VersionCounter counter)

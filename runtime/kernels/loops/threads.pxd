"""Loops over large arrays on several threads."""

from libc.stdint cimport int64_t, uint64_t

from ...support.capi cimport npy_intp

cdef enum:
    GRAIN = 4096    # elements that make releasing the GIL worthwhile

# Processes the elements from `start` to `stop`; called without the GIL, on any thread.
ctypedef void (*Work)(void* context, npy_intp start, npy_intp stop) noexcept nogil

# A worker's part of a loop that this thread called.
cdef struct Part:
    uint64_t thread
    int worker              # its number, from 1
    int64_t elements        # the number of the loop's elements that it processed
    int64_t began, ended    # by the clock

cdef void watch_parts(bint on, uint64_t* place) noexcept    # from `place` on
cdef bint next_part(uint64_t* place, uint64_t* lost, Part* part) noexcept

cdef void parallel(Work work, void* context, npy_intp size, npy_intp chunk) noexcept nogil

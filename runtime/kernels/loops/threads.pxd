"""Loops over large arrays on several threads."""

from ...support.capi cimport npy_intp

cdef enum:
    GRAIN = 4096    # elements from which a loop is worth a release of the GIL

# Works on the elements from `start` to `stop`; called without the GIL, on any thread.
ctypedef void (*Work)(void* context, npy_intp start, npy_intp stop) noexcept nogil

cdef void parallel(Work work, void* context, npy_intp size, npy_intp chunk) noexcept nogil

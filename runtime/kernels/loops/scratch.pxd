"""Scratch memory of loops that run block by block: one array behind another, each at the begin of a line of the cache."""

from libc.stdint cimport uintptr_t
from libc.stdlib cimport malloc

from ...support.capi cimport npy_intp

cdef enum:
    LINE = 64               # bytes of a line; a vector that begins elsewhere is in two
    NEAR = 16384            # bytes of scratch memory on the stack, and a line more


cdef inline npy_intp room_of(npy_intp count) noexcept nogil:
    """The elements from one array to the next: not a page, for a load waits for an earlier store with the same last twelve bits."""
    return ((count + LINE - 1) & ~<npy_intp> (LINE - 1)) + LINE


cdef inline char* scratch_of(npy_intp size, char* near, void** owned) noexcept nogil:
    """Memory at the begin of a line: `near`, or allocated if it is too small; the caller frees `owned`.  NULL if that fails."""
    owned[0] = malloc(size + LINE) if size > NEAR else NULL
    near = <char*> owned[0] if size > NEAR else near
    return NULL if near == NULL else <char*> ((<uintptr_t> near + LINE - 1) & ~<uintptr_t> (LINE - 1))

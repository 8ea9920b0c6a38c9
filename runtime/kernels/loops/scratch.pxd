"""Scratch memory of loops that run block by block: one array behind another, each at the begin of a line of the cache."""

from libc.stdint cimport uintptr_t

from ...support.capi cimport npy_intp

cdef enum:
    LINE = 64               # bytes of a line; a vector that begins elsewhere is in two


cdef inline npy_intp room_of(npy_intp count) noexcept nogil:
    """The elements from one array of `count` elements to the next: not a multiple of a page.

    A processor takes a load for one of an earlier store if the last twelve bits of their addresses agree.
    """
    return ((count + LINE - 1) & ~<npy_intp> (LINE - 1)) + LINE


cdef inline char* first_line(void* memory) noexcept nogil:
    return <char*> ((<uintptr_t> memory + LINE - 1) & ~<uintptr_t> (LINE - 1))

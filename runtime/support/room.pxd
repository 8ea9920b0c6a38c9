"""Room: memory of C that grows as it is filled.

Owns by how much: twice as many items each time, so that the copies cost no more than the items do.
"""

from libc.stdlib cimport realloc


cdef inline void* more(void* block, Py_ssize_t* room, size_t size, Py_ssize_t least) except NULL:
    """The block with room for twice as many items of `size` bytes, `least` of them at first."""
    cdef Py_ssize_t wanted = max(least, 2 * room[0])
    cdef void* grown = realloc(block, wanted * size)
    if grown == NULL:
        raise MemoryError
    room[0] = wanted
    return grown

"""Room: C buffers that grow on demand.

The capacity doubles each time, so the total cost of copies is proportional to the number of items.
"""

from libc.stdlib cimport realloc


cdef inline void* more(void* block, Py_ssize_t* room, size_t size, Py_ssize_t least) except NULL:
    """The block, reallocated for twice as many items of `size` bytes, and for at least `least` of them."""
    cdef Py_ssize_t wanted = max(least, 2 * room[0])
    cdef void* grown = realloc(block, wanted * size)
    if grown == NULL:
        raise MemoryError
    room[0] = wanted
    return grown

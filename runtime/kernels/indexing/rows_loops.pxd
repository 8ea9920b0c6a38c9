"""What adding and taking at indices share: where indices and elements lie, and who of several threads does what."""

from ...support cimport capi as cnp
from ...support.capi cimport ndarray, npy_intp
from ..loops.threads cimport Work

cdef enum:
    CHUNK = 1 << 13     # elements that are worth a call
    LINE = 64           # bytes that one thread should write

ctypedef fused number:
    float
    double
    cnp.npy_int64

cdef struct Scatter:        # or gather
    char* x
    char* y
    npy_intp* places
    npy_intp outer, length, count, inner    # lengths before the axis, of it in the array and in the indices, and behind it
    npy_intp size                           # of an element, in bytes
    bint by_columns                         # the work is shared out by elements behind the axis, else by those before it
    int parts                               # numbers of an element
    int type_num


cdef inline npy_intp at(npy_intp length, npy_intp place) noexcept nogil:
    return place + length if place < 0 else place


cdef ndarray as_places(object indices, npy_intp length)
cdef ndarray as_values(object values, ndarray y, tuple shape)
cdef bint find_lengths(ndarray x, int axis, npy_intp* outer, npy_intp* inner) noexcept
cdef bint is_target(object y) noexcept
cdef int parts_of(ndarray y) noexcept
cdef void share(Work work, Scatter* job, ndarray y, ndarray values, ndarray places, npy_intp line)

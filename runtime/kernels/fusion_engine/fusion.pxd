"""Fusion: defer calls of programs and compute them as one program."""

from ...support.capi cimport ndarray, npy_intp
from .deferred cimport Deferred
from .program cimport Program

cdef class Fused(Deferred):
    cdef Fusion fusion      # None once it is computed
    cdef int place          # ~i for input i of the fusion, i for its node i
    cdef int slot           # its dtype

    cdef bint fits(self, int ndim, npy_intp* dims, int type_num) noexcept

cdef class Fusion:
    cdef ndarray like       # an array of the shape of every value, without memory of its own
    cdef list inputs        # arrays, numbers and None
    cdef dict places        # id of an input -> its place
    cdef list nodes         # `(None, number)` or `(ufunc, *places)`
    cdef dict known         # node -> its place
    cdef list values        # the deferred values
    cdef list labels        # (number of nodes before, label)
    cdef object label       # the label that the caller gives the next calls
    cdef object failed      # the label of the call that could not be computed
    cdef list computed      # the arrays computed since a caller began to ask for them; None if no caller does
    cdef bint has_spread, has_uniform

    cdef Fused leaf(self, ndarray array)
    cdef bint takes(self, ndarray array) noexcept
    cdef object apply(self, object function, tuple operands, unsigned int wanted)
    cdef int place_of(self, object operand) except? -9999
    cdef int compute(self) except -1
    cdef object label_of(self, Py_ssize_t node)
    cdef int clear(self) except -1

cdef Fusion start_fusion(ndarray array)
cdef npy_intp large_size() noexcept

"""Indices along one axis of an array: definitions shared by the loops that take, add and write."""

from ...support.capi cimport ndarray, npy_intp

cdef enum:
    CHUNK = 1 << 13     # elements that make a thread worthwhile

cdef struct Places:         # in an array of outer x length x inner elements, for values of outer x count x inner
    npy_intp* indices
    bint each               # one index for each value, otherwise one for each of `count` slices
    npy_intp outer, length, count, inner


cdef inline npy_intp at(npy_intp length, npy_intp index) noexcept nogil:
    return index + length if index < 0 else index


cdef ndarray as_places(object indices, npy_intp length)
cdef ndarray find_places(ndarray x, int axis, object indices, bint each, Places* places)
cdef bint is_item(ndarray x) noexcept

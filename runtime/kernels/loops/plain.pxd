"""Tests of arrays that inner loops accept directly: contiguous, aligned, in native byte order, of a dtype with loops.

Defines the slots, too: the indices of the inexact dtypes, and of bool, in tables of loops.
"""

from ...support cimport capi as cnp
from ...support.capi cimport (
    NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, PyArray_DIMS, PyArray_FLAGS, PyArray_ISNOTSWAPPED, PyArray_NDIM,
    PyArray_STRIDES, ndarray, npy_intp,
)

cdef enum:
    BOOL_SLOT = 4   # after float32, float64, complex64, complex128
    SLOTS = 5


cdef inline int slot_of(int type_num) noexcept nogil:
    """Index of an inexact dtype in the tables of loops, -1 for any other dtype."""
    if type_num == cnp.NPY_FLOAT64:
        return 1
    if type_num == cnp.NPY_FLOAT32:
        return 0
    if type_num == cnp.NPY_COMPLEX128:
        return 3
    if type_num == cnp.NPY_COMPLEX64:
        return 2
    return -1


cdef inline int slot_or_bool(int type_num) noexcept nogil:
    """`slot_of`, with an index for bool."""
    return BOOL_SLOT if type_num == cnp.NPY_BOOL else slot_of(type_num)


cdef inline npy_intp item_size(int slot) noexcept nogil:
    return (4 if slot == 0 else 16 if slot == 3 else 1 if slot == BOOL_SLOT else 8)


cdef inline bint is_plain(ndarray x) noexcept:
    """Contiguous, aligned and in native byte order."""
    cdef int wanted = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED
    return PyArray_FLAGS(x) & wanted == wanted and PyArray_ISNOTSWAPPED(x)


cdef inline bint is_spread(ndarray x) noexcept:
    """Whether all elements share one place in memory, as `np.broadcast_to` returns: the gradient of a sum."""
    cdef int i
    if not PyArray_FLAGS(x) & NPY_ARRAY_ALIGNED or not PyArray_ISNOTSWAPPED(x) or PyArray_NDIM(x) == 0:
        return False
    for i in range(PyArray_NDIM(x)):
        if PyArray_DIMS(x)[i] > 1 and PyArray_STRIDES(x)[i] != 0 or PyArray_DIMS(x)[i] == 0:
            return False
    return True


cdef inline bint has_shape(ndarray x, int ndim, npy_intp* dims) noexcept:
    cdef int i
    if PyArray_NDIM(x) != ndim:
        return False
    for i in range(ndim):
        if PyArray_DIMS(x)[i] != dims[i]:
            return False
    return True


cdef inline bint same_shape(ndarray a, ndarray b) noexcept:
    return has_shape(a, PyArray_NDIM(b), PyArray_DIMS(b))

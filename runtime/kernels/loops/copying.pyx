# cython: boundscheck=False, wraparound=False
"""Copy and fill arrays: large ones by several threads.

A copy is cut into rows, along the innermost axis of the target.  Each thread copies some of the elements of all rows, or some of
the bytes if the rows are in one piece in both arrays.  NumPy copies small arrays, and arrays of two dtypes.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_FLAGS, PyArray_ISNOTSWAPPED,
    PyArray_ITEMSIZE, PyArray_NBYTES, PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE, ndarray, npy_intp,
)
from .memory cimport empty
from .plain cimport is_plain, is_spread, same_shape, slot_of
from .span cimport DIMENSIONS
from .threads cimport parallel

__all__ = ["copy_into", "copy_of", "empty_like", "empty_of", "full", "full_like", "zeros_of"]

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    int NPY_CORDER
    object PyArray_NewCopy(ndarray, int)

cdef extern from "gradspec/kernels/loops/copying.h":
    void gradspec_copy(int, char*, npy_intp, const char*, npy_intp, npy_intp) noexcept nogil

cdef enum:
    CHUNK = 1 << 16     # bytes that make a task for a thread worthwhile
    SHORT = 8           # elements of a row that is long enough

cdef struct Copy:
    char* target
    const char* source
    npy_intp unit                       # bytes of an element, 1 if rows are copied in one piece
    int size                            # the same, 0 for such rows
    int ndim                            # axes, the innermost first; it makes the rows
    npy_intp[DIMENSIONS] dims
    npy_intp[2][DIMENSIONS] strides     # of the target and the source


cpdef ndarray copy_into(ndarray target, object source):
    """``target[...] = source``, for arrays that share no memory.

    Parameters
    ----------
    target : ndarray
        Overwritten.
    source : ndarray or scalar
        Broadcast to the shape of `target`.

    Returns
    -------
    ndarray
        `target`.
    """
    cdef Copy copy
    if PyArray_NBYTES(target) >= LARGE:
        if not isinstance(source, np.ndarray):
            source = np.array(source, (<object> target).dtype)
        if PyArray_CheckExact(source) and find_rows(target, source, &copy):
            with nogil:
                parallel(copy_some, &copy, PyArray_NBYTES(target) // copy.unit, CHUNK // copy.unit)
            return target
    target[...] = source
    return target


cdef bint is_apart(ndarray x, ndarray out) except -1:
    """Whether an element of a plain array `out` may be written once the same element of `x` has been read."""
    if PyArray_BYTES(x) == PyArray_BYTES(out) and PyArray_TYPE(x) == PyArray_TYPE(out) and is_plain(x) and same_shape(x, out):
        return True
    return not np.may_share_memory(x, out)


cpdef ndarray copy_of(object x):
    """A C-contiguous copy of an array, or a number as an array."""
    if not isinstance(x, np.ndarray):
        return np.array(x)
    if PyArray_NBYTES(x) < LARGE:
        return PyArray_NewCopy(x, NPY_CORDER)
    return copy_into(empty_of((<object> x).shape, x), x)


cdef ndarray copy_alike(ndarray x):
    """A copy with the layout of an array, in order of its strides."""
    return copy_of(x) if is_plain(x) else np.array(x)


cpdef ndarray empty_of(tuple shape, ndarray x):
    """An array of the given shape that is not initialised, with the dtype of `x`."""
    cdef npy_intp[DIMENSIONS] dims
    cdef int i = 0
    if slot_of(PyArray_TYPE(x)) < 0 or not PyArray_ISNOTSWAPPED(x) or len(shape) > DIMENSIONS:
        return np.empty(shape, (<object> x).dtype)
    for length in shape:
        dims[i] = length
        i += 1
    return empty(i, dims, PyArray_TYPE(x))


def empty_like(object x, object dtype):
    """An array that is not initialised, with the shape and the layout of `x`."""
    if not PyArray_CheckExact(x) or not is_plain(x) or (dtype is not None and dtype != x.dtype):
        return np.empty_like(x, dtype=dtype)
    return empty_of(x.shape, x)


cpdef ndarray zeros_of(tuple shape, object x):
    """Zeros of the given shape, with the dtype of `x`."""
    cdef double complex zero = 0
    if not PyArray_CheckExact(x) or slot_of(PyArray_TYPE(x)) < 0 or not PyArray_ISNOTSWAPPED(x):
        return np.zeros(shape, x.dtype)
    return filled(empty_of(shape, x), <char*> &zero)


cpdef ndarray full(tuple shape, object value, object dtype):
    """An array with one value everywhere."""
    cdef ndarray item = np.full((), value, dtype)
    if slot_of(PyArray_TYPE(item)) < 0 or not PyArray_ISNOTSWAPPED(item) or len(shape) > DIMENSIONS:
        return np.full(shape, value, dtype)
    return filled(empty_of(shape, item), PyArray_BYTES(item))


cpdef ndarray full_like(object x, object value, object dtype):
    """An array with one value everywhere, and with the shape and the layout of `x`."""
    cdef ndarray item
    if not PyArray_CheckExact(x) or slot_of(PyArray_TYPE(x)) < 0 or not (is_plain(x) or is_spread(x)) or (
            dtype is not None and dtype != x.dtype):
        return np.full_like(x, value, dtype=dtype)
    if type(value) is int and value == 0:
        return zeros_of(x.shape, x)
    item = np.full((), value, x.dtype)
    return filled(empty_of(x.shape, x), PyArray_BYTES(item))


cdef ndarray filled(ndarray y, const char* item):
    """`y`, a new array, with one element everywhere."""
    cdef Copy copy
    cdef npy_intp size = PyArray_SIZE(y)
    copy.unit = copy.size = PyArray_ITEMSIZE(y)
    copy.target, copy.source, copy.ndim = PyArray_BYTES(y), item, 1
    copy.dims[0], copy.strides[0][0], copy.strides[1][0] = size, copy.unit, 0
    if size * copy.unit < LARGE:
        gradspec_copy(copy.size, copy.target, copy.unit, item, 0, size)
    else:
        with nogil:
            parallel(copy_some, &copy, size, CHUNK // copy.unit)
    return y


cdef bint find_rows(ndarray target, ndarray source, Copy* copy) noexcept:
    """Find the rows of a copy; False if NumPy has to do it."""
    cdef int lead = PyArray_NDIM(target) - PyArray_NDIM(source), axis, place
    cdef npy_intp length, own, other
    if PyArray_TYPE(source) != PyArray_TYPE(target) or PyArray_TYPE(target) >= cnp.NPY_OBJECT or lead < 0 or (
            not PyArray_FLAGS(target) & NPY_ARRAY_WRITEABLE or not PyArray_ISNOTSWAPPED(target) or not PyArray_ISNOTSWAPPED(source)):
        return False
    copy.target, copy.source, copy.unit, copy.ndim = PyArray_BYTES(target), PyArray_BYTES(source), PyArray_ITEMSIZE(target), 0
    for axis in range(PyArray_NDIM(target) - 1, -1, -1):
        length, own, other = PyArray_DIMS(target)[axis], PyArray_STRIDES(target)[axis], 0
        if axis >= lead and PyArray_DIMS(source)[axis - lead] != 1:
            if PyArray_DIMS(source)[axis - lead] != length:
                return False
            other = PyArray_STRIDES(source)[axis - lead]
        if length == 1:
            continue
        place = copy.ndim
        while place and abs(own) < abs(copy.strides[0][place - 1]):  # the target is written in the order of its memory
            move_axis(copy, place, place - 1)
            place -= 1
        copy.dims[place], copy.strides[0][place], copy.strides[1][place] = length, own, other
        copy.ndim += 1
    return copy.ndim > 0 and merge_axes(copy, bool(PyArray_FLAGS(target) & PyArray_FLAGS(source) & NPY_ARRAY_ALIGNED))


cdef bint merge_axes(Copy* copy, bint aligned) noexcept:
    """Join axes that both arrays hold without a gap; False if there is no loop for the elements."""
    cdef int axis, last = 0
    for axis in range(1, copy.ndim):
        if copy.strides[0][axis] == copy.strides[0][last] * copy.dims[last] and (
                copy.strides[1][axis] == copy.strides[1][last] * copy.dims[last]):
            copy.dims[last] *= copy.dims[axis]
        else:
            last += 1
            move_axis(copy, last, axis)
    copy.ndim = last + 1
    copy.size = <int> copy.unit
    if copy.strides[0][0] == copy.unit and copy.strides[1][0] == copy.unit and copy.dims[0] * copy.unit > 16:
        copy.dims[0], copy.strides[0][0], copy.strides[1][0], copy.unit, copy.size = copy.dims[0] * copy.unit, 1, 1, 1, 0
    elif copy.ndim > 1 and copy.dims[0] < SHORT <= copy.dims[1]:
        copy.dims[0], copy.dims[1] = copy.dims[1], copy.dims[0]
        for axis in range(2):
            copy.strides[axis][0], copy.strides[axis][1] = copy.strides[axis][1], copy.strides[axis][0]
    return copy.size == 0 or aligned and copy.size in (1, 2, 4, 8, 16)


cdef inline void move_axis(Copy* copy, int place, int axis) noexcept:
    copy.dims[place], copy.strides[0][place], copy.strides[1][place] = copy.dims[axis], copy.strides[0][axis], copy.strides[1][axis]


cdef void copy_some(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Copy the units from `start` to `stop`, counted along the rows."""
    cdef Copy* copy = <Copy*> context
    cdef npy_intp[DIMENSIONS] index
    cdef npy_intp length = copy.dims[0], to = copy.strides[0][0], other = copy.strides[1][0], size
    cdef npy_intp row = start // length, first = start % length
    cdef char* target = copy.target
    cdef const char* source = copy.source
    cdef int axis
    for axis in range(1, copy.ndim):
        index[axis] = row % copy.dims[axis]
        row //= copy.dims[axis]
        target += index[axis] * copy.strides[0][axis]
        source += index[axis] * copy.strides[1][axis]
    while start < stop:
        size = min(length - first, stop - start)
        gradspec_copy(copy.size, target + first * to, to, source + first * other, other, size)
        start, first = start + size, 0
        for axis in range(1, copy.ndim):
            index[axis] += 1
            target += copy.strides[0][axis]
            source += copy.strides[1][axis]
            if index[axis] < copy.dims[axis]:
                break
            target -= copy.dims[axis] * copy.strides[0][axis]
            source -= copy.dims[axis] * copy.strides[1][axis]
            index[axis] = 0

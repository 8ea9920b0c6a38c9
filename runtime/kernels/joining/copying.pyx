# cython: boundscheck=False, wraparound=False
"""Assign an array to a part of an array: a large one by several threads.

A copy is cut into runs, which both arrays hold in one piece.  Each thread copies the runs of some of the bytes.  NumPy copies small
arrays, short runs, and arrays of two dtypes.
"""

from libc.string cimport memcpy

from ...support cimport capi as cnp
from ...support.capi cimport (
    NPY_ARRAY_WRITEABLE, PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_FLAGS, PyArray_ISNOTSWAPPED, PyArray_NDIM,
    PyArray_STRIDES, PyArray_TYPE, ndarray, npy_intp,
)
from ..loops.plain cimport item_size, slot_of
from ..loops.span cimport DIMENSIONS
from ..loops.threads cimport parallel

__all__ = ["copy_into"]

cnp.import_array()

cdef enum:
    SHORT = 256         # bytes of the shortest run that is copied here
    CHUNK = 1 << 16     # bytes that make a task for a thread worthwhile

cdef struct Copy:
    char* target
    const char* source
    npy_intp run                        # bytes that are in one piece in both
    int ndim                            # axes of the runs
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
    cdef npy_intp size
    if PyArray_CheckExact(source) and find_runs(target, source, &copy):
        size = copy.run
        for axis in range(copy.ndim):
            size *= copy.dims[axis]
        if size >= 4 * CHUNK:
            with nogil:
                parallel(copy_some, &copy, size, CHUNK)
            return target
    target[...] = source
    return target


cdef bint find_runs(ndarray target, ndarray source, Copy* copy) noexcept:
    """Find the runs of a copy; False if NumPy has to do it."""
    cdef int slot = slot_of(PyArray_TYPE(target)), lead = PyArray_NDIM(target) - PyArray_NDIM(source), axis
    cdef npy_intp length, own, other
    cdef bint whole = True
    if slot < 0 or PyArray_TYPE(source) != PyArray_TYPE(target) or lead < 0 or not PyArray_FLAGS(target) & NPY_ARRAY_WRITEABLE or (
            not PyArray_ISNOTSWAPPED(target) or not PyArray_ISNOTSWAPPED(source)):
        return False
    copy.target, copy.source, copy.run, copy.ndim = PyArray_BYTES(target), PyArray_BYTES(source), item_size(slot), 0
    for axis in range(PyArray_NDIM(target) - 1, -1, -1):
        length, own, other = PyArray_DIMS(target)[axis], PyArray_STRIDES(target)[axis], 0
        if axis >= lead and PyArray_DIMS(source)[axis - lead] != 1:
            if PyArray_DIMS(source)[axis - lead] != length:
                return False
            other = PyArray_STRIDES(source)[axis - lead]
        if length == 1:
            continue
        whole = whole and own == copy.run and other == copy.run
        if whole:
            copy.run *= length
        else:
            copy.dims[copy.ndim], copy.strides[0][copy.ndim], copy.strides[1][copy.ndim] = length, own, other
            copy.ndim += 1
    return copy.run >= SHORT


cdef void copy_some(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Copy the bytes from `start` to `stop`, in the order of the target's elements."""
    cdef Copy* copy = <Copy*> context
    cdef npy_intp[DIMENSIONS] index
    cdef npy_intp row = start // copy.run, first = start % copy.run, size
    cdef char* target = copy.target
    cdef const char* source = copy.source
    cdef int axis
    for axis in range(copy.ndim):  # the innermost first
        index[axis] = row % copy.dims[axis]
        row //= copy.dims[axis]
        target += index[axis] * copy.strides[0][axis]
        source += index[axis] * copy.strides[1][axis]
    while start < stop:
        size = min(copy.run - first, stop - start)
        memcpy(target + first, source + first, size)
        start, first = start + size, 0
        for axis in range(copy.ndim):
            index[axis] += 1
            target += copy.strides[0][axis]
            source += copy.strides[1][axis]
            if index[axis] < copy.dims[axis]:
                break
            target -= copy.dims[axis] * copy.strides[0][axis]
            source -= copy.dims[axis] * copy.strides[1][axis]
            index[axis] = 0

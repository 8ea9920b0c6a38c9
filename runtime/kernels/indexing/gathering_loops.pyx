# cython: boundscheck=False, wraparound=False
"""Take elements and slices at indices along one axis.

Loops over contiguous arrays of any numbers, and checks the indices: integers that count from either end, each in range.  All
other arrays, and the errors, are left to NumPy.  The loops are bound by memory.
"""

from libc.string cimport memcpy

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ISNOTSWAPPED, PyArray_ITEMSIZE, PyArray_NDIM, PyArray_SIZE,
    PyArray_TYPE, ndarray, npy_intp,
)
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain
from ..loops.span cimport DIMENSIONS
from ..loops.threads cimport GRAIN, parallel
from ..loops.threads import get_num_threads

__all__ = ["take"]

cnp.import_array()

cdef extern from "gradspec/kernels/indexing/gathering_loops.h":
    bint gradspec_in_range(npy_intp*, npy_intp, npy_intp) noexcept nogil

ctypedef fused item:
    cnp.npy_uint8
    cnp.npy_uint32
    cnp.npy_uint64

cdef struct Gather:
    Places places
    char* x
    char* y
    npy_intp size       # bytes of an element


cdef ndarray as_places(object indices, npy_intp length):
    """Contiguous indices of machine size, all in range; None if some are not."""
    cdef ndarray places
    if not isinstance(indices, np.ndarray):
        return None
    if PyArray_TYPE(indices) == cnp.NPY_INTP and is_plain(indices):
        places = indices
    elif indices.dtype.kind not in "iu" or indices.dtype == np.uint64:
        return None
    else:
        places = np.require(indices, np.intp, "CA")
    return places if gradspec_in_range(<npy_intp*> PyArray_BYTES(places), PyArray_SIZE(places), length) else None


cdef ndarray find_places(ndarray x, int axis, object indices, bint each, Places* places):
    """The indices, and their layout in `x`; None if there is no such axis, or an index is out of range.

    With an index for each element, `indices` are as long as `x` along every other axis.
    """
    cdef ndarray found
    cdef int i
    if axis < 0:
        axis += PyArray_NDIM(x)
    if not PyArray_CheckExact(indices) or not 0 <= axis < PyArray_NDIM(x):
        return None
    if each and PyArray_NDIM(indices) != PyArray_NDIM(x):
        return None
    places.outer = places.inner = 1
    for i in range(PyArray_NDIM(x)):
        if i != axis:
            if each and PyArray_DIMS(indices)[i] != PyArray_DIMS(x)[i]:
                return None
            if i < axis:
                places.outer *= PyArray_DIMS(x)[i]
            else:
                places.inner *= PyArray_DIMS(x)[i]
    found = as_places(indices, PyArray_DIMS(x)[axis])
    if found is not None:
        places.indices, places.each, places.length = <npy_intp*> PyArray_BYTES(found), each, PyArray_DIMS(x)[axis]
        places.count = PyArray_DIMS(found)[axis] if each else PyArray_SIZE(found)
    return found


cdef bint is_item(ndarray x) noexcept:
    """Whether the elements are numbers of a size that the loops can move individually."""
    return PyArray_ITEMSIZE(x) in (1, 4, 8) and PyArray_ISNOTSWAPPED(x) and (<object> x).dtype.kind in "biufc"


cdef void take_items(item* y, item* x, Places* places, npy_intp start, npy_intp stop) noexcept nogil:
    """y[i, j, k] = x[i, indices[i, j, k] or indices[j], k], for rows (i, j)."""
    cdef npy_intp inner = places.inner, count = places.count, length = places.length, row = start, end, j, k
    cdef npy_intp* indices
    y, x = y + start * inner, x + start // count * length * inner
    while row < stop:
        end = min(stop, (row // count + 1) * count)
        indices = places.indices + (row * inner if places.each else row % count)
        if inner == 1:
            for j in range(end - row):
                y[j] = x[at(length, indices[j])]
        elif places.each:
            for j in range(end - row):
                for k in range(inner):
                    y[j * inner + k] = x[at(length, indices[j * inner + k]) * inner + k]
        else:
            for j in range(end - row):
                memcpy(y + j * inner, x + at(length, indices[j]) * inner, inner * sizeof(item))
        y, x, row = y + (end - row) * inner, x + length * inner, end


cdef void take_some(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Gather* job = <Gather*> context
    if job.size == 4:
        take_items(<cnp.npy_uint32*> job.y, <cnp.npy_uint32*> job.x, &job.places, start, stop)
    elif job.size == 8:
        take_items(<cnp.npy_uint64*> job.y, <cnp.npy_uint64*> job.x, &job.places, start, stop)
    else:
        take_items(<cnp.npy_uint8*> job.y, <cnp.npy_uint8*> job.x, &job.places, start, stop)


cdef void fill(ndarray y, ndarray x, Gather* job):
    """Fill all of `y`, on several threads."""
    cdef npy_intp rows = job.places.outer * job.places.count
    if PyArray_SIZE(y) == 0:
        return
    job.x, job.y, job.size = PyArray_BYTES(x), PyArray_BYTES(y), PyArray_ITEMSIZE(x)
    if job.size not in (1, 4, 8):  # slices of elements that are moved as bytes
        job.places.inner, job.size = job.places.inner * job.size, 1
    with nogil:
        parallel(take_some, job, rows, max(<npy_intp> 1, CHUNK // job.places.inner))


def take(x, indices, axis):
    """Elements at `indices` along `axis`, of the flattened array if it is None, as ``np.take``."""
    y = None
    if type(axis) is int and -DIMENSIONS <= axis < DIMENSIONS and PyArray_CheckExact(x) and is_plain(x):
        y = slices(x, axis, indices)
    return np.take(x, indices, axis) if y is None else y


cdef ndarray slices(ndarray x, int axis, object indices):
    """Take many slices on several threads; None for few slices, for one thread, or if NumPy has to raise an error."""
    cdef Gather job
    cdef ndarray y, places
    cdef npy_intp[DIMENSIONS] dims
    cdef int i, extra, ndim = PyArray_NDIM(x)
    if (<object> x).dtype.kind not in "biufc" or not PyArray_CheckExact(indices):
        return None
    extra = PyArray_NDIM(indices)
    if axis < 0:
        axis += ndim
    if not 0 <= axis < ndim or ndim - 1 + extra > DIMENSIONS or PyArray_DIMS(x)[axis] == 0:
        return None
    if PyArray_SIZE(x) // PyArray_DIMS(x)[axis] * PyArray_SIZE(indices) < GRAIN or get_num_threads() == 1:
        return None  # NumPy is as fast
    places = find_places(x, axis, indices, False, &job.places)
    if places is None:
        return None
    for i in range(ndim - 1 + extra):
        dims[i] = PyArray_DIMS(x)[i] if i < axis else PyArray_DIMS(indices)[i - axis] if i < axis + extra else (
            PyArray_DIMS(x)[i + 1 - extra])
    y = empty(ndim - 1 + extra, dims, PyArray_TYPE(x))
    fill(y, x, &job)
    return y


def take_across(x, int axis, indices):
    """``x[..., indices[..., i, ...], ...]``, with the index at `axis`.

    Parameters
    ----------
    x : ndarray
    axis : int
    indices : ndarray of int
        As long as `x` along every other axis.

    Returns
    -------
    ndarray or None
        None if the loops do not support the operands.
    """
    cdef Gather job
    cdef ndarray y, places
    if not PyArray_CheckExact(x) or not is_plain(x) or not is_item(x):
        return None
    places = find_places(x, axis, indices, True, &job.places)
    if places is None:
        return None
    y = empty(PyArray_NDIM(places), PyArray_DIMS(places), PyArray_TYPE(x))
    fill(y, x, &job)
    return y

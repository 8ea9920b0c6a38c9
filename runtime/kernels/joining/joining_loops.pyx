"""Stack, concatenate and split arrays along an axis, without the overhead of NumPy's Python functions.

That overhead exceeds the copies of small arrays.  `stack` and `concatenate` are for plain arrays of one inexact dtype; the views
that are their adjoints, for any array.  All other arrays, and the errors, are left to NumPy.
"""

from libc.string cimport memcpy

import math

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ...support cimport capi as cnp
from ...support.capi cimport (
    NPY_ARRAY_WRITEABLE, PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_FLAGS, PyArray_ITEMSIZE, PyArray_NDIM,
    PyArray_STRIDES, PyArray_TYPE, ndarray, npy_intp,
)
from ..loops.axes cimport view_of
from ..loops.copying cimport copy_into
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain, slot_of
from ..loops.span cimport DIMENSIONS
from ..loops.threads cimport GRAIN

__all__ = ["concat_backward", "concatenate", "stack", "unstack"]

cnp.import_array()


def stack(arrays, axis):
    """Stack arrays of one shape along a new axis, as ``np.stack``."""
    y = laid(list(arrays), axis, True)
    return np.stack(arrays, axis) if y is None else y


def concatenate(arrays, axis):
    """Concatenate arrays along an axis, as ``np.concatenate``."""
    y = None if axis is None else laid(list(arrays), axis, False)
    return np.concatenate(arrays, axis) if y is None else y


cdef ndarray laid(list arrays, Py_ssize_t axis, bint along_new):
    """The arrays joined along `axis`, existing or new; None if NumPy has to join them, or to raise an error."""
    cdef npy_intp[DIMENSIONS] dims
    cdef npy_intp outer = 1, row = 1, length = 0, total, size, i
    cdef int ndim, type_num, j
    cdef char* target
    cdef ndarray first, array, y
    if not arrays or not PyArray_CheckExact(arrays[0]):
        return None
    first = arrays[0]
    ndim, type_num = PyArray_NDIM(first), PyArray_TYPE(first)
    if axis < 0:
        axis += ndim + along_new
    if not 0 <= axis < ndim + along_new or ndim + along_new > DIMENSIONS or slot_of(type_num) < 0:
        return None
    for j in range(ndim):
        dims[j + (along_new and j >= axis)] = PyArray_DIMS(first)[j]
        if j < axis:
            outer *= PyArray_DIMS(first)[j]
        elif j > axis or along_new:
            row *= PyArray_DIMS(first)[j]
    for item in arrays:
        if not PyArray_CheckExact(item):
            return None
        array = item
        if PyArray_TYPE(array) != type_num or PyArray_NDIM(array) != ndim or not is_plain(array):
            return None
        for j in range(ndim):
            if PyArray_DIMS(array)[j] != PyArray_DIMS(first)[j] and (along_new or j != axis):
                return None
        length += 1 if along_new else PyArray_DIMS(array)[axis]
    dims[axis] = length
    y = empty(ndim + along_new, dims, type_num)
    if outer * row * length >= GRAIN:
        return joined_into(y, arrays, axis, along_new)
    row *= PyArray_ITEMSIZE(first)
    total, target = row * length, PyArray_BYTES(y)
    for item in arrays:
        array = item
        size = row if along_new else row * PyArray_DIMS(array)[axis]
        for i in range(outer):
            memcpy(target + i * total, PyArray_BYTES(array) + i * size, size)
        target += size
    return y


cdef ndarray joined_into(ndarray y, list arrays, int axis, bint along_new):
    """`y`, into which the arrays are copied side by side."""
    cdef npy_intp[DIMENSIONS] strides
    cdef char* target = PyArray_BYTES(y)
    cdef ndarray array
    cdef int j
    for j in range(PyArray_NDIM(y) - along_new):
        strides[j] = PyArray_STRIDES(y)[j + (along_new and j >= axis)]
    for item in arrays:
        array = item
        copy_into(view_of(y, PyArray_NDIM(array), PyArray_DIMS(array), strides, target, NPY_ARRAY_WRITEABLE), array)
        target += PyArray_STRIDES(y)[axis] * (1 if along_new else PyArray_DIMS(array)[axis])
    return y


cdef int axis_of(ndarray x, Py_ssize_t axis) except -1:
    return axis if 0 <= axis < PyArray_NDIM(x) else normalize_axis_index(axis, PyArray_NDIM(x))


def unstack(ndarray x, Py_ssize_t axis):
    """The slices of `x` along `axis`.

    Parameters
    ----------
    x : ndarray
    axis : int

    Returns
    -------
    list of ndarray
        Views of `x`, also if 0-d.
    """
    cdef npy_intp[DIMENSIONS] dims
    cdef npy_intp[DIMENSIONS] strides
    cdef npy_intp i
    cdef int j, own = axis_of(x, axis), ndim = PyArray_NDIM(x) - 1, flags = PyArray_FLAGS(x) & NPY_ARRAY_WRITEABLE
    for j in range(ndim):
        dims[j], strides[j] = PyArray_DIMS(x)[j + (j >= own)], PyArray_STRIDES(x)[j + (j >= own)]
    return [view_of(x, ndim, dims, strides, PyArray_BYTES(x) + i * PyArray_STRIDES(x)[own], flags)
            for i in range(PyArray_DIMS(x)[own])]


def concat_backward(ndarray x, shapes, axis):
    """The adjoint of `concatenate`: the parts of `x`, with the given shapes.

    Parameters
    ----------
    x : ndarray
    shapes : sequence of tuple of int
    axis : int or None

    Returns
    -------
    list of ndarray
        Views of `x`.
    """
    cdef npy_intp[DIMENSIONS] dims
    cdef npy_intp start = 0
    cdef int j, own = axis_of(x, 0 if axis is None else axis), ndim = PyArray_NDIM(x)
    cdef int flags = PyArray_FLAGS(x) & NPY_ARRAY_WRITEABLE
    cdef list parts = []
    for j in range(ndim):
        dims[j] = PyArray_DIMS(x)[j]
    for shape in shapes:
        dims[own] = math.prod(shape) if axis is None else shape[own]
        if start + dims[own] > PyArray_DIMS(x)[own]:
            raise ValueError(f"shapes {list(shapes)} hold more than the {PyArray_DIMS(x)[own]} there are along axis {own}")
        part = view_of(x, ndim, dims, PyArray_STRIDES(x), PyArray_BYTES(x) + start * PyArray_STRIDES(x)[own], flags)
        parts.append(part.reshape(shape) if axis is None else part)
        start += dims[own]
    return parts

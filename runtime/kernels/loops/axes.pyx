# cython: boundscheck=False, wraparound=False
"""Views with other axes: insert axes of length 1, and broadcast.

Computes the shapes and strides of plain cases directly: NumPy does so in Python, which takes longer than creating the view.  All
other cases, and the errors, are left to NumPy.
"""

from cpython.ref cimport Py_INCREF, PyObject, PyTypeObject

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    NPY_ARRAY_WRITEABLE, PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_FLAGS, PyArray_NDIM, PyArray_STRIDES,
    ndarray, npy_intp,
)
from .span cimport DIMENSIONS

__all__ = ["broadcast_to", "expand_dims"]

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyArray_Descr
    object PyArray_NewFromDescr(PyTypeObject*, PyArray_Descr*, int, npy_intp*, npy_intp*, void*, int, PyObject*)
    int PyArray_SetBaseObject(ndarray, object) except -1
    PyArray_Descr* PyArray_DESCR(ndarray)
    PyTypeObject PyArray_Type


cdef ndarray view_of(ndarray x, int ndim, npy_intp* dims, npy_intp* strides, char* data, int flags):
    """A view of the memory of `x` with the given shape, strides and first element."""
    cdef ndarray y
    Py_INCREF(<object> <PyObject*> PyArray_DESCR(x))  # PyArray_NewFromDescr steals this reference
    y = PyArray_NewFromDescr(&PyArray_Type, PyArray_DESCR(x), ndim, dims, strides, data, flags, NULL)
    Py_INCREF(x)  # PyArray_SetBaseObject steals this reference
    PyArray_SetBaseObject(y, x)
    return y


cdef ndarray row_view(ndarray x, npy_intp row):
    """`x[row]`, as an array even if it has no axes."""
    cdef char* data = PyArray_BYTES(x) + row * PyArray_STRIDES(x)[0]
    cdef int flags = PyArray_FLAGS(x) & NPY_ARRAY_WRITEABLE
    return view_of(x, PyArray_NDIM(x) - 1, PyArray_DIMS(x) + 1, PyArray_STRIDES(x) + 1, data, flags)


def expand_dims(x, axis):
    """`x` with axes of length 1 at the given places of the result, as ``np.expand_dims``.

    Parameters
    ----------
    x : ndarray
    axis : int or tuple of int

    Returns
    -------
    ndarray
        A view of `x`.
    """
    y = with_axes(x, axis if type(axis) is tuple else (axis,)) if PyArray_CheckExact(x) else None
    return np.expand_dims(x, axis) if y is None else y


cdef ndarray with_axes(ndarray x, tuple axes):
    """The view; None if the axes do not fit."""
    cdef npy_intp[DIMENSIONS] dims, strides
    cdef bint[DIMENSIONS] new
    cdef int count = len(axes), ndim = PyArray_NDIM(x) + count, i, j = 0
    if ndim > DIMENSIONS:
        return None
    for i in range(ndim):
        new[i] = False
    for place in axes:
        if type(place) is not int or not -ndim <= place < ndim:
            return None
        i = place
        i = i + ndim if i < 0 else i
        if new[i]:
            return None
        new[i] = True
    for i in range(ndim):
        if new[i]:
            dims[i] = 1
            strides[i] = PyArray_DIMS(x)[j] * PyArray_STRIDES(x)[j] if j < PyArray_NDIM(x) else cnp.PyArray_ITEMSIZE(x)
        else:
            dims[i], strides[i] = PyArray_DIMS(x)[j], PyArray_STRIDES(x)[j]
            j += 1
    return view_of(x, ndim, dims, strides, PyArray_BYTES(x), PyArray_FLAGS(x) & NPY_ARRAY_WRITEABLE)


def broadcast_to(x, shape):
    """`x` broadcast to another shape: elements are repeated along new axes and axes of length 1, as ``np.broadcast_to``.

    Parameters
    ----------
    x : ndarray
    shape : int or tuple of int

    Returns
    -------
    ndarray
        A read-only view of `x`.
    """
    y = spread(x, shape) if type(shape) is tuple and PyArray_CheckExact(x) else None
    return np.broadcast_to(x, shape) if y is None else y


cdef ndarray spread(ndarray x, tuple shape):
    """The view; None if the shape does not fit."""
    cdef npy_intp[DIMENSIONS] dims, strides
    cdef int ndim = len(shape), extra = ndim - PyArray_NDIM(x), i
    cdef npy_intp length
    if ndim > DIMENSIONS or extra < 0:
        return None
    for i in range(ndim):
        if type(shape[i]) is not int or shape[i] < 0:
            return None
        dims[i], strides[i] = shape[i], 0
        if i >= extra:
            length = PyArray_DIMS(x)[i - extra]
            if length == dims[i]:
                strides[i] = PyArray_STRIDES(x)[i - extra]
            elif length != 1:
                return None
    return view_of(x, ndim, dims, strides, PyArray_BYTES(x), 0)

# cython: boundscheck=False, wraparound=False
"""Views with other axes: insert, move and repeat axes, and reshape.

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

__all__ = ["broadcast_to", "expand_dims", "moveaxis", "reshape"]

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


def moveaxis(x, source, destination):
    """A view of `x` with the axes `source`, one or a tuple, at the places `destination`, as ``np.moveaxis``."""
    cdef tuple axes = source if type(source) is tuple else (source,)
    cdef tuple places = destination if type(destination) is tuple else (destination,)
    order = moved_order(PyArray_NDIM(x), axes, places) if PyArray_CheckExact(x) else None
    return np.moveaxis(x, source, destination) if order is None else x.transpose(order)


cdef list moved_order(int ndim, tuple source, tuple destination):
    """The axes of the result by their numbers before; None if the arguments do not fit."""
    cdef int[2][DIMENSIONS] places  # of an axis of `x` in the result; of an axis of the result in `x`; -1 if it was not moved
    cdef Py_ssize_t start, end
    cdef int i, j = 0
    if len(source) != len(destination):
        return None
    for i in range(ndim):
        places[0][i] = places[1][i] = -1
    for start, end in zip(source, destination):
        start, end = start + ndim if start < 0 else start, end + ndim if end < 0 else end
        if not 0 <= start < ndim or not 0 <= end < ndim or places[0][start] >= 0 or places[1][end] >= 0:
            return None
        places[0][start], places[1][end] = end, start
    order = []
    for i in range(ndim):
        if places[1][i] < 0:
            while places[0][j] >= 0:
                j += 1
            places[1][i] = j
            j += 1
        order.append(places[1][i])
    return order


def reshape(x, shape):
    """The elements of `x` in C order with another shape, as ``np.reshape``, whose function takes ten times as long as the method.

    Parameters
    ----------
    x : ndarray
    shape : tuple of int

    Returns
    -------
    ndarray
        A view of `x` if strides can express it.
    """
    return x.reshape(shape) if PyArray_CheckExact(x) else np.reshape(x, shape)

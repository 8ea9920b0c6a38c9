"""NumPy's and Python's C declarations that Cython's own headers lack or spell otherwise, once for every module."""

from cpython.ref cimport PyObject
from numpy cimport ndarray, npy_intp

cdef extern from "Python.h":
    ctypedef struct PyTupleObject:
        PyObject** ob_item
    void PyObject_GC_Track(object)
    void PyObject_GC_UnTrack(void*)
    int PyObject_GC_IsTracked(object)
    int PyObject_GenericSetAttr(object, object, PyObject*) except -1
    Py_ssize_t Py_REFCNT(object)
    Py_ssize_t Py_SIZE(object)
    char* PyByteArray_AS_STRING(object)
    PyObject* PyThreadState_GetDict()  # borrowed
    unsigned long PyThread_get_thread_ident()

cdef extern from "numpy/arrayobject.h" nogil:
    int NPY_ARRAY_ALIGNED
    int NPY_ARRAY_C_CONTIGUOUS
    int NPY_ARRAY_OWNDATA
    int NPY_ARRAY_WRITEABLE
    int PyArray_CheckExact(object)
    int PyArray_FLAGS(ndarray)
    int PyArray_TYPE(ndarray)
    int PyArray_NDIM(ndarray)
    npy_intp* PyArray_DIMS(ndarray)
    npy_intp* PyArray_STRIDES(ndarray)
    npy_intp PyArray_SIZE(ndarray)
    npy_intp PyArray_ITEMSIZE(ndarray)
    char* PyArray_BYTES(ndarray)
    bint PyArray_ISNOTSWAPPED(ndarray)
    object PyArray_EMPTY(int, npy_intp*, int, int)

"""C declarations of NumPy and Python, shared by all modules.

NumPy's part contains only the names in use: a module that cimports NumPy's own header looks up fifteen of its types at import,
and there are a hundred modules.  Python's part contains names that Cython's own header lacks or declares differently.
"""

from cpython.ref cimport PyObject

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
    ctypedef Py_ssize_t npy_intp
    ctypedef unsigned char npy_uint8
    ctypedef unsigned int npy_uint32
    ctypedef unsigned long long npy_uint64
    ctypedef signed long long npy_int64

    int NPY_BOOL
    int NPY_OBJECT
    int NPY_INT64
    int NPY_INTP
    int NPY_FLOAT32
    int NPY_FLOAT64
    int NPY_COMPLEX64
    int NPY_COMPLEX128
    int NPY_ARRAY_ALIGNED
    int NPY_ARRAY_C_CONTIGUOUS
    int NPY_ARRAY_OWNDATA
    int NPY_ARRAY_WRITEABLE

    ctypedef class numpy.ndarray [object PyArrayObject, check_size ignore]:
        @property
        cdef inline int ndim(self) noexcept nogil:
            return PyArray_NDIM(self)

        @property
        cdef inline npy_intp* shape(self) noexcept nogil:
            return PyArray_DIMS(self)

        @property
        cdef inline npy_intp* strides(self) noexcept nogil:
            return PyArray_STRIDES(self)

        @property
        cdef inline npy_intp size(self) noexcept nogil:
            cdef npy_intp count = 1
            cdef int i
            for i in range(PyArray_NDIM(self)):  # like PyArray_SIZE, without a call into NumPy
                count *= PyArray_DIMS(self)[i]
            return count

        @property
        cdef inline char* data(self) noexcept nogil:
            return PyArray_BYTES(self)

        @property
        cdef inline PyObject* base(self) noexcept nogil:
            return PyArray_BASE(self)

    int PyArray_CheckExact(object)
    int PyArray_FLAGS(ndarray)
    int PyArray_TYPE(ndarray)
    int PyArray_NDIM(ndarray)
    npy_intp* PyArray_DIMS(ndarray)
    npy_intp* PyArray_STRIDES(ndarray)
    npy_intp PyArray_SIZE(ndarray)
    npy_intp PyArray_ITEMSIZE(ndarray)
    npy_intp PyArray_NBYTES(ndarray)
    char* PyArray_BYTES(ndarray)
    PyObject* PyArray_BASE(ndarray)  # borrowed
    bint PyArray_ISNOTSWAPPED(ndarray)
    bint PyTypeNum_ISFLOAT(int)
    bint PyTypeNum_ISCOMPLEX(int)
    object PyArray_EMPTY(int, npy_intp*, int, int)
    object PyArray_DescrFromType "(PyObject *) PyArray_DescrFromType" (int)
    int PyArray_CopyInto(ndarray, ndarray) except -1
    int _import_array() except -1

cdef inline int import_array() except -1:
    """Initialise NumPy's C interface; a module must call it before any other call into NumPy."""
    return _import_array()

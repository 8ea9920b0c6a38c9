"""NumPy's own inner loops, called directly where both sides of the call are plain."""

from numpy cimport ndarray, npy_intp

cdef extern from "numpy/ufuncobject.h" nogil:
    ctypedef void (*PyUFuncGenericFunction)(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil

cdef enum:
    EVERY = -1

cdef class Ufunc:
    cdef readonly object function       # the NumPy ufunc
    cdef bint keeps_reals               # np.conjugate copies a real array; here it is handed back
    cdef readonly str name              # the operator's name, for messages
    cdef readonly int claim             # which numbers the operator takes; EVERY for all
    cdef readonly tuple operands        # what it calls its operands
    cdef PyUFuncGenericFunction loops[4]  # for float32, float64, complex64, complex128; NULL where there is none
    cdef void* loop_data[4]
    cdef int out_types[4]
    cdef int nargs                      # of operands and results

    cdef object unary(self, object x)
    cdef object binary(self, object a, object b)
    cdef bint run(self, int slot, char** args, npy_intp size, npy_intp* steps)
    cdef object into(self, tuple operands, ndarray out, str name)

cdef ndarray add_into(ndarray total, ndarray term)
cdef bint add_plain(ndarray total, ndarray term) noexcept

"""NumPy's elementary functions, with our vector loops where these are as accurate as promised and faster."""

from ...support.capi cimport npy_intp

cdef extern from "numpy/ufuncobject.h" nogil:
    ctypedef void (*PyUFuncGenericFunction)(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil

cdef object vectorised(object function)
cdef int exchange(object function, PyUFuncGenericFunction* loops, void** data) except -1
cdef bint has_exp_less() noexcept
cdef void exp_less(const float* x, float most, float* y, npy_intp n) noexcept nogil

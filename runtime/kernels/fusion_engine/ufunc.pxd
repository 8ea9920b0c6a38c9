"""NumPy's own inner loops, called directly if all operands are plain."""

from ...support.capi cimport ndarray, npy_intp
from ..loops.plain cimport SLOTS

cdef extern from "numpy/ufuncobject.h" nogil:
    ctypedef void (*PyUFuncGenericFunction)(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil

cdef enum:
    EVERY = -1

cdef class Ufunc:
    cdef readonly object function       # the NumPy ufunc, or a function that handles other operands if the loops are ours
    cdef bint keeps_reals               # np.conjugate copies a real array; here the operand itself is returned
    cdef readonly str name              # the operator's name, for messages
    cdef readonly int claim             # the kinds of numbers that the operator takes; EVERY for all
    cdef readonly tuple operands        # the names of its operands
    cdef PyUFuncGenericFunction loops[SLOTS]  # for operands of one dtype; NULL for a dtype without a loop
    cdef void* loop_data[SLOTS]
    cdef int out_types[SLOTS]
    cdef int nargs                      # operands and results
    cdef int cost                       # per element, in additions
    cdef bint writes_over               # quick loops that read an element before they write it, and raise the flags that NumPy's raise
    cdef bint masks                     # the first operand is bool, and the others determine the dtype

    cdef int find_loops(self) except -1
    cdef object apply(self, tuple operands)
    cdef object unary(self, object x)
    cdef object binary(self, object a, object b)
    cdef ndarray by_rows(self, ndarray a, ndarray b)
    cdef bint run(self, int slot, char** args, npy_intp size, npy_intp* steps) noexcept
    cdef object into(self, tuple operands, ndarray out, str name)

cdef Ufunc pointwise(object function, tuple operands, PyUFuncGenericFunction* loops, bint masks=*, bint costly=*)
cdef int tell_flags(Ufunc ufunc, int flags) except -1
cdef PyUFuncGenericFunction cast_loop(int slot, int wider) noexcept
cdef Ufunc offer(Ufunc ufunc)
cdef Ufunc offered(str name)

cdef ndarray add_into(ndarray total, ndarray term)
cdef bint add_plain(ndarray total, ndarray term) noexcept

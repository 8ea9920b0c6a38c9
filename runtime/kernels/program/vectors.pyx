"""NumPy's elementary functions, with loops over vectors where ours are as accurate as promised and quicker.

Owns the choice of an inner loop for each function and dtype, which is made once, from what the processor has.  A function with
loops of ours is a universal function of its own, with NumPy's loops for all other dtypes: it broadcasts, converts and warns as
NumPy's.  An argument whose result is extreme goes through NumPy's loop, which has the special values and raises the flags; so
the result depends on the argument alone, not on its neighbours, the length, the strides or the thread.  The promise is in
docs/accuracy.md.  Knows no operator.
"""

import os

from libc.stdlib cimport malloc

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport npy_intp

cdef extern from "numpy/ufuncobject.h":
    int _import_umath() except -1
    int PyUFunc_None
    ctypedef void (*PyUFuncGenericFunction)(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    ctypedef struct PyUFuncObject:
        int nin
        int nout
        PyUFuncGenericFunction* functions
        void** data
        int ntypes
        const char* types
        const char* name
        const char* doc
    object PyUFunc_FromFuncAndData(
        PyUFuncGenericFunction*, void**, const char*, int, int, int, int, const char*, const char*, int)

cdef extern from "gradspec/kernels/program/vectors.h":
    int GRADSPEC_OWN_COUNT
    ctypedef struct gradspec_vector_loop_float:
        PyUFuncGenericFunction rest
        void* rest_data
    ctypedef struct gradspec_vector_loop_double:
        PyUFuncGenericFunction rest
        void* rest_data
    ctypedef struct Own:
        const char* name
    const Own* gradspec_own
    int gradspec_has_fused() noexcept
    bint gradspec_take_float(gradspec_vector_loop_float*, int) noexcept
    bint gradspec_take_double(gradspec_vector_loop_double*, int) noexcept
    void gradspec_inner_loop_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_inner_loop_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil

_import_umath()

cdef bint _enabled = gradspec_has_fused() and os.environ.get("GRADSPEC_ELEMENTARY", "") != "numpy"
cdef dict _made = {}    # from NumPy's function to ours


def chosen():
    """Who computes each elementary function: ``{name: {dtype: "gradspec" or "NumPy"}}``, by NumPy's names."""
    cdef gradspec_vector_loop_float single
    cdef gradspec_vector_loop_double twice
    return {
        _own_name(place): {
            "float32": "gradspec" if _enabled and gradspec_take_float(&single, place) else "NumPy",
            "float64": "gradspec" if _enabled and gradspec_take_double(&twice, place) else "NumPy",
        }
        for place in range(GRADSPEC_OWN_COUNT)
    }


cdef str _own_name(int place):
    return (<bytes> gradspec_own[place].name).decode()


cdef object vectorised(object function):
    """The function with loops of ours; itself where there are none."""
    cdef int place
    if not _enabled or not isinstance(function, np.ufunc) or getattr(np, function.__name__, None) is not function:
        return function
    if function not in _made:
        _made[function] = function
        for place in range(GRADSPEC_OWN_COUNT):
            if _own_name(place) == function.__name__:
                _made[function] = made(function, place)
    return _made[function]


cdef object made(object function, int place):
    """A universal function as NumPy's, but for two loops; what it points to is never given back."""
    cdef PyUFuncObject* given = <PyUFuncObject*> (<void*> function)
    cdef PyUFuncGenericFunction* loops = <PyUFuncGenericFunction*> malloc(given.ntypes * sizeof(PyUFuncGenericFunction))
    cdef void** data = <void**> malloc(given.ntypes * sizeof(void*))
    cdef gradspec_vector_loop_float* single = <gradspec_vector_loop_float*> malloc(sizeof(gradspec_vector_loop_float))
    cdef gradspec_vector_loop_double* twice = <gradspec_vector_loop_double*> malloc(sizeof(gradspec_vector_loop_double))
    cdef bint has_single, has_twice
    cdef int i
    if loops == NULL or data == NULL or single == NULL or twice == NULL:
        raise MemoryError
    has_single, has_twice = gradspec_take_float(single, place), gradspec_take_double(twice, place)
    for i in range(given.ntypes):
        loops[i], data[i] = given.functions[i], given.data[i]
        if given.types[2 * i] != given.types[2 * i + 1]:
            continue
        if given.types[2 * i] == cnp.NPY_FLOAT32 and has_single:  # the first one, which NumPy calls
            has_single = False
            single.rest, single.rest_data = loops[i], data[i]
            loops[i], data[i] = gradspec_inner_loop_float, single
        elif given.types[2 * i] == cnp.NPY_FLOAT64 and has_twice:
            has_twice = False
            twice.rest, twice.rest_data = loops[i], data[i]
            loops[i], data[i] = gradspec_inner_loop_double, twice
    return PyUFunc_FromFuncAndData(
        loops, data, given.types, given.ntypes, 1, 1, PyUFunc_None, given.name, b"", 0)

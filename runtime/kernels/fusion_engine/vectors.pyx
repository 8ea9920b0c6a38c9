"""NumPy's elementary functions, with our vector loops where these keep the promised accuracy and are quicker; a few choices, too.

Chooses an inner loop for each function and dtype once, from the features of the processor.  A function with our loops is a
separate ufunc, with NumPy's loops for all other dtypes: it broadcasts, converts and warns like NumPy's.  Arguments with extreme
results go through NumPy's loop, which handles special values and raises the flags.  A result therefore depends on the argument
alone, not on its neighbours, the length, the strides or the thread.  docs/accuracy.md states the promised accuracy.  Loops of
ours with exactly NumPy's bits replace NumPy's in direct calls only.  Independent of operators.
"""

import os
import sys

from libc.stdlib cimport malloc

import numpy as np
from numpy._core._multiarray_umath import __cpu_features__

from ...support cimport capi as cnp
from ...support.capi cimport npy_intp

cdef extern from "numpy/ufuncobject.h":
    int _import_umath() except -1
    int PyUFunc_None
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

cdef extern from "gradspec/kernels/fusion_engine/vectors.h":
    int GRADSPEC_OWN_COUNT
    ctypedef struct gradspec_vector_loop_float:
        PyUFuncGenericFunction rest
        void* rest_data
    ctypedef struct gradspec_vector_loop_double:
        PyUFuncGenericFunction rest
        void* rest_data
    ctypedef struct Own:
        const char* name
        int left
    const Own* gradspec_own
    int GRADSPEC_OWN_PAIR_COUNT
    ctypedef struct gradspec_pair_loop_float:
        PyUFuncGenericFunction rest
        void* rest_data
    ctypedef struct gradspec_pair_loop_double:
        PyUFuncGenericFunction rest
        void* rest_data
    ctypedef struct OwnPair:
        const char* name
        int exact
    const OwnPair* gradspec_own_pairs
    int gradspec_has_fused() noexcept
    void gradspec_exp_less(const float*, float, float*, npy_intp) noexcept nogil
    void gradspec_take_float(gradspec_vector_loop_float*, int) noexcept
    void gradspec_take_double(gradspec_vector_loop_double*, int) noexcept
    void gradspec_take_numpys(gradspec_vector_loop_double*) noexcept
    void gradspec_take_pair_float(gradspec_pair_loop_float*, int) noexcept
    void gradspec_take_pair_double(gradspec_pair_loop_double*, int) noexcept
    void gradspec_inner_loop_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_inner_loop_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_inner_pair_loop_float(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil
    void gradspec_inner_pair_loop_double(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil

cdef extern from "gradspec/kernels/fusion_engine/choices.h":
    int GRADSPEC_OWN_CHOICE_COUNT
    ctypedef struct gradspec_choice:
        PyUFuncGenericFunction rest
        void* rest_data
    ctypedef struct OwnChoice:
        const char* name
        PyUFuncGenericFunction single
        PyUFuncGenericFunction twice
    const OwnChoice* gradspec_own_choices

_import_umath()

cdef str _asked = os.environ.get("GRADSPEC_ELEMENTARY", "")
cdef bint _enabled = gradspec_has_fused() and _asked != "numpy"
# NumPy has loops for AVX-512 where it is linked with SVML, which is for Linux.
cdef bint _wide = _asked != "gradspec" and sys.platform == "linux" and bool(__cpu_features__.get("AVX512_SKX"))
cdef dict _made = {}    # from NumPy's function to ours


def chosen():
    """The implementation of each unary elementary function: ``{name: {dtype: "gradspec" or "NumPy"}}``, by NumPy's names."""
    return _owners({_own_name(place): bool(gradspec_own[place].left) for place in range(GRADSPEC_OWN_COUNT)})


def chosen_of_two():
    """The same for functions of two operands."""
    return _owners({_own_pair_name(place): False for place in range(GRADSPEC_OWN_PAIR_COUNT) if not gradspec_own_pairs[place].exact})


def _owners(left):
    by = "gradspec" if _enabled else "NumPy"
    return {name: {"float32": by, "float64": "NumPy" if _wide and numpys else by} for name, numpys in left.items()}


cdef str _own_name(int place):
    return (<bytes> gradspec_own[place].name).decode()


cdef str _own_pair_name(int place):
    return (<bytes> gradspec_own_pairs[place].name).decode()


cdef bint has_exp_less() noexcept:
    return _enabled


cdef void exp_less(const float* x, float most, float* y, npy_intp n) noexcept nogil:
    """exp(x - most), with the bits of exp of the difference; a NaN raises the flag for an invalid operation."""
    gradspec_exp_less(x, most, y, n)


cdef object vectorised(object function):
    """The function with our loops, or the function itself."""
    cdef int place
    if not _enabled or not isinstance(function, np.ufunc) or getattr(np, function.__name__, None) is not function:
        return function
    if function not in _made:
        _made[function] = function
        for place in range(GRADSPEC_OWN_COUNT):
            if _own_name(place) == function.__name__:
                _made[function] = of_one(function, place)
        for place in range(GRADSPEC_OWN_PAIR_COUNT):
            if _own_pair_name(place) == function.__name__ and not gradspec_own_pairs[place].exact:
                _made[function] = of_two(function, place)
    return _made[function]


cdef object of_one(object function, int place):
    cdef gradspec_vector_loop_float* single = <gradspec_vector_loop_float*> reserved(sizeof(gradspec_vector_loop_float))
    cdef gradspec_vector_loop_double* twice = <gradspec_vector_loop_double*> reserved(sizeof(gradspec_vector_loop_double))
    cdef object found = made(
        function, gradspec_inner_loop_float, single, &single.rest, &single.rest_data,
        gradspec_inner_loop_double, twice, &twice.rest, &twice.rest_data)
    gradspec_take_float(single, place)  # which has a separate loop for the remaining arguments
    if _wide and gradspec_own[place].left:
        gradspec_take_numpys(twice)
    else:
        gradspec_take_double(twice, place)
    return found


cdef object of_two(object function, int place):
    cdef gradspec_pair_loop_float* single = <gradspec_pair_loop_float*> reserved(sizeof(gradspec_pair_loop_float))
    cdef gradspec_pair_loop_double* twice = <gradspec_pair_loop_double*> reserved(sizeof(gradspec_pair_loop_double))
    gradspec_take_pair_float(single, place)
    gradspec_take_pair_double(twice, place)
    return made(
        function, gradspec_inner_pair_loop_float, single, &single.rest, &single.rest_data,
        gradspec_inner_pair_loop_double, twice, &twice.rest, &twice.rest_data)


cdef int exchange(object function, PyUFuncGenericFunction* loops, void** data) except -1:
    """Replace NumPy's loops by our loops with the same bits, for float32 and float64 in this order."""
    cdef gradspec_choice* choice
    cdef gradspec_pair_loop_float* single
    cdef gradspec_pair_loop_double* twice
    cdef int place, slot
    if getattr(np, function.__name__, None) is not function:
        return 0
    for place in range(GRADSPEC_OWN_CHOICE_COUNT):
        if (<bytes> gradspec_own_choices[place].name).decode() == function.__name__:
            for slot in range(2):
                choice = <gradspec_choice*> reserved(sizeof(gradspec_choice))
                choice.rest, choice.rest_data = loops[slot], data[slot]
                loops[slot] = gradspec_own_choices[place].twice if slot else gradspec_own_choices[place].single
                data[slot] = choice
    for place in range(GRADSPEC_OWN_PAIR_COUNT if _enabled else 0):
        if _own_pair_name(place) == function.__name__ and gradspec_own_pairs[place].exact:
            single = <gradspec_pair_loop_float*> reserved(sizeof(gradspec_pair_loop_float))
            twice = <gradspec_pair_loop_double*> reserved(sizeof(gradspec_pair_loop_double))
            gradspec_take_pair_float(single, place)
            gradspec_take_pair_double(twice, place)
            single.rest, single.rest_data, twice.rest, twice.rest_data = loops[0], data[0], loops[1], data[1]
            loops[0], data[0], loops[1], data[1] = gradspec_inner_pair_loop_float, single, gradspec_inner_pair_loop_double, twice
    return 0


cdef void* reserved(size_t size) except NULL:
    """Memory that is never freed."""
    cdef void* memory = malloc(size)
    if memory == NULL:
        raise MemoryError
    return memory


cdef object made(
    object function,
    PyUFuncGenericFunction single, void* single_data, PyUFuncGenericFunction* single_rest, void** single_rest_data,
    PyUFuncGenericFunction twice, void* twice_data, PyUFuncGenericFunction* twice_rest, void** twice_rest_data,
):
    """A ufunc like NumPy's except for two loops, which receive NumPy's loops as data; the memory it refers to is never freed."""
    cdef PyUFuncObject* given = <PyUFuncObject*> (<void*> function)
    cdef PyUFuncGenericFunction* loops = <PyUFuncGenericFunction*> reserved(given.ntypes * sizeof(PyUFuncGenericFunction))
    cdef void** data = <void**> reserved(given.ntypes * sizeof(void*))
    cdef int i, j, nargs = given.nin + given.nout
    cdef bint alike
    for i in range(given.ntypes):
        loops[i], data[i] = given.functions[i], given.data[i]
        alike = True
        for j in range(1, nargs):
            alike = alike and given.types[nargs * i + j] == given.types[nargs * i]
        if alike and given.types[nargs * i] == cnp.NPY_FLOAT32 and single != NULL:  # the first loop, which NumPy selects
            single_rest[0], single_rest_data[0] = loops[i], data[i]
            loops[i], data[i] = single, single_data
            single = NULL
        elif alike and given.types[nargs * i] == cnp.NPY_FLOAT64 and twice != NULL:
            twice_rest[0], twice_rest_data[0] = loops[i], data[i]
            loops[i], data[i] = twice, twice_data
            twice = NULL
    return PyUFunc_FromFuncAndData(
        loops, data, given.types, given.ntypes, given.nin, given.nout, PyUFunc_None, given.name, b"", 0)

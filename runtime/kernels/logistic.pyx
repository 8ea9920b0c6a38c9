"""The slopes of the logistic function and of tanh.

Owns the two functions, by the inner loops of NumPy's own ufuncs on one block after the other, so that what is half done stays
in the cache.
"""

cimport numpy as cnp
from numpy cimport ndarray, npy_intp

import numpy as np

from ..capi cimport (
    NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_EMPTY,
    PyArray_FLAGS, PyArray_ISNOTSWAPPED, PyArray_ITEMSIZE, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE,
)
from .ufunc cimport PyUFuncGenericFunction, Ufunc

cnp.import_array()
cnp.import_ufunc()

cdef enum:
    BLOCK = 1024

cdef union Number:
    float f
    double d

cdef struct Loop:
    PyUFuncGenericFunction function
    void* data

cdef Loop LOOPS[2][5]  # of float32 and float64: absolute, multiply, exp, add, divide


cdef void find_loops():
    cdef int slot, place
    cdef Ufunc ufunc
    for place, function in enumerate((np.absolute, np.multiply, np.exp, np.add, np.divide)):
        ufunc = Ufunc(function, function.__name__)
        for slot in range(2):
            LOOPS[slot][place].function, LOOPS[slot][place].data = ufunc.loops[slot], ufunc.loop_data[slot]


find_loops()


def sigmoid_slope(x):
    """``exp(-x) / (1 + exp(-x))**2``.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    return slope(x, 1, 1)


def tanh_slope(x):
    """``1 / cosh(x)**2``.

    Parameters
    ----------
    x : ndarray or scalar

    Returns
    -------
    ndarray
    """
    return slope(x, 2, 4)


cdef object slope(object x, double scale, double factor):
    """``factor * exp(-scale x) / (1 + exp(-scale x))**2``, which is even: the side is taken on which nothing overflows."""
    if PyArray_CheckExact(x) and PyArray_TYPE(x) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        if PyArray_FLAGS(x) & NPY_ARRAY_C_CONTIGUOUS and PyArray_FLAGS(x) & NPY_ARRAY_ALIGNED and PyArray_ISNOTSWAPPED(x):
            return blocks(x, scale, factor)
    small = np.exp(-scale * (np.where(np.real(x) < 0, np.negative(x), x) if np.iscomplexobj(x) else np.absolute(x)))
    return factor * small / np.square(1 + small)


cdef ndarray blocks(ndarray x, double scale, double factor):
    cdef ndarray y = PyArray_EMPTY(PyArray_NDIM(x), PyArray_DIMS(x), PyArray_TYPE(x), 0)
    cdef npy_intp size = PyArray_SIZE(x), item = PyArray_ITEMSIZE(x), start = 0, count
    cdef char* source = PyArray_BYTES(x)
    cdef char* target = PyArray_BYTES(y)
    cdef Loop* loops = &LOOPS[PyArray_TYPE(x) == cnp.NPY_FLOAT64][0]
    cdef Number[3] numbers  # -scale, 1, factor
    cdef double[BLOCK] whole
    with nogil:
        if item == 4:
            numbers[0].f, numbers[1].f, numbers[2].f = <float> -scale, 1, <float> factor
        else:
            numbers[0].d, numbers[1].d, numbers[2].d = -scale, 1, factor
        while start < size:
            count = min(BLOCK, size - start)
            one_block(loops, numbers, source + start * item, target + start * item, <char*> whole, count, item)
            start += count
    return y


cdef void one_block(Loop* loops, Number* numbers, char* x, char* y, char* whole, npy_intp count, npy_intp item) noexcept nogil:
    cdef npy_intp[3] steps = [item, item, item], by_number = [item, 0, item]
    unary(loops[0], x, y, count, steps)
    binary(loops[1], y, <char*> &numbers[0], y, count, by_number)
    unary(loops[2], y, y, count, steps)
    binary(loops[3], y, <char*> &numbers[1], whole, count, by_number)
    binary(loops[1], whole, whole, whole, count, steps)
    binary(loops[4], y, whole, y, count, steps)
    if (numbers[2].f if item == 4 else numbers[2].d) != 1:
        binary(loops[1], y, <char*> &numbers[2], y, count, by_number)


cdef inline void unary(Loop loop, char* x, char* y, npy_intp count, npy_intp* steps) noexcept nogil:
    cdef char* args[2]
    args[0], args[1] = x, y
    loop.function(args, &count, steps, loop.data)


cdef inline void binary(Loop loop, char* a, char* b, char* y, npy_intp count, npy_intp* steps) noexcept nogil:
    cdef char* args[3]
    args[0], args[1], args[2] = a, b, y
    loop.function(args, &count, steps, loop.data)

# cython: cdivision=True
"""The mean of the losses whose class is counted, and its adjoint.

Owns plain losses of float32 and float64 with a class for each; the expressions of `class_losses` take the others, and what raised a
floating-point flag.
"""

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp
from . import class_losses as classes
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain, same_shape
from ..loops.wide cimport real, total

cnp.import_array()


def kept_mean(x, target, ignore_index):
    """The mean of the losses `x`, 0 where the class is not counted, over those where it is."""
    y = mean_of(x, target, ignore_index) if are_plain(x, target) and same_shape(x, target) else None
    return classes.kept_mean(x, target, ignore_index) if y is None else y


def kept_mean_backward(x, target, ignore_index):
    """The number `x` over the count of the classes that are counted, 0 for the others."""
    y = shares_of(x, target, ignore_index) if are_plain(x, target) and PyArray_NDIM(x) == 0 else None
    return classes.kept_mean_backward(x, target, ignore_index) if y is None else y


cdef ndarray mean_of(ndarray x, ndarray target, npy_intp ignored):
    cdef npy_intp count = count_of(target, ignored)
    cdef ndarray y
    if count == 0:
        return None
    y = empty(0, NULL, PyArray_TYPE(x))
    fp_clear()
    if PyArray_TYPE(y) == cnp.NPY_FLOAT32:
        mean(<float*> PyArray_BYTES(x), <float*> PyArray_BYTES(y), PyArray_SIZE(x), count)
    else:
        mean(<double*> PyArray_BYTES(x), <double*> PyArray_BYTES(y), PyArray_SIZE(x), count)
    return None if fp_raised() else y


cdef ndarray shares_of(ndarray x, ndarray target, npy_intp ignored):
    cdef npy_intp count = count_of(target, ignored)
    cdef npy_intp* places = <npy_intp*> PyArray_BYTES(target)
    cdef ndarray y
    if count == 0:
        return None
    y = empty(PyArray_NDIM(target), PyArray_DIMS(target), PyArray_TYPE(x))
    fp_clear()
    if PyArray_TYPE(y) == cnp.NPY_FLOAT32:
        spread(<float*> PyArray_BYTES(x), <float*> PyArray_BYTES(y), places, PyArray_SIZE(y), ignored, count)
    else:
        spread(<double*> PyArray_BYTES(x), <double*> PyArray_BYTES(y), places, PyArray_SIZE(y), ignored, count)
    return None if fp_raised() else y


cdef bint are_plain(object x, object target) noexcept:
    return (PyArray_CheckExact(x) and PyArray_CheckExact(target) and PyArray_TYPE(target) == cnp.NPY_INTP
            and PyArray_TYPE(x) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) and is_plain(x) and is_plain(target))


cdef npy_intp count_of(ndarray target, npy_intp ignored):
    """How many classes are counted."""
    cdef npy_intp* places = <npy_intp*> PyArray_BYTES(target)
    cdef npy_intp i, count = 0
    for i in range(PyArray_SIZE(target)):
        count += places[i] != ignored
    return count


cdef void mean(real* x, real* y, npy_intp size, npy_intp count) noexcept:
    y[0] = total(x, size) / <real> count


cdef void spread(real* x, real* y, npy_intp* places, npy_intp size, npy_intp ignored, npy_intp count) noexcept:
    cdef npy_intp i
    cdef real share = x[0] / <real> count
    for i in range(size):
        y[i] = share if places[i] != ignored else 0

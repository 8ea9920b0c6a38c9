"""Gradients of Cholesky factors, quarter by quarter, with a fifth of the multiplications of the formula.

Reverses the factorisation of a matrix in four quarters, from the last quarter to the first.  The formula computes small quarters.
Does not depend on autograd.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_TYPE, ndarray
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain, same_shape, slot_of
from .triangles cimport write_adjoint

from .matmul import matmul
from .solve_triangular import solve_triangular
from .triangles import hermitian_part, lower_half

__all__ = ["cholesky_backward"]

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_SwapAxes(ndarray, int, int)
    bint PyTypeNum_ISCOMPLEX(int) noexcept

cdef enum:
    WHOLE = 64          # rows of a matrix that is not divided


def cholesky_backward(l, grad):
    """The gradient of matrices, from their lower Cholesky factors and the gradient of the factors; reads lower triangles only."""
    cdef ndarray y
    if l.shape[-1] <= WHOLE or not is_divisible(l, grad):
        return undivided(l, grad)
    y = empty(PyArray_NDIM(l), PyArray_DIMS(l), PyArray_TYPE(l))
    for place in np.ndindex(l.shape[:-2]):
        fill(l[place], grad[place], (<object> y)[place])
    return y


cdef bint is_divisible(object l, object grad):
    return (PyArray_CheckExact(l) and PyArray_CheckExact(grad) and PyArray_TYPE(l) == PyArray_TYPE(grad) and same_shape(l, grad)
            and slot_of(PyArray_TYPE(l)) >= 0 and is_plain(l) and is_plain(grad))


cdef object adjoint(object x):
    cdef int ndim = PyArray_NDIM(x)
    x = PyArray_SwapAxes(x, ndim - 2, ndim - 1)
    return np.conjugate(x) if PyTypeNum_ISCOMPLEX(PyArray_TYPE(x)) else x


cdef object undivided(object l, object grad):
    upper = adjoint(l)
    half = hermitian_part(lower_half(matmul(upper, grad)))
    return solve_triangular(upper, adjoint(solve_triangular(upper, half, False, False)), False, False)


cdef object fill(object l, object grad, object y):
    """Write the gradient of one matrix into `y`."""
    cdef Py_ssize_t n = len(l)
    if n <= WHOLE:
        y[...] = undivided(l, grad)
        return
    low, high = slice(n // 2), slice(n // 2, None)
    side, last, above = l[high, low], y[high, high], y[low, high]
    fill(l[high, high], grad[high, high], last)
    write_adjoint(grad[high, low], above)
    above *= 0.5
    above -= matmul(adjoint(side), last)
    above[...] = solve_triangular(adjoint(l[low, low]), above, False, False)
    first = matmul(above, side)
    first *= -2
    first += grad[low, low]
    fill(l[low, low], first, y[low, low])
    write_adjoint(above, y[high, low])

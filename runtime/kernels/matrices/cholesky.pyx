"""Cholesky factors and their gradients, quarter by quarter.

LAPACK factorises small quarters; triangular solutions and products of matrices, most of the work, are kernels of this library.
The gradient reverses this, from the last quarter to the first, with a fifth of the multiplications of the formula, which computes
small quarters.  A matrix that raised a floating-point flag is left to NumPy.  Does not depend on autograd.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_CheckExact, PyArray_DIMS, PyArray_NDIM, PyArray_TYPE, ndarray, npy_intp
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain, same_shape, slot_of
from .solve_det_cholesky cimport small_cholesky
from .triangles cimport write_adjoint

from .matmul import matmul
from .solve_triangular import solve_triangular
from .triangles import hermitian_part, lower_half

__all__ = ["cholesky", "cholesky_backward"]

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_SwapAxes(ndarray, int, int)
    bint PyTypeNum_ISCOMPLEX(int) noexcept

cdef object _cholesky = getattr(getattr(np.linalg, "_umath_linalg", None), "cholesky_lo", None)

cdef enum:
    WHOLE = 64          # rows of a matrix that is not divided
    GIVEN = 100         # rows of a matrix that LAPACK factorises


def cholesky(x):
    """Lower triangular factors, as ``np.linalg.cholesky``."""
    y = small_cholesky(x)
    if y is None:
        y = factored(x)
    return np.linalg.cholesky(x) if y is None else y


cdef ndarray factored(object x):
    """Factors of square matrices; None if NumPy has to compute them, or to raise an error."""
    cdef ndarray y
    cdef int ndim
    if not PyArray_CheckExact(x) or _cholesky is None or slot_of(PyArray_TYPE(x)) < 0 or PyArray_NDIM(x) < 2:
        return None
    ndim = PyArray_NDIM(x)
    y = empty(ndim, PyArray_DIMS(x), PyArray_TYPE(x))
    try:
        with np.errstate(all="ignore", invalid="raise"):
            if PyArray_DIMS(x)[ndim - 1] <= GIVEN or PyArray_DIMS(x)[ndim - 1] != PyArray_DIMS(x)[ndim - 2] or not is_plain(x):
                _cholesky(x, y)
            else:
                for place in np.ndindex((<object> x).shape[:-2]):
                    factorise(x[place], (<object> y)[place])
    except (FloatingPointError, ValueError):
        return None
    return y


cdef object factorise(ndarray x, ndarray y):
    """Write the factor of one matrix into `y`; both have contiguous rows, and their columns may compete for the cache."""
    cdef npy_intp n = PyArray_DIMS(x)[0], half = n // 2
    cdef npy_intp* dims = [half, n - half]
    cdef ndarray corner, found
    if n <= GIVEN:
        corner, found = empty(2, PyArray_DIMS(x), PyArray_TYPE(x)), empty(2, PyArray_DIMS(x), PyArray_TYPE(x))
        write_adjoint(x, corner)
        _cholesky(PyArray_SwapAxes(corner, 0, 1), PyArray_SwapAxes(found, 0, 1))
        write_adjoint(found, y)
        return
    corner = empty(2, dims, PyArray_TYPE(x))
    low, high = slice(half), slice(half, None)
    first, side = (<object> y)[low, low], (<object> y)[high, low]
    factorise((<object> x)[low, low], first)
    write_adjoint((<object> x)[high, low], corner)
    corner = solve_triangular(first, corner, True, False)
    write_adjoint(corner, side)
    (<object> y)[low, high] = 0
    rest = matmul(side, corner)
    np.subtract((<object> x)[high, high], rest, out=rest)
    factorise(rest, (<object> y)[high, high])


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

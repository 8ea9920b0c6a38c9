"""Triangles, Hermitian parts and adjoints of matrices, for factorisations and their derivatives.

Loops over contiguous matrices: triangles are copied row by row, Hermitian parts and adjoints computed in tiles, where NumPy would
create a mask or traverse columns.  Other layouts and dtypes, and cases that raised a floating-point flag, use NumPy
expressions.  The loops are bound by memory.  Does not depend on autograd.
"""

from libc.string cimport memcpy, memset

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ISNOTSWAPPED, PyArray_ITEMSIZE, PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES,
    PyArray_TYPE, ndarray, npy_intp,
)
from ..loops.copying cimport copy_of
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.memory cimport empty
from ..loops.donated_buffer cimport give_up
from ..loops.plain cimport is_plain, slot_of

__all__ = ["hermitian_part", "lower_half", "tril", "triu"]

cnp.import_array()

cdef enum:
    TILE = 8            # rows and columns of a tile: a line of the cache of the widest loops

ctypedef fused number:
    float
    double
    float complex
    double complex


cdef inline void copy(char* x, char* y, npy_intp size) noexcept nogil:
    if x != y:
        memcpy(y, x, size)


cdef void copy_triangles(
    char* x, char* y, npy_intp rows, npy_intp columns, npy_intp size, npy_intp matrices, npy_intp k, bint lower
) noexcept nogil:
    """Copy from each row the elements up to diagonal `k`, or from it on, and fill with zeros."""
    cdef npy_intp _matrix, i, cut
    for _matrix in range(matrices):
        for i in range(rows):
            cut = min(max(i + k + (1 if lower else 0), 0), columns) * size
            if lower:
                copy(x, y, cut)
                memset(y + cut, 0, columns * size - cut)
            else:
                memset(y, 0, cut)
                copy(x + cut, y + cut, columns * size - cut)
            x, y = x + columns * size, y + columns * size


cdef ndarray triangle(object x, object k, bint lower):
    """The triangles of contiguous matrices; None if NumPy has to compute them."""
    cdef ndarray x_, y
    cdef npy_intp rows, columns, diagonal
    if not PyArray_CheckExact(x) or PyArray_NDIM(x) < 2 or type(k) is not int or not PyArray_ISNOTSWAPPED(x):
        return None
    x_ = x if is_plain(x) else copy_of(x)
    if (<object> x_).dtype.kind not in "biufc" or PyArray_SIZE(x_) == 0:
        return None
    rows, columns = PyArray_DIMS(x_)[PyArray_NDIM(x_) - 2], PyArray_DIMS(x_)[PyArray_NDIM(x_) - 1]
    diagonal = min(max(k, -rows), columns)
    y = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    copy_triangles(PyArray_BYTES(x_), PyArray_BYTES(y), rows, columns, PyArray_ITEMSIZE(x_),
                   PyArray_SIZE(x_) // (rows * columns), diagonal, lower)
    return y


def tril(x, k):
    """Elements on and below diagonal `k`, zeros above, as ``np.tril``."""
    y = triangle(x, k, True)
    return np.tril(x, k) if y is None else y


def triu(x, k):
    """Elements on and above diagonal `k`, zeros below, as ``np.triu``."""
    y = triangle(x, k, False)
    return np.triu(x, k) if y is None else y


cdef inline number conjugate(number x) noexcept nogil:
    if number is float or number is double:
        return x
    else:
        return x.conjugate()


cdef inline number half(number x) noexcept nogil:
    if number is float or number is double:
        return x / 2
    else:
        x.real, x.imag = x.real / 2, x.imag / 2
        return x


cdef void copy_tiles(number* x, npy_intp x_row, number* y, npy_intp y_row, npy_intp rows, npy_intp columns) noexcept nogil:
    """Write the adjoint tile by tile.

    Rows at a distance of a power of two compete for the eight lines of a set of the cache, so a tile has eight rows.
    """
    cdef npy_intp top = 0, left, i, j
    while top < rows:
        left = 0
        while left < columns:
            if top + TILE <= rows and left + TILE <= columns:
                for j in range(TILE):
                    for i in range(TILE):
                        y[(left + j) * y_row + top + i] = conjugate(x[(top + i) * x_row + left + j])
            else:
                for j in range(left, min(left + TILE, columns)):
                    for i in range(top, min(top + TILE, rows)):
                        y[j * y_row + i] = conjugate(x[i * x_row + j])
            left += TILE
        top += TILE


cdef void write_adjoint(ndarray x, ndarray y) noexcept:
    """Write the adjoint of a matrix into another of its dtype; both have contiguous rows."""
    cdef npy_intp size = PyArray_ITEMSIZE(x)
    write_adjoint_of(slot_of(PyArray_TYPE(x)), PyArray_BYTES(x), PyArray_STRIDES(x)[0] // size, PyArray_BYTES(y),
                     PyArray_STRIDES(y)[0] // size, PyArray_DIMS(x)[0], PyArray_DIMS(x)[1])


cdef void write_adjoint_of(int slot, char* x, npy_intp x_row, char* y, npy_intp y_row, npy_intp rows, npy_intp columns) noexcept nogil:
    """The same for memory, with the elements from row to row."""
    if slot == 0:
        copy_tiles(<float*> x, x_row, <float*> y, y_row, rows, columns)
    elif slot == 1:
        copy_tiles(<double*> x, x_row, <double*> y, y_row, rows, columns)
    elif slot == 2:
        copy_tiles(<float complex*> x, x_row, <float complex*> y, y_row, rows, columns)
    else:
        copy_tiles(<double complex*> x, x_row, <double complex*> y, y_row, rows, columns)


cdef void halve_diagonals(number* y, npy_intp rows, npy_intp columns, npy_intp matrices) noexcept nogil:
    cdef npy_intp i, matrix
    for matrix in range(matrices):
        for i in range(min(rows, columns)):
            y[(matrix * rows + i) * columns + i] = half(y[(matrix * rows + i) * columns + i])


cdef void average(number* x, number* y, npy_intp n, npy_intp matrices) noexcept nogil:
    """Average tile by tile, so that rows and columns of both halves stay in the cache."""
    cdef npy_intp _matrix, top, left, i, j
    cdef number value
    for _matrix in range(matrices):
        for top in range(0, n, 32):
            for left in range(0, top + 1, 32):
                for i in range(top, min(top + 32, n)):
                    for j in range(left, min(left + 32, i + 1)):
                        value = half(x[i * n + j] + conjugate(x[j * n + i]))
                        y[i * n + j] = value
                        y[j * n + i] = conjugate(value)
        x, y = x + n * n, y + n * n


def lower_half(x):
    """The lower triangle with half of the diagonal."""
    cdef int slot = slot_of(PyArray_TYPE(x)) if PyArray_CheckExact(x) else -1
    cdef ndarray y = triangle(x, 0, True) if slot >= 0 else None
    cdef npy_intp rows, columns, matrices
    if y is None:
        return (np.tril(x) + np.tril(x, -1)) / 2
    rows, columns = PyArray_DIMS(y)[PyArray_NDIM(y) - 2], PyArray_DIMS(y)[PyArray_NDIM(y) - 1]
    matrices = PyArray_SIZE(y) // (rows * columns)
    if slot == 0:
        halve_diagonals(<float*> PyArray_BYTES(y), rows, columns, matrices)
    elif slot == 1:
        halve_diagonals(<double*> PyArray_BYTES(y), rows, columns, matrices)
    elif slot == 2:
        halve_diagonals(<float complex*> PyArray_BYTES(y), rows, columns, matrices)
    else:
        halve_diagonals(<double complex*> PyArray_BYTES(y), rows, columns, matrices)
    return y


def hermitian_part(x):
    """Half of the sum of a matrix and its conjugate transpose."""
    y = averaged(x) if PyArray_CheckExact(x) else None
    return (x + np.conjugate(np.swapaxes(x, -1, -2))) / 2 if y is None else y


cdef ndarray averaged(ndarray x):
    """The Hermitian part of contiguous matrices; None if NumPy has to compute it."""
    cdef int ndim = PyArray_NDIM(x), slot = slot_of(PyArray_TYPE(x))
    cdef ndarray y
    cdef npy_intp n, matrices
    if slot < 0 or ndim < 2 or not is_plain(x) or PyArray_SIZE(x) == 0 or PyArray_DIMS(x)[ndim - 1] != PyArray_DIMS(x)[ndim - 2]:
        return None
    n = PyArray_DIMS(x)[ndim - 1]
    matrices = PyArray_SIZE(x) // (n * n)
    y = empty(ndim, PyArray_DIMS(x), PyArray_TYPE(x))
    fp_clear()
    if slot == 0:
        average(<float*> PyArray_BYTES(x), <float*> PyArray_BYTES(y), n, matrices)
    elif slot == 1:
        average(<double*> PyArray_BYTES(x), <double*> PyArray_BYTES(y), n, matrices)
    elif slot == 2:
        average(<float complex*> PyArray_BYTES(x), <float complex*> PyArray_BYTES(y), n, matrices)
    else:
        average(<double complex*> PyArray_BYTES(x), <double complex*> PyArray_BYTES(y), n, matrices)
    if fp_raised():
        give_up(y, x)
        return None
    return y

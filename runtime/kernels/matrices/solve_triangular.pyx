"""Triangular systems by substitution, block by block.

A loop solves blocks on the diagonal and a single right-hand side; matrix products do the rest.  SciPy's trsm would be a
second BLAS, and its threads and NumPy's would wait for one another.  Does not depend on autograd.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ITEMSIZE, PyArray_NDIM, PyArray_STRIDES, PyArray_TYPE, ndarray,
    npy_intp,
)
from ..loops.memory cimport empty
from ..loops.plain cimport slot_of
from .matmul import matmul

__all__ = ["solve_triangular"]

cnp.import_array()

cdef enum:
    SMALL = 16      # up to this number of rows a stack is one loop
    BLOCK = 32      # rows of a block, for many right-hand sides
    FEW = 64        # with fewer right-hand sides blocks are larger, because the calls around the loop take longer than the loop

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISBEHAVED_RO(ndarray)
    int PyArray_CopyInto(ndarray, ndarray) except -1

cdef extern from "gradspec/kernels/matrices/solve_triangular.h":
    void gradspec_substitute_float(float*, float*, npy_intp, npy_intp, npy_intp, npy_intp, bint, bint) noexcept nogil
    void gradspec_substitute_double(double*, double*, npy_intp, npy_intp, npy_intp, npy_intp, bint, bint) noexcept nogil
    void gradspec_substitute_rows_float(float*, float*, npy_intp, npy_intp, bint, bint) noexcept nogil
    void gradspec_substitute_rows_double(double*, double*, npy_intp, npy_intp, bint, bint) noexcept nogil
    void gradspec_substitute_columns_float(float*, float*, npy_intp, npy_intp, bint, bint) noexcept nogil
    void gradspec_substitute_columns_double(double*, double*, npy_intp, npy_intp, bint, bint) noexcept nogil
    void gradspec_substitute_complex_float(float*, float*, npy_intp, npy_intp, npy_intp, npy_intp, bint, bint) noexcept nogil
    void gradspec_substitute_complex_double(double*, double*, npy_intp, npy_intp, npy_intp, npy_intp, bint, bint) noexcept nogil

cdef tuple CODES = ("f", "d", "F", "D")  # in the order of the slots


def solve_triangular(a, b, bint lower, bint unit_diagonal):
    """Solution of triangular systems.

    Parameters
    ----------
    a : (..., n, n) ndarray
        Only one triangle is read.
    b : (..., n, k) ndarray
    lower : bool
        Which triangle.
    unit_diagonal : bool
        Whether the diagonal is taken to be 1, whatever its values.

    Returns
    -------
    (..., n, k) ndarray
        NaN from the first zero on the diagonal on: the following values are undetermined.
    """
    if PyArray_CheckExact(a) and PyArray_CheckExact(b) and is_one_system(a, b):
        return solve_one(a, b, lower, unit_diagonal)
    if b.ndim < 2:
        raise ValueError(f"the right-hand sides must be columns, not of shape {b.shape}")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError(f"Last 2 dimensions of the array must be square, not {a.shape}")
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"solve_triangular: a has {a.shape[-1]} columns and b {b.shape[-2]} rows")
    dtype = np.result_type(a, b, np.float32)
    if dtype.char not in CODES:
        raise TypeError(f"array type {dtype.name} is unsupported in linalg")
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    y = new(lead + b.shape[-2:], dtype)
    np.copyto(y, b)
    if not y.size:
        return y
    a = np.broadcast_to(np.asarray(a, dtype), lead + a.shape[-2:])
    if lead and a.shape[-1] <= SMALL and PyArray_ISBEHAVED_RO(a):
        solve_stack(a.reshape(-1, *a.shape[-2:]), y.reshape(-1, *y.shape[-2:]), lower, unit_diagonal)
        return y
    for place in np.ndindex(lead):
        solve_in_place(_with_a_unit_stride(a[place]), y[place], lower, unit_diagonal)
    return y


cdef object new(tuple shape, dtype):
    """An uninitialised array."""
    cdef npy_intp[64] dims
    cdef int i
    for i in range(len(shape)):
        dims[i] = shape[i]
    return empty(<int> len(shape), dims, dtype.num)


cdef object solve_stack(ndarray a, ndarray y, bint lower, bint unit_diagonal):
    """Overwrite the right-hand sides of small systems, with three axes each, with the solutions."""
    cdef npy_intp count = PyArray_DIMS(y)[0], item = PyArray_ITEMSIZE(a), size = PyArray_STRIDES(y)[0], i
    cdef npy_intp n = PyArray_DIMS(a)[1], k = PyArray_DIMS(y)[2]
    cdef npy_intp step = PyArray_STRIDES(a)[0], row = PyArray_STRIDES(a)[1] // item, column = PyArray_STRIDES(a)[2] // item
    cdef int slot = slot_of(PyArray_TYPE(a))
    cdef char* matrix = PyArray_BYTES(a)
    cdef char* sides = PyArray_BYTES(y)
    with nogil:
        for i in range(count):
            substitute(slot, matrix + i * step, sides + i * size, n, k, row, column, lower, unit_diagonal)
    if not unit_diagonal and not np.diagonal(a, 0, 1, 2).all():
        for i in range(count):
            zero = first_zero(a[i], lower)
            if zero >= 0:
                y[i, slice(zero, None) if lower else slice(zero + 1)] = np.nan


def _with_a_unit_stride(a):
    """The matrix, or a copy, with contiguous rows or columns that do not overlap."""
    across, along = sorted(abs(stride) for stride in a.strides)
    fits = min(a.strides) > 0 and across == a.itemsize and along >= a.itemsize * len(a) and a.flags.aligned
    return a if fits else np.array(a, order="C")


cdef bint is_one_system(ndarray a, ndarray b) noexcept:
    """Whether `a` is one matrix and `b` its right-hand sides, of one dtype and in a layout that BLAS accepts."""
    cdef npy_intp n
    if PyArray_NDIM(a) != 2 or PyArray_NDIM(b) != 2 or PyArray_TYPE(a) != PyArray_TYPE(b):
        return False
    n = PyArray_DIMS(a)[0]
    return (slot_of(PyArray_TYPE(a)) >= 0 and n == PyArray_DIMS(a)[1] == PyArray_DIMS(b)[0] and PyArray_ISBEHAVED_RO(a)
            and PyArray_ISBEHAVED_RO(b) and has_unit_stride(PyArray_STRIDES(a)[0], PyArray_STRIDES(a)[1], n, PyArray_ITEMSIZE(a)))


cdef bint has_unit_stride(npy_intp row, npy_intp column, npy_intp n, npy_intp item) noexcept:
    """Whether the rows or the columns of a matrix are contiguous and do not overlap."""
    return (column == item and row >= n * item) or (row == item and column >= n * item)


cdef ndarray solve_one(ndarray a, ndarray b, bint lower, bint unit_diagonal):
    """The solution of one system."""
    cdef ndarray y = empty(PyArray_NDIM(b), PyArray_DIMS(b), PyArray_TYPE(b))
    PyArray_CopyInto(y, b)
    if PyArray_DIMS(y)[0] and (PyArray_NDIM(y) == 1 or PyArray_DIMS(y)[1]):
        solve_in_place(a, y, lower, unit_diagonal)
    return y


cdef object solve_in_place(ndarray a, ndarray y, bint lower, bint unit_diagonal):
    """Overwrite the right-hand sides `y`, C-contiguous, with the solution.

    The solution ends at a zero on the diagonal, so that values known before it are not multiplied with NaN.
    """
    cdef npy_intp zero = -1 if unit_diagonal else first_zero(a, lower)
    if zero < 0:
        solve_blocks(a, y, lower, unit_diagonal)
        return
    known, lost = (slice(zero), slice(zero, None)) if lower else (slice(zero + 1, None), slice(zero + 1))
    y[lost] = np.nan
    if y[known].size:
        solve_blocks(a[known, known], y[known], lower, unit_diagonal)


cdef npy_intp first_zero(ndarray a, bint lower) noexcept:
    """The first zero on the diagonal that a substitution meets, from the end where it starts, or -1."""
    cdef npy_intp n = PyArray_DIMS(a)[0], step = PyArray_STRIDES(a)[0] + PyArray_STRIDES(a)[1], i, place
    cdef int slot = slot_of(PyArray_TYPE(a))
    cdef char* item
    for i in range(n):
        place = i if lower else n - 1 - i
        item = PyArray_BYTES(a) + place * step
        if slot == 0 and (<float*> item)[0] == 0 or slot == 1 and (<double*> item)[0] == 0:
            return place
        if slot == 2 and (<float complex*> item)[0] == 0 or slot == 3 and (<double complex*> item)[0] == 0:
            return place
    return -1


cdef object solve_blocks(ndarray a, ndarray y, bint lower, bint unit_diagonal):
    cdef npy_intp n = PyArray_DIMS(a)[0], k = PyArray_DIMS(y)[1] if PyArray_NDIM(y) == 2 else 1, size, half
    cdef npy_intp item = PyArray_ITEMSIZE(a)
    size = BLOCK if k >= FEW else 4 * BLOCK
    if n <= size or k == 1:
        with nogil:
            substitute(slot_of(PyArray_TYPE(y)), PyArray_BYTES(a), PyArray_BYTES(y), n, k, PyArray_STRIDES(a)[0] // item,
                       PyArray_STRIDES(a)[1] // item, lower, unit_diagonal)
        return
    half = (n // 2 + size - 1) // size * size
    low, high = slice(half), slice(half, None)
    first, second = (low, high) if lower else (high, low)
    solve_blocks(a[first, first], y[first], lower, unit_diagonal)
    rest = y[second]
    rest -= matmul(a[second, first], y[first])
    solve_blocks(a[second, second], rest, lower, unit_diagonal)


cdef void substitute(int slot, char* a, char* y, npy_intp n, npy_intp k, npy_intp row, npy_intp column, bint lower,
                     bint unit_diagonal) noexcept nogil:
    """Overwrite `k` right-hand sides with the solutions, by the loop for their dtype and layout; strides are in elements."""
    if slot == 2:
        gradspec_substitute_complex_float(<float*> a, <float*> y, n, k, row, column, lower, unit_diagonal)
    elif slot == 3:
        gradspec_substitute_complex_double(<double*> a, <double*> y, n, k, row, column, lower, unit_diagonal)
    elif k == 1 and column == 1:
        if slot == 0:
            gradspec_substitute_rows_float(<float*> a, <float*> y, n, row, lower, unit_diagonal)
        else:
            gradspec_substitute_rows_double(<double*> a, <double*> y, n, row, lower, unit_diagonal)
    elif k == 1 and row == 1:
        if slot == 0:
            gradspec_substitute_columns_float(<float*> a, <float*> y, n, column, lower, unit_diagonal)
        else:
            gradspec_substitute_columns_double(<double*> a, <double*> y, n, column, lower, unit_diagonal)
    elif slot == 0:
        gradspec_substitute_float(<float*> a, <float*> y, n, k, row, column, lower, unit_diagonal)
    else:
        gradspec_substitute_double(<double*> a, <double*> y, n, k, row, column, lower, unit_diagonal)

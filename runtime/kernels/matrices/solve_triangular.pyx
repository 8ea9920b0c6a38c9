"""Triangular systems by substitution, block by block.

Owns the substitution: blocks on the diagonal by BLAS's trsm where SciPy is installed and the block is worth its import, else
by a loop; what is left of the diagonal by NumPy's matrix product, whose pool of threads is then the only one at work.
Knows nothing of autograd.
"""

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer

import functools

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ITEMSIZE, PyArray_NDIM, PyArray_STRIDES, PyArray_TYPE, ndarray,
    npy_intp,
)
from ..loops.memory cimport empty
from ..loops.plain cimport slot_of

__all__ = ["solve_triangular"]

cnp.import_array()

ctypedef fused number:
    float
    double
    float complex
    double complex

ctypedef void (*Trsm)(
    char* side, char* uplo, char* transa, char* diag, int* m, int* n, void* alpha, void* a, int* lda, void* b, int* ldb
) noexcept nogil

SMALL = 16  # rows up to which the loop serves

cdef enum:
    BLOCK = 64      # those of a block
    LONG = 512      # those of a block of one right-hand side, which BLAS solves on one thread

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISBEHAVED_RO(ndarray)
    int PyArray_CopyInto(ndarray, ndarray) except -1

cdef dict PREFIXES = {"f": "s", "d": "d", "F": "c", "D": "z"}
cdef str CODES = "fdFD"  # in the order of the slots


def solve_triangular(a, b, bint lower, bint unit_diagonal):
    """Solution of triangular systems.

    Parameters
    ----------
    a : (..., n, n) ndarray
        Only one triangle is read.
    b : (..., n, k) or (n,) ndarray
    lower : bool
        Which triangle.
    unit_diagonal : bool
        Whether to take the diagonal as 1, whatever it holds.

    Returns
    -------
    (..., n, k) ndarray
        NaN from where the diagonal holds a zero on: no value is left to be known there.
    """
    if PyArray_CheckExact(a) and PyArray_CheckExact(b) and is_one_system(a, b):
        return solve_one(a, b, lower, unit_diagonal)
    if b.ndim == 1:
        return solve_triangular(a, b[:, None], lower, unit_diagonal)[..., 0]
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError(f"Last 2 dimensions of the array must be square, not {a.shape}")
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"solve_triangular: a has {a.shape[-1]} columns and b {b.shape[-2]} rows")
    dtype = np.result_type(a, b, np.float32)
    if dtype.char not in PREFIXES:
        raise TypeError(f"array type {dtype.name} is unsupported in linalg")
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    y = np.array(np.broadcast_to(b, lead + b.shape[-2:]), dtype, order="C")
    if not y.size:
        return y
    a = np.broadcast_to(np.asarray(a, dtype), lead + a.shape[-2:])
    if lead and a.shape[-1] <= SMALL and PyArray_ISBEHAVED_RO(a):
        solve_stack(a.reshape(-1, *a.shape[-2:]), y.reshape(-1, *y.shape[-2:]), lower, unit_diagonal)
        return y
    for place in np.ndindex(lead):
        solve_in_place(_with_a_unit_stride(a[place]), y[place], lower, unit_diagonal)
    return y


cdef object solve_stack(ndarray a, ndarray y, bint lower, bint unit_diagonal):
    """Overwrite the right-hand sides of small systems, three axes of each, with the solutions."""
    cdef npy_intp count = PyArray_DIMS(y)[0], item = PyArray_ITEMSIZE(a), size = PyArray_STRIDES(y)[0], i
    cdef int n = <int> PyArray_DIMS(a)[1], k = <int> PyArray_DIMS(y)[2], slot = slot_of(PyArray_TYPE(a))
    cdef npy_intp step = PyArray_STRIDES(a)[0], row = PyArray_STRIDES(a)[1] // item, column = PyArray_STRIDES(a)[2] // item
    cdef char* matrix = PyArray_BYTES(a)
    cdef char* sides = PyArray_BYTES(y)
    with nogil:
        for i in range(count):
            if slot == 0:
                substitute(<float*> (matrix + i * step), <float*> (sides + i * size), n, k, row, column, lower, unit_diagonal)
            elif slot == 1:
                substitute(<double*> (matrix + i * step), <double*> (sides + i * size), n, k, row, column, lower, unit_diagonal)
            elif slot == 2:
                substitute(<float complex*> (matrix + i * step), <float complex*> (sides + i * size), n, k, row, column,
                           lower, unit_diagonal)
            else:
                substitute(<double complex*> (matrix + i * step), <double complex*> (sides + i * size), n, k, row, column,
                           lower, unit_diagonal)
    if not unit_diagonal and not np.diagonal(a, 0, 1, 2).all():
        for i in range(count):
            zero = first_zero(a[i], lower)
            if zero >= 0:
                y[i, slice(zero, None) if lower else slice(zero + 1)] = np.nan


def _with_a_unit_stride(a):
    """A matrix of which the rows or the columns are contiguous and apart."""
    across, along = sorted(abs(stride) for stride in a.strides)
    fits = min(a.strides) > 0 and across == a.itemsize and along >= a.itemsize * len(a) and a.flags.aligned
    return a if fits else np.array(a, order="C")


cdef bint is_one_system(ndarray a, ndarray b) noexcept:
    """Whether these are one matrix and its right-hand sides, of one dtype and as BLAS takes them."""
    cdef npy_intp n
    if PyArray_NDIM(a) != 2 or not 1 <= PyArray_NDIM(b) <= 2 or PyArray_TYPE(a) != PyArray_TYPE(b):
        return False
    n = PyArray_DIMS(a)[0]
    return (slot_of(PyArray_TYPE(a)) >= 0 and n == PyArray_DIMS(a)[1] == PyArray_DIMS(b)[0] and PyArray_ISBEHAVED_RO(a)
            and PyArray_ISBEHAVED_RO(b) and has_unit_stride(PyArray_STRIDES(a)[0], PyArray_STRIDES(a)[1], n, PyArray_ITEMSIZE(a)))


cdef bint has_unit_stride(npy_intp row, npy_intp column, npy_intp n, npy_intp item) noexcept:
    """Whether the rows or the columns of a matrix are contiguous and apart."""
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

    A zero on the diagonal ends the system: some processors' BLAS multiplies by inverses, and 0 * inf would reach rows that are known.
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
    """The first zero on the diagonal that a substitution meets, which starts at either end; -1 where there is none."""
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
    cdef npy_intp n = PyArray_DIMS(a)[0], half
    if n <= (LONG if PyArray_NDIM(y) == 1 or PyArray_DIMS(y)[1] == 1 else BLOCK):
        return solve_block(a, y, lower, unit_diagonal)
    half = n // 2
    low, high = slice(half), slice(half, None)
    first, second = (low, high) if lower else (high, low)
    solve_blocks(a[first, first], y[first], lower, unit_diagonal)
    rest = y[second]
    rest -= a[second, first] @ y[first]
    solve_blocks(a[second, second], rest, lower, unit_diagonal)


cdef object solve_block(ndarray a, ndarray y, bint lower, bint unit_diagonal):
    cdef str code = CODES[slot_of(PyArray_TYPE(y))]
    cdef int n = <int> PyArray_DIMS(a)[0], k = <int> PyArray_DIMS(y)[1] if PyArray_NDIM(y) == 2 else 1
    cdef npy_intp row = PyArray_STRIDES(a)[0] // PyArray_ITEMSIZE(a), column = PyArray_STRIDES(a)[1] // PyArray_ITEMSIZE(a)
    cdef char* matrix = PyArray_BYTES(a)
    cdef char* sides = PyArray_BYTES(y)
    cdef size_t function = _trsm(code) if n > SMALL else 0
    if function:
        call_trsm(<Trsm> function, code in "fF", <void*> matrix, <void*> sides, n, k, row, column, lower, unit_diagonal)
    elif code == "f":
        substitute(<float*> matrix, <float*> sides, n, k, row, column, lower, unit_diagonal)
    elif code == "d":
        substitute(<double*> matrix, <double*> sides, n, k, row, column, lower, unit_diagonal)
    elif code == "F":
        substitute(<float complex*> matrix, <float complex*> sides, n, k, row, column, lower, unit_diagonal)
    else:
        substitute(<double complex*> matrix, <double complex*> sides, n, k, row, column, lower, unit_diagonal)


cdef void call_trsm(Trsm function, bint single, void* matrix, void* sides, int n, int k, Py_ssize_t row, Py_ssize_t column,
                    bint lower, bint unit_diagonal) noexcept nogil:
    """Fortran takes rows for columns, so that what it solves is the transposed system: y.T @ a.T = b.T.

    A single right-hand side is a column either way, and BLAS is quicker with the system as it was.
    """
    cdef float[2] one = [1.0, 0.0]
    cdef double[2] double_one = [1.0, 0.0]
    cdef bint by_rows = column == 1
    cdef int lda = <int> (row if by_rows else column)
    cdef bint single_side = k == 1
    cdef int rows = n if single_side else k, columns = 1 if single_side else n
    cdef char side = b"L" if single_side else b"R"
    cdef char triangle = b"U" if lower == by_rows else b"L"
    cdef char transposed = b"N" if by_rows != single_side else b"T"
    cdef char diagonal = b"U" if unit_diagonal else b"N"
    function(&side, &triangle, &transposed, &diagonal, &rows, &columns, <void*> one if single else <void*> double_one,
             matrix, &lda, sides, &rows)


cdef void substitute(number* a, number* y, int n, int k, Py_ssize_t row, Py_ssize_t column, bint lower,
                     bint unit_diagonal) noexcept nogil:
    """Row by row: each takes off what those before it make, and is divided by the diagonal."""
    cdef int step, i, j, other
    cdef number factor
    cdef number* target
    cdef number* known
    for step in range(n):
        i = step if lower else n - 1 - step
        target = y + <Py_ssize_t> i * k
        for other in range(step):
            j = other if lower else n - 1 - other
            factor = a[i * row + j * column]
            known = y + <Py_ssize_t> j * k
            for j in range(k):
                target[j] = target[j] - factor * known[j]
        if not unit_diagonal:
            factor = a[i * row + i * column]
            for j in range(k):
                target[j] = target[j] / factor


@functools.cache
def _trsm(code):
    """The address of BLAS's trsm for a dtype, 0 without SciPy; looked for when it is first wanted, as its import takes long."""
    try:
        from scipy.linalg import cython_blas
        capsule = cython_blas.__pyx_capi__[f"{PREFIXES[code]}trsm"]
    except (ImportError, KeyError):
        return 0
    name = PyCapsule_GetName(capsule)
    # A BLAS of 64-bit integers is not the one that is called here.
    return <size_t> PyCapsule_GetPointer(capsule, name) if b"int *, int *" in <bytes> name else 0

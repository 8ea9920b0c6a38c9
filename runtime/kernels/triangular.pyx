"""Triangular systems by substitution, block by block.

Owns the substitution: blocks on the diagonal by BLAS's trsm where SciPy is installed and the block is worth its import, else
by a loop; what is left of the diagonal by NumPy's matrix product, whose pool of threads is then the only one at work.
Knows nothing of autograd.
"""

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer

import functools

import numpy as np

ctypedef fused number:
    float
    double
    float complex
    double complex

ctypedef void (*Trsm)(
    char* side, char* uplo, char* transa, char* diag, int* m, int* n, void* alpha, void* a, int* lda, void* b, int* ldb
) noexcept nogil

SMALL, BLOCK = 16, 64  # rows up to which the loop serves, and those of a block
cdef dict PREFIXES = {"f": "s", "d": "d", "F": "c", "D": "z"}


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
    for place in np.ndindex(lead):
        solve_in_place(_with_a_unit_stride(a[place]), y[place], lower, unit_diagonal)
    return y


def _with_a_unit_stride(a):
    """A matrix of which the rows or the columns are contiguous and apart."""
    across, along = sorted(abs(stride) for stride in a.strides)
    fits = min(a.strides) > 0 and across == a.itemsize and along >= a.itemsize * len(a) and a.flags.aligned
    return a if fits else np.array(a, order="C")


def solve_in_place(a, y, bint lower, bint unit_diagonal):
    """Overwrite the right-hand sides `y`, C-contiguous, with the solution."""
    solve_blocks(a, y, lower, unit_diagonal)
    zeros = () if unit_diagonal else np.flatnonzero(np.diagonal(a) == 0)
    if len(zeros):
        y[slice(zeros[0], None) if lower else slice(zeros[len(zeros) - 1] + 1)] = np.nan


cdef object solve_blocks(object a, object y, bint lower, bint unit_diagonal):
    cdef Py_ssize_t n = len(a)
    if n <= BLOCK:
        return solve_block(a, y, lower, unit_diagonal)
    half = n // 2
    low, high = slice(half), slice(half, None)
    first, second = (low, high) if lower else (high, low)
    solve_blocks(a[first, first], y[first], lower, unit_diagonal)
    rest = y[second]
    rest -= a[second, first] @ y[first]
    solve_blocks(a[second, second], rest, lower, unit_diagonal)


cdef object solve_block(object a, object y, bint lower, bint unit_diagonal):
    cdef str code = y.dtype.char
    cdef int n = len(a), k = y.shape[1]
    cdef Py_ssize_t row = a.strides[0] // a.itemsize, column = a.strides[1] // a.itemsize
    cdef size_t matrix = a.ctypes.data, sides = y.ctypes.data
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
    """Fortran takes rows for columns, so that what it solves is the transposed system: y.T @ a.T = b.T."""
    cdef float[2] one = [1.0, 0.0]
    cdef double[2] double_one = [1.0, 0.0]
    cdef bint by_rows = column == 1
    cdef int lda = <int> (row if by_rows else column)
    cdef char side = b"R"
    cdef char triangle = b"U" if lower == by_rows else b"L"
    cdef char transposed = b"N" if by_rows else b"T"
    cdef char diagonal = b"U" if unit_diagonal else b"N"
    function(&side, &triangle, &transposed, &diagonal, &k, &n, <void*> one if single else <void*> double_one,
             matrix, &lda, sides, &k)


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

# cython: boundscheck=False, wraparound=False
"""Products with a sparse matrix in coordinate format: the loops.

Loops over contiguous rows of float32 and float64, and of complex numbers as pairs of real ones.  All places are inside the
matrix: the module `coo` has checked them.  Elements stored twice at one place are summed, in order.
"""

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_DIMS, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp
from ..loops.wide cimport real

cnp.import_array()

cdef struct Job:
    char* values
    npy_intp* rows
    npy_intp* columns
    char* a         # indexed by rows: the operand of a sampled product, or the operand of a product
    char* b         # indexed by columns, or the result of a product
    npy_intp count, length


cdef void add_products(Job* job, real* values, real* x, real* y) noexcept nogil:
    """y[rows[e]] += values[e] * x[columns[e]]"""
    cdef npy_intp e, j, length = job.length
    cdef real value
    cdef real* source
    cdef real* target
    if length == 1:
        for e in range(job.count):
            y[job.rows[e]] += values[e] * x[job.columns[e]]
        return
    for e in range(job.count):
        value, source, target = values[e], x + job.columns[e] * length, y + job.rows[e] * length
        for j in range(length):
            target[j] += value * source[j]


cdef void add_complex_products(Job* job, real* values, real* x, real* y) noexcept nogil:
    cdef npy_intp e, j, length = 2 * job.length
    cdef real first, second
    cdef real* source
    cdef real* target
    for e in range(job.count):
        first, second, source, target = values[2 * e], values[2 * e + 1], x + job.columns[e] * length, y + job.rows[e] * length
        for j in range(0, length, 2):
            target[j] += first * source[j] - second * source[j + 1]
            target[j + 1] += first * source[j + 1] + second * source[j]


cdef void sample_products(Job* job, real* values, real* a, real* b) noexcept nogil:
    """values[e] = the sum of a[rows[e]] * b[columns[e]], accumulated in double"""
    cdef npy_intp e, j, length = job.length
    cdef double total
    cdef real* left
    cdef real* right
    if length == 1:
        for e in range(job.count):
            values[e] = a[job.rows[e]] * b[job.columns[e]]
        return
    for e in range(job.count):
        left, right, total = a + job.rows[e] * length, b + job.columns[e] * length, 0
        for j in range(length):
            total += <double> left[j] * right[j]
        values[e] = <real> total


cdef void sample_complex_products(Job* job, real* values, real* a, real* b) noexcept nogil:
    cdef npy_intp e, j, length = 2 * job.length
    cdef double first, second
    cdef real* left
    cdef real* right
    for e in range(job.count):
        left, right, first, second = a + job.rows[e] * length, b + job.columns[e] * length, 0, 0
        for j in range(0, length, 2):
            first += <double> left[j] * right[j] - <double> left[j + 1] * right[j + 1]
            second += <double> left[j] * right[j + 1] + <double> left[j + 1] * right[j]
        values[2 * e], values[2 * e + 1] = <real> first, <real> second


cdef npy_intp first_outside(npy_intp* places, npy_intp count, npy_intp size) noexcept nogil:
    cdef npy_intp e
    cdef size_t highest = 0, place
    for e in range(count):
        place = <size_t> places[e]  # a negative one becomes larger than all others
        highest = place if place > highest else highest
    if count and highest >= <size_t> size:
        for e in range(count):
            if not 0 <= places[e] < size:
                return e
    return -1


def outside(ndarray places, npy_intp size):
    """Position of the first element of `places`, contiguous and of intp, outside [0, size), or -1."""
    return first_outside(<npy_intp*> PyArray_BYTES(places), PyArray_SIZE(places), size)


cdef Job job_of(ndarray values, ndarray rows, ndarray columns, ndarray a, ndarray b):
    cdef Job job
    job.values, job.a, job.b = PyArray_BYTES(values), PyArray_BYTES(a), PyArray_BYTES(b)
    job.rows, job.columns = <npy_intp*> PyArray_BYTES(rows), <npy_intp*> PyArray_BYTES(columns)
    job.count, job.length = PyArray_DIMS(rows)[0], PyArray_DIMS(a)[1]
    return job


def add_stored(ndarray values, ndarray rows, ndarray columns, ndarray x, ndarray y):
    """``y[rows[e]] += values[e] * x[columns[e]]`` for each e.

    All arrays are contiguous; `rows` and `columns` are intp, the others have one of the four dtypes.
    """
    cdef Job job = job_of(values, rows, columns, x, y)
    cdef int kind = PyArray_TYPE(y)
    with nogil:
        if kind == cnp.NPY_FLOAT32:
            add_products(&job, <float*> job.values, <float*> job.a, <float*> job.b)
        elif kind == cnp.NPY_FLOAT64:
            add_products(&job, <double*> job.values, <double*> job.a, <double*> job.b)
        elif kind == cnp.NPY_COMPLEX64:
            add_complex_products(&job, <float*> job.values, <float*> job.a, <float*> job.b)
        else:
            add_complex_products(&job, <double*> job.values, <double*> job.a, <double*> job.b)


def sample_stored(ndarray values, ndarray rows, ndarray columns, ndarray a, ndarray b):
    """``values[e] = sum(a[rows[e]] * b[columns[e]])`` for each e; requirements as for `add_stored`."""
    cdef Job job = job_of(values, rows, columns, a, b)
    cdef int kind = PyArray_TYPE(values)
    with nogil:
        if kind == cnp.NPY_FLOAT32:
            sample_products(&job, <float*> job.values, <float*> job.a, <float*> job.b)
        elif kind == cnp.NPY_FLOAT64:
            sample_products(&job, <double*> job.values, <double*> job.a, <double*> job.b)
        elif kind == cnp.NPY_COMPLEX64:
            sample_complex_products(&job, <float*> job.values, <float*> job.a, <float*> job.b)
        else:
            sample_complex_products(&job, <double*> job.values, <double*> job.a, <double*> job.b)

"""Distances of rows and weighted sums of their differences, with each difference computed where it is used.

Loops over contiguous rows of float32 and float64, on several threads.  The module `distances` decides which distances are
computed by products instead, and recomputes results that are out of range.
"""

from libc.math cimport sqrt
from libc.stdlib cimport free, malloc

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_DIMS, PyArray_TYPE, ndarray, npy_intp
from ..loops.threads cimport parallel
from ..loops.wide cimport dot, real

cnp.import_array()

cdef enum:
    TOGETHER = 4        # rows of differences added at once
    CHUNK = 1 << 15     # differences that make a task for a thread worthwhile

cdef struct Job:
    char* weight
    char* a
    char* b
    char* y
    npy_intp others, length
    bint single, failed


cdef extern from "gradspec/kernels/row_wise/distances_loops.h" nogil:
    void gradspec_less_float(float*, float*, float*, npy_intp)
    void gradspec_less_double(double*, double*, double*, npy_intp)
    void gradspec_add_apart_float(float*, float*, float*, double*, npy_intp)
    void gradspec_add_apart_double(double*, double*, double*, double*, npy_intp)

cdef extern from "<float.h>" nogil:
    float FLT_MIN, FLT_EPSILON, FLT_MAX
    double DBL_MIN, DBL_EPSILON, DBL_MAX


cdef bint distance(real* a, real* b, real* apart, real* y, npy_intp others, npy_intp n) noexcept nogil:
    """The distances of one row to all others; whether no square was out of range."""
    cdef npy_intp j
    cdef real least = 16 * sqrt(FLT_MIN) / FLT_EPSILON if real is float else 16 * sqrt(DBL_MIN) / DBL_EPSILON
    cdef real most = FLT_MAX if real is float else DBL_MAX
    cdef bint known = True
    for j in range(others):
        if real is float:
            gradspec_less_float(a, b + j * n, apart, n)
        else:
            gradspec_less_double(a, b + j * n, apart, n)
        y[j] = <real> sqrt(dot(apart, apart, n))
        known &= least <= y[j] <= most
    return known


cdef void add_differences(real* weight, real* a, real* b, double* total, real* y, npy_intp others, npy_intp n) noexcept nogil:
    """Add the weighted differences of one row, in double."""
    cdef npy_intp j, c, rest = others % TOGETHER
    for c in range(n):
        total[c] = 0
    for j in range(rest):
        for c in range(n):
            total[c] += <double> weight[j] * (<double> a[c] - <double> b[j * n + c])
    j = rest
    while j < others:
        if real is float:
            gradspec_add_apart_float(weight + j, a, b + j * n, total, n)
        else:
            gradspec_add_apart_double(weight + j, a, b + j * n, total, n)
        j += TOGETHER
    for c in range(n):
        y[c] = <real> total[c]


cdef bint row(Job* job, real* apart, double* total, npy_intp i) noexcept nogil:
    """One row of the result; whether it is valid."""
    cdef npy_intp n = job.length, m = job.others
    cdef real* a = (<real*> job.a) + i * n
    if job.weight == NULL:
        return distance(a, <real*> job.b, apart, (<real*> job.y) + i * m, m, n)
    add_differences((<real*> job.weight) + i * m, a, <real*> job.b, total, (<real*> job.y) + i * n, m, n)
    return True


cdef void run(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Job* job = <Job*> context
    cdef npy_intp i
    cdef bint known
    cdef double* memory = <double*> malloc((job.length + 1) * sizeof(double))
    if memory == NULL:
        job.failed = True
        return
    for i in range(start, stop):
        if job.single:
            known = row[float](job, <float*> memory, memory, i)
        else:
            known = row[double](job, memory, memory, i)
        if not known:  # other threads write this too, but always the same value
            job.failed = True
    free(memory)


cdef bint run_all(ndarray weight, ndarray a, ndarray b, ndarray y):
    cdef Job job
    cdef npy_intp rows = PyArray_DIMS(a)[0]
    job.weight = NULL if weight is None else PyArray_BYTES(weight)
    job.a, job.b, job.y = PyArray_BYTES(a), PyArray_BYTES(b), PyArray_BYTES(y)
    job.others, job.length = PyArray_DIMS(b)[0], PyArray_DIMS(a)[1]
    job.single, job.failed = PyArray_TYPE(y) == cnp.NPY_FLOAT32, False
    with nogil:
        parallel(run, &job, rows, max(<npy_intp> 1, CHUNK // max(<npy_intp> 1, job.others * job.length)))
    return not job.failed


def differences_weighted(ndarray weight, ndarray a, ndarray b, ndarray y):
    """Write to `y` the sum over j of ``weight[i, j] * (a[i] - b[j])``, added in double; False if there was no memory.

    All arrays are contiguous matrices of float32, or of float64.
    """
    return run_all(weight, a, b, y)


def distances_direct(ndarray a, ndarray b, ndarray y):
    """Write to `y` the distance of each row of `a` to each row of `b`; whether no square was out of range."""
    return run_all(None, a, b, y)

# cython: boundscheck=False, wraparound=False
"""Inverses, solutions, determinants and Cholesky factors of small matrices, without the dominating overhead of LAPACK calls.

Eliminates with row exchanges, in float32 and float64, up to a few rows.  Each function leaves to NumPy larger matrices, other
dtypes, and cases that raised a floating-point flag or have a pivot of zero or less; NumPy raises the errors.
"""

from libc.math cimport fabs, log, sqrt
from libc.string cimport memcpy

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ISNOTSWAPPED, PyArray_NDIM, PyArray_TYPE, ndarray, npy_intp,
)
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain
from ..loops.threads cimport parallel

__all__ = ["det", "inv", "slogdet", "solve"]

cnp.import_array()

ctypedef fused real:
    float
    double

cdef enum:
    MOST = 8            # rows of a matrix
    CHUNK = 1 << 13     # multiplications that make a task for a thread worthwhile

cdef enum Task:
    SOLVE, INVERT, DETERMINANT, LOGARITHM, CHOLESKY

cdef struct Job:
    Task task
    bint single         # float32
    bint failed         # a flag was raised, or a pivot is missing
    npy_intp n, columns
    npy_intp a_step, b_step     # elements between matrices; 0 if there is one for all
    char* a
    char* b
    char* y
    char* signs


cdef int eliminate(real* a, real* b, npy_intp n, npy_intp columns) noexcept nogil:
    """Reduce `a` to upper triangular form, and `b` with it; returns the sign of the row exchanges, 0 if a pivot is 0."""
    cdef npy_intp i, j, k, best
    cdef int sign = 1
    cdef real factor, most
    for k in range(n):
        best, most = k, fabs(a[k * n + k])
        for i in range(k + 1, n):
            if fabs(a[i * n + k]) > most:
                best, most = i, fabs(a[i * n + k])
        if most == 0:
            return 0
        if best != k:
            sign = -sign
            for j in range(k, n):
                a[k * n + j], a[best * n + j] = a[best * n + j], a[k * n + j]
            for j in range(columns):
                b[k * columns + j], b[best * columns + j] = b[best * columns + j], b[k * columns + j]
        for i in range(k + 1, n):
            factor = a[i * n + k] / a[k * n + k]
            for j in range(k + 1, n):
                a[i * n + j] -= factor * a[k * n + j]
            for j in range(columns):
                b[i * columns + j] -= factor * b[k * columns + j]
    return sign


cdef void substitute(real* a, real* b, npy_intp n, npy_intp columns) noexcept nogil:
    """Solve the triangular system, overwriting its right-hand sides."""
    cdef npy_intp i, j, k
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for j in range(columns):
                b[i * columns + j] -= a[i * n + k] * b[k * columns + j]
        for j in range(columns):
            b[i * columns + j] /= a[i * n + i]


cdef bint factorise(real* a, real* y, npy_intp n) noexcept nogil:
    """Compute the Cholesky factor from the lower triangle of `a`; False if a pivot is not positive."""
    cdef npy_intp i, j, k
    cdef real sum
    for j in range(n):
        for i in range(j):
            y[i * n + j] = 0
        for i in range(j, n):
            sum = a[i * n + j]
            for k in range(j):
                sum -= y[i * n + k] * y[j * n + k]
            if i == j:
                if not sum > 0:
                    return False
                y[j * n + j] = <real> sqrt(sum)
            else:
                y[i * n + j] = sum / y[j * n + j]
    return True


cdef bint one(real* a, Job* job, npy_intp m) noexcept nogil:
    """Process matrix number `m`; False if a pivot is missing."""
    cdef real[MOST * MOST] held
    cdef npy_intp n = job.n, columns = job.columns, i
    cdef real* y = <real*> job.y
    cdef real result
    cdef double logarithm = 0
    cdef int sign
    if job.task == CHOLESKY:
        return factorise(a + m * job.a_step, y + m * n * n, n)
    memcpy(held, a + m * job.a_step, n * n * sizeof(real))
    if job.task == SOLVE or job.task == INVERT:
        y += m * n * columns
        if job.task == SOLVE:
            memcpy(y, <real*> job.b + m * job.b_step, n * columns * sizeof(real))
        else:
            for i in range(n * n):
                y[i] = i % (n + 1) == 0
        if eliminate(<real*> held, y, n, columns) == 0:
            return False
        substitute(<real*> held, y, n, columns)
        return True
    sign = eliminate(<real*> held, y, n, 0)
    if job.task == DETERMINANT:
        result = sign
        for i in range(n):
            result *= held[i * n + i]
        y[m] = result if sign else 0
        return True
    for i in range(n):
        sign = -sign if held[i * n + i] < 0 else sign
        logarithm += log(fabs(held[i * n + i]))
    y[m], (<real*> job.signs)[m] = <real> logarithm, sign
    return sign != 0


cdef void part(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Process some matrices, on any thread."""
    cdef Job* job = <Job*> context
    cdef npy_intp m
    cdef bint done = True
    fp_clear()
    for m in range(start, stop):
        done = one(<float*> job.a, job, m) if job.single else one(<double*> job.a, job, m)
        if not done:
            break
    if not done or fp_raised():
        job.failed = True


cdef ndarray plain(object x):
    """The array if the loops accept it; else None."""
    if not PyArray_CheckExact(x) or PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) or not PyArray_ISNOTSWAPPED(x):
        return None
    return x if is_plain(x) else np.array(x, order="C")


cdef ndarray matrices(object x, Job* job):
    """Small square matrices, and their number of rows; None for others."""
    cdef ndarray a = plain(x)
    cdef int ndim
    if a is None or PyArray_NDIM(a) < 2:
        return None
    ndim = PyArray_NDIM(a)
    job.n = PyArray_DIMS(a)[ndim - 1]
    if PyArray_DIMS(a)[ndim - 2] != job.n or not 0 < job.n <= MOST or a.size == 0:
        return None
    job.a, job.a_step, job.single, job.columns = PyArray_BYTES(a), job.n * job.n, PyArray_TYPE(a) == cnp.NPY_FLOAT32, job.n
    return a


cdef bint run(Task task, Job* job, npy_intp count):
    """Process all matrices; False if NumPy has to."""
    job.task, job.failed = task, False
    if count == 1:
        part(job, 0, 1)
    else:
        with nogil:
            parallel(part, job, count, max(<npy_intp> 1, CHUNK // (job.n * job.n * (job.n + job.columns))))
    return not job.failed


cdef ndarray mapped(Task task, object x):
    """A result of the shape of `x`; None if NumPy has to compute it."""
    cdef Job job
    cdef ndarray a = matrices(x, &job), y
    if a is None:
        return None
    y = empty(PyArray_NDIM(a), PyArray_DIMS(a), PyArray_TYPE(a))
    job.y = PyArray_BYTES(y)
    return y if run(task, &job, a.size // (job.n * job.n)) else None


cdef tuple reduced(Task task, object x):
    """Two numbers for each matrix; None if NumPy has to compute them."""
    cdef Job job
    cdef ndarray a = matrices(x, &job), y, signs
    if a is None:
        return None
    y = empty(PyArray_NDIM(a) - 2, PyArray_DIMS(a), PyArray_TYPE(a))
    signs = empty(PyArray_NDIM(a) - 2, PyArray_DIMS(a), PyArray_TYPE(a)) if task == LOGARITHM else y
    job.y, job.signs, job.columns = PyArray_BYTES(y), PyArray_BYTES(signs), 0
    return (signs, y) if run(task, &job, y.size) else None


cdef ndarray small_cholesky(object x):
    """Lower triangular factors of small matrices; None if NumPy has to compute them."""
    return mapped(CHOLESKY, x)


def det(x):
    """Determinants, as ``np.linalg.det``."""
    found = reduced(DETERMINANT, x)
    return np.linalg.det(x) if found is None else found[1]


def inv(x):
    """Inverses, as ``np.linalg.inv``."""
    y = mapped(INVERT, x)
    return np.linalg.inv(x) if y is None else y


def slogdet(x):
    """Signs and logarithms of determinants, as ``np.linalg.slogdet``."""
    found = reduced(LOGARITHM, x)
    return np.linalg.slogdet(x) if found is None else found


def solve(a, b):
    """Solutions of systems for the columns of `b`, as ``np.linalg.solve``."""
    y = solved(a, b)
    return np.linalg.solve(a, b) if y is None else y


cdef ndarray solved(object a, object b):
    """The solutions; None if NumPy has to compute them."""
    cdef Job job
    cdef ndarray a_ = matrices(a, &job), b_ = plain(b), y, longer
    cdef int ndim, i
    cdef npy_intp count
    if a_ is None or b_ is None or PyArray_TYPE(a_) != PyArray_TYPE(b_) or PyArray_NDIM(b_) < 2 or b_.size == 0:
        return None
    ndim = PyArray_NDIM(b_)
    if PyArray_DIMS(b_)[ndim - 2] != job.n:
        return None
    job.columns = PyArray_DIMS(b_)[ndim - 1]
    job.b, job.b_step = PyArray_BYTES(b_), job.n * job.columns
    if PyArray_NDIM(a_) == 2:
        job.a_step = 0
    elif ndim == 2:
        job.b_step = 0
    elif ndim != PyArray_NDIM(a_):
        return None
    else:
        for i in range(ndim - 2):
            if PyArray_DIMS(a_)[i] != PyArray_DIMS(b_)[i]:
                return None
    longer = a_ if ndim == 2 else b_
    shape = (<object> longer).shape[:PyArray_NDIM(longer) - 2] + (job.n, job.columns)
    y = np.empty(shape, (<object> a_).dtype)
    count = y.size // (job.n * job.columns)
    job.y = PyArray_BYTES(y)
    return y if run(SOLVE, &job, count) else None

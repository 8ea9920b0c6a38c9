# cython: cdivision=True
"""Attention and its adjoint without an array of all weights: a block of rows after the other, on several threads.

A block of weights stays in the cache from its product to the next.  The adjoint computes the weights again, as the result did.
BLAS computes the products, in pieces that it does not divide among threads of its own: these would wait for ours.  Blocks and
pieces depend on the shape alone, and a matrix of keys belongs to one thread, so the bits do not depend on threads.  The
expressions of `attention` handle arrays that are not all of float32 or all of float64, and arrays that raised a floating-point
flag.  Does not depend on autograd.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ITEMSIZE, PyArray_NDIM, PyArray_STRIDES, PyArray_TYPE, ndarray,
    npy_intp,
)
from . import attention as expressions
from ..elementwise import choice_loops
from ..fusion_engine.ufunc cimport Ufunc
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.memory cimport empty
from ..loops.threads cimport GRAIN, parallel
from ..loops.wide cimport real
from .softmax_passes cimport ADD, columns
from .softmax_rows cimport adjoint_in_place, softmax_in_place

__all__ = ["attention", "attention_backward"]

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISBEHAVED_RO(ndarray)

cdef enum:
    DIMENSIONS = 64
    CHUNK = 8192        # weights that make a task for a thread worthwhile
    BLOCK = 1 << 15     # weights of a block
    FEWEST = 16         # rows of a block, at least
    MOST = 128          # at most
    SCRATCH = 1 << 12   # numbers that softmax needs, beside a row
    PRODUCT = 1 << 18   # multiplications of a product that OpenBLAS computes on one thread

cdef Ufunc _matmul = Ufunc(np.matmul, "matmul")
cdef Ufunc _add = Ufunc(np.add, "add")
cdef Ufunc _where = choice_loops.where

cdef struct Matrices:
    char* data
    npy_intp row                # bytes between rows; elements of a row are neighbours
    npy_intp[DIMENSIONS] steps  # bytes between matrices along each axis in front

cdef struct Job:
    Matrices query, key, value, mask, grad, y, of_query, of_key, of_value
    int lead                    # axes in front
    npy_intp[DIMENSIONS] dims   # of all operands, with the last two of the result
    npy_intp queries, keys, width, depth
    npy_intp heads              # matrices
    npy_intp rows, blocks       # of a block, and blocks of a matrix
    npy_intp piece              # keys of a product
    int slot                    # of the dtype
    bint boolean                # the mask
    bint adjoint
    bint odd                    # the expressions have to compute the result and warn


cdef inline char* matrix(Job* job, Matrices* x, npy_intp number) noexcept nogil:
    """The matrix of an operand that broadcasting gives to a matrix of the result."""
    cdef char* data = x.data
    cdef int i
    for i in range(job.lead - 1, -1, -1):
        data += number % job.dims[i] * x.steps[i]
        number //= job.dims[i]
    return data


cdef inline void multiply(
    real* a, npy_intp row_a, npy_intp column_a, char* b, npy_intp row_b, npy_intp column_b, char* y, npy_intp row_y,
    npy_intp m, npy_intp n, npy_intp p
) noexcept nogil:
    """y = a @ b, of m x n and n x p elements; distances in bytes."""
    cdef char** args = [<char*> a, b, y]
    cdef npy_intp* dims = [1, m, n, p]
    cdef npy_intp* steps = [0, 0, 0, row_a, column_a, row_b, column_b, row_y, sizeof(real)]
    _matmul.loops[sizeof(real) // 8](args, dims, steps, _matmul.loop_data[sizeof(real) // 8])


cdef void scores(
    Job* job, char* a, npy_intp row_a, char* b, npy_intp row_b, npy_intp rows, npy_intp terms, real* y
) noexcept nogil:
    """y = a @ b.mT for a block of rows and all keys."""
    cdef npy_intp first = 0
    while first < job.keys:
        multiply(<real*> a, row_a, sizeof(real), b + first * row_b, sizeof(real), row_b, <char*> (y + first),
                 job.keys * sizeof(real), rows, terms, min(job.piece, job.keys - first))
        first += job.piece


cdef void mixed(
    Job* job, real* weights, char* b, npy_intp row_b, npy_intp rows, npy_intp terms, char* y, npy_intp row_y, real* spare
) noexcept nogil:
    """y = weights @ b for a block of rows."""
    cdef npy_intp first = 0, some
    while first < job.keys:
        some = min(job.piece, job.keys - first)
        multiply(weights + first, job.keys * sizeof(real), sizeof(real), b + first * row_b, row_b, sizeof(real),
                 <char*> spare if first else y, terms * sizeof(real) if first else row_y, rows, some, terms)
        if first:
            columns(ADD, spare, terms, spare, 0, <real*> y, row_y // sizeof(real), rows, terms)
        first += job.piece


cdef void gathered(
    Job* job, real* weights, char* b, npy_intp row_b, npy_intp rows, npy_intp terms, char* y, npy_intp row_y, bint again,
    real* spare
) noexcept nogil:
    """y = weights.mT @ b for a block of rows; added to y if that has the sum of earlier blocks."""
    cdef npy_intp first = 0, some
    while first < job.keys:
        some = min(job.piece, job.keys - first)
        multiply(weights + first, sizeof(real), job.keys * sizeof(real), b, row_b, sizeof(real),
                 <char*> spare if again else y + first * row_y, terms * sizeof(real) if again else row_y, some, rows, terms)
        if again:
            columns(ADD, spare, terms, spare, 0, <real*> (y + first * row_y), row_y // sizeof(real), some, terms)
        first += job.piece


cdef bint weigh(Job* job, npy_intp head, npy_intp first, npy_intp rows, real* weights, real* spare) noexcept nogil:
    """Write the weights of some rows; whether a floating-point flag was raised."""
    cdef real hidden = -INFINITY
    cdef npy_intp size = rows * job.keys
    cdef char** args = [NULL, <char*> weights, <char*> &hidden, <char*> weights]
    cdef npy_intp* steps = [1, sizeof(real), 0, sizeof(real)]
    scores(job, matrix(job, &job.query, head) + first * job.query.row, job.query.row, matrix(job, &job.key, head), job.key.row,
           rows, job.width, weights)
    if job.mask.data != NULL:
        args[0] = matrix(job, &job.mask, head) + first * job.mask.row
        if job.boolean:
            _where.loops[job.slot](args, &size, steps, _where.loop_data[job.slot])
        else:
            args[2], steps[0], steps[2] = <char*> weights, sizeof(real), sizeof(real)
            _add.loops[job.slot](args, &size, steps, _add.loop_data[job.slot])
    return softmax_in_place(weights, rows, job.keys, spare)


cdef bint attend(Job* job, npy_intp unit, real* weights, real* spare) noexcept nogil:
    """Write a block of the result."""
    cdef npy_intp head = unit // job.blocks, first = unit % job.blocks * job.rows, rows = min(job.rows, job.queries - first)
    if weigh(job, head, first, rows, weights, spare):
        return False
    mixed(job, weights, matrix(job, &job.value, head), job.value.row, rows, job.depth,
          matrix(job, &job.y, head) + first * job.y.row, job.y.row, spare)
    return not fp_raised()


cdef bint attend_adjoint(Job* job, npy_intp head, real* weights, real* spare) noexcept nogil:
    """Write the cotangents of the matrices of a head."""
    cdef real* slopes = weights + job.rows * job.keys
    cdef char* key = matrix(job, &job.key, head)
    cdef char* query
    cdef char* grad
    cdef npy_intp first = 0, rows
    while first < job.queries:
        rows = min(job.rows, job.queries - first)
        query = matrix(job, &job.query, head) + first * job.query.row
        grad = matrix(job, &job.grad, head) + first * job.grad.row
        if weigh(job, head, first, rows, weights, spare):
            return False
        gathered(job, weights, grad, job.grad.row, rows, job.depth, matrix(job, &job.of_value, head), job.of_value.row,
                 first > 0, spare)
        scores(job, grad, job.grad.row, matrix(job, &job.value, head), job.value.row, rows, job.depth, slopes)
        adjoint_in_place(slopes, weights, rows, job.keys)
        mixed(job, slopes, key, job.key.row, rows, job.width,
              matrix(job, &job.of_query, head) + first * job.of_query.row, job.of_query.row, spare)
        gathered(job, slopes, query, job.query.row, rows, job.width, matrix(job, &job.of_key, head), job.of_key.row,
                 first > 0, spare)
        first += rows
    return not fp_raised()


cdef bint some_units(Job* job, npy_intp start, npy_intp stop, real* weights) noexcept nogil:
    cdef real* spare = weights + 2 * job.rows * job.keys
    cdef npy_intp unit
    fp_clear()
    for unit in range(start, stop):
        if not (attend_adjoint(job, unit, weights, spare) if job.adjoint else attend(job, unit, weights, spare)):
            return False
    return True


cdef void part(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Process some blocks, or heads, on any thread."""
    cdef Job* job = <Job*> context
    cdef npy_intp spare = max(max(job.rows, job.piece) * max(job.width, job.depth), job.keys + SCRATCH)
    cdef void* memory = malloc((2 * job.rows * job.keys + spare) * (8 if job.slot else 4))
    if memory == NULL:
        job.odd = True
        return
    if not (some_units(job, start, stop, <double*> memory) if job.slot else some_units(job, start, stop, <float*> memory)):
        job.odd = True
    free(memory)


cdef bint is_ours(object x, int type_num) noexcept:
    return PyArray_CheckExact(x) and PyArray_TYPE(x) == type_num and PyArray_NDIM(x) >= 2 and PyArray_ISBEHAVED_RO(x)


cdef bint widen(Job* job, ndarray x) noexcept:
    """Broadcast the axes in front, which are counted from the end; False if they do not fit."""
    cdef int i, ndim = PyArray_NDIM(x) - 2
    cdef npy_intp size
    if ndim > job.lead:
        for i in range(job.lead - 1, -1, -1):
            job.dims[i + ndim - job.lead] = job.dims[i]
        for i in range(ndim - job.lead):
            job.dims[i] = 1
        job.lead = ndim
    for i in range(ndim):
        size = PyArray_DIMS(x)[i]
        if job.dims[job.lead - ndim + i] == 1:
            job.dims[job.lead - ndim + i] = size
        elif size != 1 and size != job.dims[job.lead - ndim + i]:
            return False
    return True


cdef ndarray place(Job* job, Matrices* at, ndarray x):
    """Set the memory of an operand, which is copied unless the elements of a row are neighbours."""
    cdef int i, ndim = PyArray_NDIM(x)
    if PyArray_STRIDES(x)[ndim - 1] != PyArray_ITEMSIZE(x):
        x = np.array(x, order="C")
    at.data, at.row = PyArray_BYTES(x), PyArray_STRIDES(x)[ndim - 2]
    for i in range(job.lead):
        at.steps[i] = 0
    for i in range(ndim - 2):
        if PyArray_DIMS(x)[i] > 1:
            at.steps[job.lead - ndim + 2 + i] = PyArray_STRIDES(x)[i]
    return x


cdef ndarray result(Job* job, Matrices* at, npy_intp rows, npy_intp size, int type_num):
    job.dims[job.lead], job.dims[job.lead + 1] = rows, size
    return place(job, at, empty(job.lead + 2, job.dims, type_num))


cdef list prepared(Job* job, object query, object key, object value, object mask, object grad=None):
    """The operands, in memory that the job may read; None if the expressions have to compute the result."""
    cdef int type_num = PyArray_TYPE(value) if PyArray_CheckExact(value) else -1, i
    cdef tuple shape
    cdef list operands = [query, key, value]
    if type_num != cnp.NPY_FLOAT32 and type_num != cnp.NPY_FLOAT64:
        return None
    if not is_ours(query, type_num) or not is_ours(key, type_num) or not is_ours(value, type_num):
        return None
    job.queries, job.width, job.keys, job.depth = query.shape[-2], query.shape[-1], key.shape[-2], value.shape[-1]
    if key.shape[-1] != job.width or value.shape[-2] != job.keys:
        return None
    job.lead, job.adjoint, job.odd, job.mask.data, job.slot = 0, grad is not None, False, NULL, type_num == cnp.NPY_FLOAT64
    if grad is not None:
        if not is_ours(grad, type_num) or grad.shape[-2:] != (job.queries, job.depth):
            return None
        operands.append(grad)
    if mask is not None:
        if not PyArray_CheckExact(mask) or PyArray_TYPE(mask) not in (cnp.NPY_BOOL, type_num) or not PyArray_ISBEHAVED_RO(mask):
            return None
        job.boolean = PyArray_TYPE(mask) == cnp.NPY_BOOL
        shape = mask.shape[:-2] + (job.queries, job.keys)
        if mask.shape != shape or not mask.flags.c_contiguous:
            try:
                mask = np.ascontiguousarray(np.broadcast_to(mask, shape))
            except ValueError:
                return None
        operands.append(mask)
    for array in operands:
        if not widen(job, array):
            return None
    job.heads = 1
    for i in range(job.lead):
        job.heads *= job.dims[i]
    if job.heads * job.queries * job.keys * job.width * job.depth == 0:
        return None
    operands[0], operands[1] = place(job, &job.query, query), place(job, &job.key, key)
    operands[2] = place(job, &job.value, value)
    if grad is not None:
        operands[3] = place(job, &job.grad, grad)
    if mask is not None:
        operands[len(operands) - 1] = place(job, &job.mask, mask)
    job.rows = min(job.queries, min(<npy_intp> MOST, max(<npy_intp> FEWEST, BLOCK // job.keys)))
    job.blocks = (job.queries + job.rows - 1) // job.rows
    job.piece = min(job.keys, max(<npy_intp> FEWEST, PRODUCT // (job.rows * max(job.width, job.depth)) // 16 * 16))
    return operands


cdef bint run(Job* job) noexcept:
    """Compute the results; False if the expressions have to do it."""
    cdef npy_intp size = job.rows * job.keys * (job.blocks if job.adjoint else 1)
    cdef npy_intp units = job.heads * (1 if job.adjoint else job.blocks)
    if units * size < GRAIN:
        part(job, 0, units)
    else:
        with nogil:
            parallel(part, job, units, max(<npy_intp> 1, CHUNK // size))
    return not job.odd


def attention(query, key, value, mask):
    """``softmax(query @ key.mT + mask) @ value``, as `attention.attention`.

    Parameters
    ----------
    query : (..., n, k) ndarray
    key : (..., m, k) ndarray
    value : (..., m, c) ndarray
    mask : (..., n, m) ndarray, or None
        Numbers, or true for the keys that count.

    Returns
    -------
    (..., n, c) ndarray
        Zeros for a query whose keys are all masked.
    """
    cdef Job job
    cdef list operands = prepared(&job, query, key, value, mask)
    if operands is not None:
        y = result(&job, &job.y, job.queries, job.depth, PyArray_TYPE(value))
        if run(&job):
            return y
    return expressions.attention(query, key, value, mask)


def attention_backward(grad, query, key, value, mask):
    """The adjoints of attention in query, key and value, of their broadcast shapes, as `attention.attention_backward`."""
    cdef Job job
    cdef list operands = prepared(&job, query, key, value, mask, grad)
    cdef int type_num
    if operands is not None:
        type_num = PyArray_TYPE(value)
        grads = (result(&job, &job.of_query, job.queries, job.width, type_num),
                 result(&job, &job.of_key, job.keys, job.width, type_num),
                 result(&job, &job.of_value, job.keys, job.depth, type_num))
        if run(&job):
            return grads
    return expressions.attention_backward(grad, query, key, value, mask)

"""Normalise rows to mean 0 and variance 1, scale and shift them, and the adjoints.

Loops over the rows of contiguous arrays of float32 and float64, which stay in the cache: a row is read for its sums and then for
its results.  Sums over rows are added within blocks, and blocks in pairs, in an order that depends on the shape alone.  Other
axes are moved to the end in a copy.  The NumPy expressions in `normalisers` handle other dtypes, and arrays that raised a
floating-point flag.  The loops are bound by memory.  Do not depend on autograd.
"""

from libc.float cimport DBL_EPSILON, DBL_MIN, FLT_EPSILON, FLT_MIN
from libc.math cimport sqrt, sqrtf
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ISNOTSWAPPED, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE,
    ndarray, npy_intp,
)
from . import normalisers
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain, same_shape
from ..loops.span cimport Span, empty_reduced, find_span
from ..loops.threads cimport GRAIN, parallel
from ..loops.wide cimport dot, moment, real, total, triple

__all__ = ["standardize", "standardize_affine", "standardize_affine_backward", "standardize_backward"]

cnp.import_array()

cdef extern from "gradspec/kernels/row_wise/normalisers_loops.h":
    void gradspec_standard_float(float*, float, float, float*, npy_intp) noexcept nogil
    void gradspec_standard_double(double*, double, double, double*, npy_intp) noexcept nogil
    void gradspec_affine_float(float*, float*, float*, float*, npy_intp) noexcept nogil
    void gradspec_affine_double(double*, double*, double*, double*, npy_intp) noexcept nogil
    void gradspec_adjoint_float(float*, float*, float*, float, float, float, float*, npy_intp) noexcept nogil
    void gradspec_adjoint_double(double*, double*, double*, double, double, double, double*, npy_intp) noexcept nogil
    void gradspec_gather_float(float*, float*, float*, float*, npy_intp) noexcept nogil
    void gradspec_gather_double(double*, double*, double*, double*, npy_intp) noexcept nogil
    void gradspec_add_float(float*, float*, npy_intp) noexcept nogil
    void gradspec_add_double(double*, double*, npy_intp) noexcept nogil

cdef enum:
    CHUNK = 1 << 16  # elements of a block
    FEWEST = 4      # rows of a block with separate sums, at least

cdef struct Job:
    npy_intp rows
    npy_intp length
    npy_intp block      # in rows
    bint single         # float32
    bint centred
    bint adjoint
    bint raised         # a floating-point flag was raised, or a square was too small, in some part
    double eps
    char* x             # or the cotangent
    char* scale         # of one row, or NULL
    char* shift
    char* y             # standardized
    char* rate          # of each row
    char* z             # the result; NULL if it is y
    char* sums          # two rows for each block: the sums over rows


cdef void forward_rows(real* x, Job* job, npy_intp start, npy_intp stop) noexcept nogil:
    cdef npy_intp n = job.length, row
    cdef real mean = 0, rate, one = 1
    cdef real least = <real> (FLT_MIN / FLT_EPSILON if sizeof(real) == 4 else DBL_MIN / DBL_EPSILON)
    cdef real* y = <real*> job.y
    cdef real* z = <real*> job.z
    for row in range(start, stop):
        if job.centred:
            mean = total(x + row * n, n) / n
        rate = moment(x + row * n, mean, n) / n + <real> job.eps
        if rate < least:
            job.raised = True  # squares have lost digits
        if real is float:
            rate = one / sqrtf(rate)
            gradspec_standard_float(x + row * n, mean, rate, y + row * n, n)
            if z != NULL:
                gradspec_affine_float(y + row * n, <float*> job.scale, <float*> job.shift, z + row * n, n)
        else:
            rate = one / sqrt(rate)
            gradspec_standard_double(x + row * n, mean, rate, y + row * n, n)
            if z != NULL:
                gradspec_affine_double(y + row * n, <double*> job.scale, <double*> job.shift, z + row * n, n)
        (<real*> job.rate)[row] = rate


cdef void adjoint_rows(real* a, Job* job, npy_intp start, npy_intp stop) noexcept nogil:
    """The adjoint for rows within one block, or for any rows if nothing is added over them."""
    cdef npy_intp n = job.length, row
    cdef real mean = 0, slope, rate
    cdef real* scale = <real*> job.scale
    cdef real* y = <real*> job.y
    cdef real* z = <real*> job.z
    cdef real* sums = NULL
    a, y, z = a + start * n, y + start * n, z + start * n
    if scale != NULL:
        sums = <real*> job.sums + start // job.block * 2 * n
        memset(sums, 0, 2 * n * sizeof(real))
    for row in range(start, stop):
        rate = (<real*> job.rate)[row]
        if job.centred:
            mean = (total(a, n) if scale == NULL else dot(a, scale, n)) / n
        slope = (dot(a, y, n) if scale == NULL else triple(a, scale, y, n)) / n
        if real is float:
            if scale != NULL:
                gradspec_gather_float(a, y, sums, sums + n, n)
            gradspec_adjoint_float(a, scale, y, rate, mean, slope, z, n)
        else:
            if scale != NULL:
                gradspec_gather_double(a, y, sums, sums + n, n)
            gradspec_adjoint_double(a, scale, y, rate, mean, slope, z, n)
        a, y, z = a + n, y + n, z + n


cdef void part(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Process some blocks of rows, on any thread."""
    cdef Job* job = <Job*> context
    cdef npy_intp block, first, last
    fp_clear()
    for block in range(start, stop):
        first, last = block * job.block, min((block + 1) * job.block, job.rows)
        if job.adjoint:
            if job.single:
                adjoint_rows(<float*> job.x, job, first, last)
            else:
                adjoint_rows(<double*> job.x, job, first, last)
        elif job.single:
            forward_rows(<float*> job.x, job, first, last)
        else:
            forward_rows(<double*> job.x, job, first, last)
    if fp_raised():
        job.raised = True


cdef void add_blocks(real* sums, npy_intp blocks, npy_intp n) noexcept nogil:
    """Add some rows in pairs; the sum replaces the first row."""
    cdef npy_intp step = 1, i
    while step < blocks:
        i = 0
        while i + step < blocks:
            if real is float:
                gradspec_add_float(sums + i * n, sums + (i + step) * n, n)
            else:
                gradspec_add_double(sums + i * n, sums + (i + step) * n, n)
            i += 2 * step
        step *= 2


cdef bint run(Job* job) noexcept:
    """Process all rows; False if there is no memory or a floating-point flag was raised."""
    cdef npy_intp blocks = (job.rows + job.block - 1) // job.block
    cdef bint adds = job.adjoint and job.scale != NULL
    job.raised, job.sums = False, NULL
    if adds:
        job.sums = <char*> malloc(blocks * 2 * job.length * (4 if job.single else 8))
        if job.sums == NULL:
            return False
    if job.rows * job.length < GRAIN:
        part(job, 0, blocks)
    else:
        with nogil:
            parallel(part, job, blocks, 1)
    if adds and not job.raised:
        fp_clear()
        if job.single:
            add_blocks(<float*> job.sums, blocks, 2 * job.length)
        else:
            add_blocks(<double*> job.sums, blocks, 2 * job.length)
        job.raised = fp_raised()
    return not job.raised


cdef ndarray plain(object x, int type_num=-1):
    """`x` as a contiguous array of the given type, or without one of float32 or float64; None if its type differs."""
    if not PyArray_CheckExact(x) or not PyArray_ISNOTSWAPPED(x):
        return None
    if PyArray_TYPE(x) != type_num if type_num >= 0 else PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        return None
    return x if is_plain(x) else np.array(x, order="C")


cdef ndarray plain_row(object x, ndarray like, int axes):
    """The same for an array of the shape of the last `axes` axes of `like`."""
    cdef ndarray row = plain(x, PyArray_TYPE(like))
    cdef int i, before = PyArray_NDIM(like) - axes
    if row is None or PyArray_NDIM(row) != axes:
        return None
    for i in range(axes):
        if PyArray_DIMS(row)[i] != PyArray_DIMS(like)[before + i]:
            return None
    return row


cdef bint find_rows(Job* job, ndarray x, object axis, Span* span, bint adds):
    """Find the layout of the rows; False if they are not contiguous, or there are none."""
    if not find_span(x, axis, span) or span.inner != 1 or PyArray_SIZE(x) == 0:
        return False
    job.rows, job.length = span.outer, span.length
    job.block = max(<npy_intp> (FEWEST if adds else 1), CHUNK // span.length)
    job.single = PyArray_TYPE(x) == cnp.NPY_FLOAT32
    job.x, job.scale, job.shift, job.z = PyArray_BYTES(x), NULL, NULL, NULL
    return True


cdef tuple forward(object x, object axis, double eps, bint centred, object weight=None, object bias=None):
    """The results of standardize, preceded by an affine function's if there is a weight; None if NumPy has to compute them."""
    cdef ndarray x_ = plain(x), y, rate, z = None, scale = None, shift = None
    cdef Job job
    cdef Span span
    if x_ is None or not find_rows(&job, x_, axis, &span, False):
        return None
    job.adjoint, job.centred, job.eps = False, centred, eps
    if weight is not None:
        scale = plain_row(weight, x_, span.last - span.first + 1)
        shift = None if bias is None else plain_row(bias, x_, span.last - span.first + 1)
        if scale is None or shift is None and bias is not None:
            return None
        z = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
        job.scale, job.z = PyArray_BYTES(scale), PyArray_BYTES(z)
        if shift is not None:
            job.shift = PyArray_BYTES(shift)
    y, rate = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_)), empty_reduced(x_, &span, True)
    job.y, job.rate = PyArray_BYTES(y), PyArray_BYTES(rate)
    if not run(&job):
        return None
    return (y, rate) if z is None else (z, y, rate)


cdef tuple adjoint(object grad, object y, object rate, object axis, bint centred, object weight=None):
    """The cotangent of `x` and, with a weight, the cotangents of weight and bias; None if NumPy has to compute them."""
    cdef ndarray y_ = plain(y), grad_, rate_, z, scale = None, products, sums
    cdef Job job
    cdef Span span
    cdef npy_intp size
    if y_ is None or not find_rows(&job, y_, axis, &span, weight is not None):
        return None
    grad_, rate_ = plain(grad, PyArray_TYPE(y_)), plain(rate, PyArray_TYPE(y_))
    if grad_ is None or rate_ is None or not same_shape(grad_, y_):
        return None
    if PyArray_SIZE(rate_) != span.outer or PyArray_NDIM(rate_) != PyArray_NDIM(y_):
        return None
    if weight is not None:
        scale = plain_row(weight, y_, span.last - span.first + 1)
        if scale is None:
            return None
        job.scale = PyArray_BYTES(scale)
    z = empty(PyArray_NDIM(y_), PyArray_DIMS(y_), PyArray_TYPE(y_))
    job.adjoint, job.centred, job.eps, job.x, job.z = True, centred, 0, PyArray_BYTES(grad_), PyArray_BYTES(z)
    job.y, job.rate = PyArray_BYTES(y_), PyArray_BYTES(rate_)
    try:
        if not run(&job):
            return None
        if scale is None:
            return z,
        products = empty(PyArray_NDIM(scale), PyArray_DIMS(scale), PyArray_TYPE(scale))
        sums = empty(PyArray_NDIM(scale), PyArray_DIMS(scale), PyArray_TYPE(scale))
        size = job.length * (4 if job.single else 8)
        memcpy(PyArray_BYTES(products), job.sums, size)
        memcpy(PyArray_BYTES(sums), job.sums + size, size)
        return z, products, sums
    finally:
        if scale is not None:
            free(job.sums)


cdef object order_of(object x, object axis):
    """A permutation that moves the axes of `axis` to the end, and their number; None if they are last, or do not fit."""
    cdef int ndim
    if not PyArray_CheckExact(x) or type(axis) is not tuple:
        return None
    ndim = PyArray_NDIM(x)
    last = sorted([i + ndim if i < 0 else i for i in axis])
    if not last or last[0] < 0 or last[len(last) - 1] >= ndim or len(set(last)) < len(last):
        return None
    first = [i for i in range(ndim) if i not in last]
    return None if first + last == list(range(ndim)) else (tuple(first + last), len(last))


def standardize(x, axis, eps, centred):
    """Each element minus the mean, divided by the root of the mean square plus eps, as `normalisers.standardize`."""
    order = order_of(x, axis)
    if order is None:
        found = forward(x, axis, eps, centred)
    else:  # copying to move the axes to the end, and back, is faster than strided loops
        found = forward(x.transpose(order[0]), tuple(range(-order[1], 0)), eps, centred)
        if found is not None:
            back = np.argsort(order[0])
            found = tuple([np.array(y.transpose(back), order="C") for y in found])
    return normalisers.standardize(x, axis, eps, centred) if found is None else found


def standardize_backward(grad, y, rate, axis, centred):
    """``rate * (grad - mean(grad) - y * mean(grad * y))``, as `normalisers.standardize_backward`."""
    order = order_of(y, axis)
    if order is None:
        found = adjoint(grad, y, rate, axis, centred)
    elif np.shape(grad) != y.shape or np.ndim(rate) != y.ndim:
        found = None
    else:
        places = order[0]
        grad_, y_, rate_ = [np.transpose(array, places) for array in (grad, y, rate)]
        found = adjoint(grad_, y_, rate_, tuple(range(-order[1], 0)), centred)
        if found is not None:
            found = np.array(found[0].transpose(np.argsort(places)), order="C"),
    return normalisers.standardize_backward(grad, y, rate, axis, centred) if found is None else found[0]


def standardize_affine(x, weight, bias, eps, centred):
    """``y * weight + bias`` of the standardized `y`, which is also returned, and its factor; see `normalisers`."""
    found = forward(x, normalisers.row_axes(x, weight), eps, centred, weight, bias)
    return normalisers.standardize_affine(x, weight, bias, eps, centred) if found is None else found


def standardize_affine_backward(grad, weight, y, rate, centred):
    """The adjoints of standardize_affine for x, weight and bias, as `normalisers.standardize_affine_backward`."""
    found = adjoint(grad, y, rate, normalisers.row_axes(y, weight), centred, weight)
    return normalisers.standardize_affine_backward(grad, weight, y, rate, centred) if found is None else found

"""Normalise rows to mean 0 and variance 1, scale and shift them, and the adjoints.

Loops over contiguous arrays of float32 and float64.  A row is all elements with one mean: runs of neighbours, as a channel of a
batch of images has one run in each.  It is read for its sums and then for its results, and mostly is in the cache then.  Factors
belong to runs, or to the elements of a row.  Sums over rows are added within blocks, and blocks in pairs, in an order that
depends on the shape alone.  Other axes are moved to the end in a copy.  The NumPy expressions in `normalisers` handle other
dtypes, and arrays that raised a floating-point flag.  Do not depend on autograd.
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
from ..loops.span cimport DIMENSIONS
from ..loops.threads cimport GRAIN, parallel
from ..loops.wide cimport dot, moment, product, real, total, triple

__all__ = ["standardize", "standardize_affine", "standardize_affine_backward", "standardize_backward"]

cnp.import_array()

cdef extern from "gradspec/kernels/row_wise/normalisers_loops.h":
    void gradspec_standard_float(float*, float, float, float, float, float*, npy_intp) noexcept nogil
    void gradspec_standard_double(double*, double, double, double, double, double*, npy_intp) noexcept nogil
    void gradspec_affine_float(float*, float, float, float*, float*, float*, npy_intp) noexcept nogil
    void gradspec_affine_double(double*, double, double, double*, double*, double*, npy_intp) noexcept nogil
    void gradspec_adjoint_float(float*, float*, float, float, float, float, float, float, float*, npy_intp) noexcept nogil
    void gradspec_adjoint_double(
        double*, double*, double, double, double, double, double, double, double*, npy_intp) noexcept nogil
    void gradspec_affine_adjoint_float(
        float*, float*, float, float*, float, float, float, float*, float*, float*, npy_intp) noexcept nogil
    void gradspec_affine_adjoint_double(
        double*, double*, double, double*, double, double, double, double*, double*, double*, npy_intp) noexcept nogil
    void gradspec_add_float(float*, float*, npy_intp) noexcept nogil
    void gradspec_add_double(double*, double*, npy_intp) noexcept nogil

cdef enum:
    CHUNK = 1 << 13     # elements that make a task for a thread worthwhile
    FEWEST = 4          # rows of a block with separate sums, at least
    SHORTEST = 8        # elements of a run, if a row has more than one

cdef struct Job:
    npy_intp rows
    npy_intp runs       # of a row
    npy_intp within     # runs that follow each other; then come runs of the next row
    npy_intp length     # of a run
    npy_intp weights    # number of factors
    bint each           # each element of a row has a factor, not each run
    npy_intp block      # in rows
    npy_intp parts      # sums of each factor in `sums`
    bint single         # float32
    bint centred
    bint adjoint
    bint raised         # a floating-point flag was raised, or a square was too small, in some part
    double eps
    char* x
    char* a             # the cotangent
    char* scale         # the factors, or NULL
    char* shift
    char* centre        # of each row; NULL if x is standardized
    char* rate          # of each row
    char* z             # the result
    char* sums          # of products and then of cotangents, over each run, or each block for each element


cdef inline npy_intp run_of(Job* job, npy_intp row, npy_intp i) noexcept nogil:
    """The number of a row's run among all runs of the array."""
    return (i // job.within * job.rows + row) * job.within + i % job.within


cdef real over_runs(Job* job, real* sums, real* scale, npy_intp row, npy_intp first, npy_intp count) noexcept nogil:
    """The sum of the sums of a row's runs, times the factors of the runs; pairwise."""
    cdef npy_intp place, half = count // 2
    if count == 1:
        place = run_of(job, row, first)
        return sums[place] if scale == NULL else sums[place] * scale[place % job.weights]
    return over_runs(job, sums, scale, row, first, half) + over_runs(job, sums, scale, row, first + half, count - half)


cdef void forward_rows(real* x, Job* job, npy_intp start, npy_intp stop) noexcept nogil:
    cdef npy_intp n = job.length, row, i, place
    cdef real mean = 0, rate, scale = 1, shift = -0.0, one = 1, count = job.runs * n
    cdef real least = <real> (FLT_MIN / FLT_EPSILON if sizeof(real) == 4 else DBL_MIN / DBL_EPSILON)
    cdef real* sums = <real*> job.sums
    cdef real* scales = <real*> job.scale
    cdef real* shifts = <real*> job.shift
    cdef real* z = <real*> job.z
    for row in range(start, stop):
        if job.centred:
            for i in range(job.runs):
                place = run_of(job, row, i)
                sums[place] = total(x + place * n, n)
            mean = over_runs(job, sums, <real*> NULL, row, 0, job.runs) / count
        for i in range(job.runs):
            place = run_of(job, row, i)
            sums[place] = moment(x + place * n, mean, n)
        rate = over_runs(job, sums, <real*> NULL, row, 0, job.runs) / count + <real> job.eps
        if rate < least:
            job.raised = True  # squares have lost digits
        rate = one / (sqrtf(rate) if real is float else sqrt(rate))
        (<real*> job.centre)[row] = mean
        (<real*> job.rate)[row] = rate
        if job.each:
            if real is float:
                gradspec_affine_float(x + row * n, mean, rate, scales, shifts, z + row * n, n)
            else:
                gradspec_affine_double(x + row * n, mean, rate, scales, shifts, z + row * n, n)
            continue
        for i in range(job.runs):
            place = run_of(job, row, i)
            if scales != NULL:
                scale = scales[place % job.weights]
            if shifts != NULL:
                shift = shifts[place % job.weights]
            if real is float:
                gradspec_standard_float(x + place * n, mean, rate, scale, shift, z + place * n, n)
            else:
                gradspec_standard_double(x + place * n, mean, rate, scale, shift, z + place * n, n)


cdef void adjoint_rows(real* x, Job* job, npy_intp start, npy_intp stop) noexcept nogil:
    """The adjoint for rows within one block, or for any rows if nothing is added over them."""
    cdef npy_intp n = job.length, row, i, place
    cdef real mean = 0, slope, rate, centre = 0, factor = 1, scale = 1, count = job.runs * n
    cdef real* a = <real*> job.a
    cdef real* z = <real*> job.z
    cdef real* scales = <real*> job.scale
    cdef real* products = <real*> job.sums
    cdef real* sums
    if job.each:
        products += start // job.block * n
        memset(products, 0, n * sizeof(real))
        memset(products + job.parts * n, 0, n * sizeof(real))
    sums = products + job.parts * job.weights
    for row in range(start, stop):
        rate = (<real*> job.rate)[row]
        if job.centre != NULL:
            centre, factor = (<real*> job.centre)[row], rate
        if job.each:
            place = row * n
            if job.centred:
                mean = dot(a + place, scales, n) / n
            slope = triple(a + place, scales, x + place, centre, rate, n) / n
            if real is float:
                gradspec_affine_adjoint_float(
                    a + place, x + place, centre, scales, rate, mean, slope, products, sums, z + place, n)
            else:
                gradspec_affine_adjoint_double(
                    a + place, x + place, centre, scales, rate, mean, slope, products, sums, z + place, n)
            continue
        for i in range(job.runs):
            place = run_of(job, row, i)
            products[place] = product(a + place * n, x + place * n, centre, factor, n)
            if job.centred or scales != NULL:
                sums[place] = total(a + place * n, n)
        slope = over_runs(job, products, scales, row, 0, job.runs) / count
        if job.centred:
            mean = over_runs(job, sums, scales, row, 0, job.runs) / count
        for i in range(job.runs):
            place = run_of(job, row, i)
            if scales != NULL:
                scale = scales[place % job.weights]
            if real is float:
                gradspec_adjoint_float(
                    a + place * n, x + place * n, centre, factor, scale, rate, mean, slope, z + place * n, n)
            else:
                gradspec_adjoint_double(
                    a + place * n, x + place * n, centre, factor, scale, rate, mean, slope, z + place * n, n)


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
    cdef npy_intp size = job.parts * job.weights * (4 if job.single else 8), blocks = (job.rows + job.block - 1) // job.block
    cdef npy_intp i
    job.raised, job.sums = False, <char*> malloc(2 * size)
    if job.sums == NULL:
        return False
    if job.rows * job.runs * job.length < GRAIN:
        part(job, 0, blocks)
    else:
        with nogil:
            parallel(part, job, blocks, 1)
    if job.adjoint and job.scale != NULL and not job.raised:
        fp_clear()
        for i in range(2):
            if job.single:
                add_blocks(<float*> (job.sums + i * size), job.parts, job.weights)
            else:
                add_blocks(<double*> (job.sums + i * size), job.parts, job.weights)
        job.raised = fp_raised()
    return not job.raised


cdef ndarray plain(object x, int type_num=-1):
    """`x` as a contiguous array of the given type, or without one of float32 or float64; None if its type differs."""
    if not PyArray_CheckExact(x) or not PyArray_ISNOTSWAPPED(x):
        return None
    if PyArray_TYPE(x) != type_num if type_num >= 0 else PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        return None
    return x if is_plain(x) else np.array(x, order="C")


cdef bint find_rows(Job* job, ndarray x, object axis, npy_intp* kept):
    """Find the rows of `x`, and the shape of their rates; False if they have no runs.

    The axes have to be some of the first ones and some of the last ones.
    """
    cdef int ndim = PyArray_NDIM(x), i, first = 0, last = ndim, count = 0
    cdef npy_intp* dims = PyArray_DIMS(x)
    cdef bint[DIMENSIONS] given
    if PyArray_SIZE(x) == 0 or type(axis) is not int and type(axis) is not tuple:
        return False
    for i in range(ndim):
        given[i] = False
    for place in (axis,) if type(axis) is int else <tuple> axis:
        i = place
        i = i + ndim if i < 0 else i
        if not 0 <= i < ndim or given[i]:
            return False
        given[i] = True
        count += 1
    while last > 0 and given[last - 1]:
        last -= 1
    while first < last and given[first]:
        first += 1
    if last == ndim or ndim - last + first != count:
        return False
    job.rows = job.runs = job.length = 1
    for i in range(ndim):
        kept[i] = 1 if given[i] else dims[i]
        if i < first:
            job.runs *= dims[i]
        elif i < last:
            job.rows *= dims[i]
        else:
            job.length *= dims[i]
    job.within, job.weights, job.each, job.parts = 1, 1, False, job.rows * job.runs
    job.single, job.x, job.scale, job.shift = PyArray_TYPE(x) == cnp.NPY_FLOAT32, PyArray_BYTES(x), NULL, NULL
    return job.runs == 1 or job.length >= SHORTEST


cdef bint find_factors(Job* job, ndarray x, ndarray scale, int behind):
    """Find the factors of runs, or of the elements of a row, with `behind` axes after theirs; False if they are of others."""
    cdef int ndim = PyArray_NDIM(x), axes, i
    cdef npy_intp length = 1
    if scale is None:
        return False
    axes = PyArray_NDIM(scale)
    if not 0 <= behind <= ndim - axes:
        return False
    for i in range(ndim - behind, ndim):
        length *= PyArray_DIMS(x)[i]
    for i in range(axes):
        if PyArray_DIMS(scale)[i] != PyArray_DIMS(x)[ndim - behind - axes + i]:
            return False
    job.scale, job.weights = PyArray_BYTES(scale), PyArray_SIZE(scale)
    if length == 1 and job.runs == 1 and job.weights == job.length:
        job.each = True
        return True
    if length > job.length or length < min(job.length, <npy_intp> SHORTEST):
        return False
    job.within = job.length // length
    job.runs, job.length, job.parts = job.runs * job.within, length, job.rows * job.runs * job.within // job.weights
    return True


cdef void find_blocks(Job* job) noexcept:
    """Choose the rows of a block, and the sums of each factor."""
    job.block = max(<npy_intp> (FEWEST if job.each and job.adjoint else 1), CHUNK // (job.runs * job.length))
    if job.each:
        job.parts = (job.rows + job.block - 1) // job.block if job.adjoint else job.rows // job.weights + 1


cdef tuple forward(object x, object axis, double eps, bint centred, object weight=None, object bias=None, int behind=0):
    """The results of standardize_affine, or without a weight of standard; None if NumPy has to compute them."""
    cdef ndarray x_ = plain(x), z, centre, rate, scale, shift
    cdef npy_intp[DIMENSIONS] kept
    cdef Job job
    if x_ is None or not find_rows(&job, x_, axis, kept):
        return None
    if weight is not None:
        scale = plain(weight, PyArray_TYPE(x_))
        if not find_factors(&job, x_, scale, behind):
            return None
        if bias is not None:
            shift = plain(bias, PyArray_TYPE(x_))
            if shift is None or not same_shape(shift, scale):
                return None
            job.shift = PyArray_BYTES(shift)
    job.adjoint, job.centred, job.eps = False, centred, eps
    find_blocks(&job)
    z = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    centre, rate = [empty(PyArray_NDIM(x_), kept, PyArray_TYPE(x_)) for _ in range(2)]
    job.z, job.centre, job.rate = PyArray_BYTES(z), PyArray_BYTES(centre), PyArray_BYTES(rate)
    try:
        return (z, centre, rate) if run(&job) else None
    finally:
        free(job.sums)


cdef tuple adjoint(
    object grad, object x, object centre, object rate, object axis, bint centred, object weight=None, int behind=0
):
    """The cotangent of `x` and, with a weight, the cotangents of weight and bias; None if NumPy has to compute them."""
    cdef ndarray x_ = plain(x), grad_, centre_, rate_, z, scale, products, sums
    cdef npy_intp[DIMENSIONS] kept
    cdef Job job
    cdef npy_intp size
    if x_ is None or not find_rows(&job, x_, axis, kept):
        return None
    grad_, rate_ = plain(grad, PyArray_TYPE(x_)), plain(rate, PyArray_TYPE(x_))
    if grad_ is None or rate_ is None or not same_shape(grad_, x_):
        return None
    if PyArray_SIZE(rate_) != job.rows or PyArray_NDIM(rate_) != PyArray_NDIM(x_):
        return None
    job.centre, job.rate = NULL, PyArray_BYTES(rate_)
    if weight is not None:
        scale, centre_ = plain(weight, PyArray_TYPE(x_)), plain(centre, PyArray_TYPE(x_))
        if centre_ is None or not same_shape(centre_, rate_) or not find_factors(&job, x_, scale, behind):
            return None
        job.centre = PyArray_BYTES(centre_)
    job.adjoint, job.centred, job.eps, job.a = True, centred, 0, PyArray_BYTES(grad_)
    find_blocks(&job)
    z = empty(PyArray_NDIM(x_), PyArray_DIMS(x_), PyArray_TYPE(x_))
    job.z = PyArray_BYTES(z)
    try:
        if not run(&job):
            return None
        if weight is None:
            return z,
        products = empty(PyArray_NDIM(scale), PyArray_DIMS(scale), PyArray_TYPE(scale))
        sums = empty(PyArray_NDIM(scale), PyArray_DIMS(scale), PyArray_TYPE(scale))
        size = job.weights * (4 if job.single else 8)
        memcpy(PyArray_BYTES(products), job.sums, size)
        memcpy(PyArray_BYTES(sums), job.sums + job.parts * size, size)
        return z, products, sums
    finally:
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


def standard(x, axis, eps, centred):
    """``y, centre, rate`` with ``y = (x - centre) * rate``, as `normalisers.standard`."""
    found = forward(x, axis, eps, centred)
    order = order_of(x, axis) if found is None else None
    if order is not None:  # copying to move the axes to the end, and back, is faster than strided loops
        found = forward(x.transpose(order[0]), tuple(range(-order[1], 0)), eps, centred)
        if found is not None:
            back = np.argsort(order[0])
            found = tuple([np.array(y.transpose(back), order="C") for y in found])
    return normalisers.standard(x, axis, eps, centred) if found is None else found


def standardize(x, axis, eps, centred):
    """Each element minus the mean, divided by the root of the mean square plus eps, as `normalisers.standardize`."""
    return standard(x, axis, eps, centred)[::2]


def standardize_backward(grad, y, rate, axis, centred):
    """``rate * (grad - mean(grad) - y * mean(grad * y))``, as `normalisers.standardize_backward`."""
    found = adjoint(grad, y, None, rate, axis, centred)
    order = order_of(y, axis) if found is None else None
    if order is not None and np.shape(grad) == y.shape and np.ndim(rate) == y.ndim:
        places = order[0]
        grad_, y_, rate_ = [np.transpose(array, places) for array in (grad, y, rate)]
        found = adjoint(grad_, y_, None, rate_, tuple(range(-order[1], 0)), centred)
        if found is not None:
            found = np.array(found[0].transpose(np.argsort(places)), order="C"),
    return normalisers.standardize_backward(grad, y, rate, axis, centred) if found is None else found[0]


def standardize_affine(x, axis, weight, bias, behind, eps, centred):
    """``y * weight + bias`` of the standardized array, its means and rates; as `normalisers.standardize_affine`."""
    found = forward(x, axis, eps, centred, weight, bias, behind)
    if found is None:
        return normalisers.standardize_affine(x, axis, weight, bias, behind, eps, centred, standard)
    return found


def standardize_affine_backward(grad, x, weight, centre, rate, axis, behind, centred):
    """The adjoints of standardize_affine for x, weight and bias, as `normalisers.standardize_affine_backward`."""
    found = adjoint(grad, x, centre, rate, axis, centred, weight, behind)
    if found is None:
        return normalisers.standardize_affine_backward(
            grad, x, weight, centre, rate, axis, behind, centred, standardize_backward)
    return found

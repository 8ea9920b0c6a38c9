# cython: boundscheck=False, wraparound=False
"""Maxima over windows, and weighted sums along one axis.

Loops over contiguous planes for each dtype, on several threads without the GIL; adjacent windows are computed together, in
vectors.  The module `pooling` computes the windows and weights.  It passes contiguous arrays of equal dtype, and indices that
are in range.
"""

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_DIMS, PyArray_TYPE, ndarray, npy_intp
from ..loops.threads cimport Work, parallel

cnp.import_array()

cdef extern from "gradspec/kernels/convolution/pooling_loops.h":
    ctypedef struct Windows "gradspec_windows":
        char* x
        char* y
        npy_intp* indices
        npy_intp[3] dims, sizes, step
        npy_intp* first[3]
        npy_intp* last[3]
        npy_intp low, high, count, stride

    ctypedef struct Weighted "gradspec_weighted":
        char* x
        char* weights
        char* y
        npy_intp* starts
        npy_intp* places
        npy_intp length, size, behind

    void gradspec_max_planes_float(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_max_planes_double(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_max_planes_npy_longdouble(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_max_planes_npy_longlong(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_max_planes_npy_ulonglong(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_weighted_float(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_weighted_double(void*, npy_intp, npy_intp) noexcept nogil
    void gradspec_weighted_npy_longdouble(void*, npy_intp, npy_intp) noexcept nogil

cdef enum:
    CHUNK = 1 << 14  # products or comparisons that make a task for a thread worthwhile


def max_windows(ndarray x, ndarray first, ndarray last, tuple step, ndarray y, ndarray indices):
    """Write to `y` the first largest element of each window, where a NaN exceeds all others; to `indices` its index in its plane.

    Windows are the products of ranges: along axis k those from first[k, i] up to but without last[k, i], by step[k].
    All axes of `x` and `y` but the first form a plane of three axes.
    """
    cdef Windows job
    cdef Work work
    cdef npy_intp planes = PyArray_DIMS(y)[0], longest = PyArray_DIMS(first)[1], cost = 1
    cdef int k, type_num = PyArray_TYPE(x)
    job.x, job.y, job.indices = PyArray_BYTES(x), PyArray_BYTES(y), <npy_intp*> PyArray_BYTES(indices)
    for k in range(3):
        job.dims[k], job.sizes[k], job.step[k] = PyArray_DIMS(x)[k + 1], PyArray_DIMS(y)[k + 1], step[k]
        job.first[k] = <npy_intp*> PyArray_BYTES(first) + k * longest
        job.last[k] = <npy_intp*> PyArray_BYTES(last) + k * longest
        cost *= job.sizes[k] * ((job.last[k][0] - job.first[k][0] + job.step[k] - 1) // job.step[k])
    find_alike(&job)
    if type_num == cnp.NPY_FLOAT32:
        work = gradspec_max_planes_float
        if job.dims[0] * job.dims[1] * job.dims[2] > 0x7fffffff:
            job.low = job.high = 0
    elif type_num == cnp.NPY_FLOAT64:
        work = gradspec_max_planes_double
    elif cnp.PyTypeNum_ISFLOAT(type_num):
        work = gradspec_max_planes_npy_longdouble
    elif (<object> x).dtype.kind == "i":
        work = gradspec_max_planes_npy_longlong
    else:
        work = gradspec_max_planes_npy_ulonglong
    with nogil:
        parallel(work, &job, planes, max(<npy_intp> 1, CHUNK // cost))


cdef void find_alike(Windows* job) noexcept nogil:
    """Find the longest runs of windows along the last axis with a constant distance between the starts of adjacent windows."""
    cdef npy_intp n = job.sizes[2], k, count
    job.low = job.high = job.count = 0
    job.stride = 1
    for k in range(n):
        count = (job.last[2][k] - job.first[2][k] + job.step[2] - 1) // job.step[2]
        if count > job.count:
            job.low, job.high, job.count = k, k + 1, count
        elif count == job.count and k == job.high:
            if k == job.low + 1:
                job.stride = job.first[2][k] - job.first[2][k - 1]
            if job.first[2][k] - job.first[2][k - 1] == job.stride:
                job.high = k + 1


def weighted_sums(ndarray x, ndarray starts, ndarray places, ndarray weights, ndarray y):
    """y[o, i] = the sum of weights[j] * x[o, places[j]] over j from starts[i] up to but without starts[i + 1].

    `x` and `y` have three axes, and the dtype of the weights or the complex dtype of that precision.
    """
    cdef Weighted job
    cdef Work work
    cdef npy_intp outer = PyArray_DIMS(y)[0], cost
    cdef int type_num = PyArray_TYPE(weights)
    job.x, job.weights, job.y = PyArray_BYTES(x), PyArray_BYTES(weights), PyArray_BYTES(y)
    job.starts, job.places = <npy_intp*> PyArray_BYTES(starts), <npy_intp*> PyArray_BYTES(places)
    job.length, job.size, job.behind = PyArray_DIMS(x)[1], PyArray_DIMS(y)[1], PyArray_DIMS(y)[2]
    if cnp.PyTypeNum_ISCOMPLEX(PyArray_TYPE(x)):
        job.behind *= 2
    if type_num == cnp.NPY_FLOAT32:
        work = gradspec_weighted_float
    elif type_num == cnp.NPY_FLOAT64:
        work = gradspec_weighted_double
    else:
        work = gradspec_weighted_npy_longdouble
    cost = (PyArray_DIMS(places)[0] + job.size) * job.behind
    with nogil:
        parallel(work, &job, outer, max(<npy_intp> 4, CHUNK // cost // 4 * 4))

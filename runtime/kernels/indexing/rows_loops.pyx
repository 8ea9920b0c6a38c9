"""Rows added and taken at indices along one axis: loops behind the kernels of `indexing`, with those of `elements_loops`.

Owns loops over contiguous arrays of float32, float64, their complex kin and int64, with indices counted from either end.  An
index that stands twice adds twice, in the order of the indices, as `np.add.at` does it: of several threads each owns what
it adds to.  Each function says whether it did the work; where it did not (other dtypes and layouts, an index out of range)
nothing has been written, and NumPy does it or says what is wrong.  The limit is memory: each row is read once and its target
read and written once.
"""

from libc.string cimport memcpy

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    NPY_ARRAY_WRITEABLE, PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_FLAGS,
    PyArray_ITEMSIZE, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp,
)
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain
from ..loops.span cimport DIMENSIONS
from ..loops.threads cimport GRAIN, Work, parallel

cnp.import_array()

cdef extern from "gradspec/kernels/indexing/rows_loops.h":
    bint gradspec_in_range(npy_intp*, npy_intp, npy_intp) noexcept nogil
    void gradspec_add_float(float*, float*, npy_intp) noexcept nogil
    void gradspec_add_double(double*, double*, npy_intp) noexcept nogil
    void gradspec_add_int64(cnp.npy_int64*, cnp.npy_int64*, npy_intp) noexcept nogil

cdef ndarray as_places(object indices, npy_intp length):
    """Contiguous indices of machine size, each in range; None where one is not."""
    cdef ndarray places
    if not isinstance(indices, np.ndarray):
        return None
    if PyArray_TYPE(indices) == cnp.NPY_INTP and is_plain(indices):
        places = indices
    elif indices.dtype.kind not in "iu" or indices.dtype == np.uint64:
        return None
    else:
        places = np.require(indices, np.intp, "CA")
    return places if gradspec_in_range(<npy_intp*> PyArray_BYTES(places), PyArray_SIZE(places), length) else None


cdef inline void add_row(number* y, number* x, npy_intp n) noexcept nogil:
    if number is float:
        gradspec_add_float(y, x, n)
    elif number is double:
        gradspec_add_double(y, x, n)
    else:
        gradspec_add_int64(y, x, n)


cdef void add_rows(number* y, number* x, Scatter* job, npy_intp start, npy_intp stop) noexcept nogil:
    """y[i, places[j]] += x[i, j], rows of `inner` numbers, `length` of them in `y` and `count` in `x`."""
    cdef npy_intp first = 0 if job.by_columns else start, last = job.outer if job.by_columns else stop, _i, j
    cdef npy_intp inner = job.inner, length = job.length
    cdef npy_intp begin = start if job.by_columns else 0, some = stop - start if job.by_columns else inner
    y, x = y + first * job.length * inner + begin, x + first * job.count * inner + begin
    for _i in range(first, last):
        if inner == 1:
            for j in range(job.count):
                y[at(length, job.places[j])] += x[j]
        else:
            for j in range(job.count):
                add_row(y + at(length, job.places[j]) * inner, x + j * inner, some)
        y, x = y + job.length * inner, x + job.count * inner


cdef int parts_of(ndarray y) noexcept:
    """How many numbers an element is made of that are added one by one; 0 of an element that the loops do not know."""
    cdef int type_num = PyArray_TYPE(y)
    if type_num == cnp.NPY_FLOAT32 or type_num == cnp.NPY_FLOAT64 or type_num == cnp.NPY_INT64:
        return 1
    return 2 if type_num == cnp.NPY_COMPLEX64 or type_num == cnp.NPY_COMPLEX128 else 0


cdef bint find_lengths(ndarray x, int axis, npy_intp* outer, npy_intp* inner) noexcept:
    """How many elements lie before and within a slice; False where there is no such axis."""
    cdef int i
    outer[0] = inner[0] = 1
    if not 0 <= axis < PyArray_NDIM(x):
        return False
    for i in range(axis):
        outer[0] *= PyArray_DIMS(x)[i]
    for i in range(axis + 1, PyArray_NDIM(x)):
        inner[0] *= PyArray_DIMS(x)[i]
    return True


cdef ndarray as_values(object values, ndarray y, tuple shape):
    """`values` broadcast to a shape, contiguous, in memory apart from `y`; None where it has not the dtype of `y`."""
    cdef ndarray values_
    if not PyArray_CheckExact(values) or PyArray_TYPE(values) != PyArray_TYPE(y):
        return None
    if (<object> values).shape != shape:
        try:
            values = np.broadcast_to(values, shape)
        except ValueError:
            return None
    values_ = values
    if not is_plain(values_) or np.may_share_memory(values_, y):
        values_ = np.array(values_, (<object> y).dtype, order="C")
    return values_


cdef bint is_target(object y) noexcept:
    return PyArray_CheckExact(y) and is_plain(y) and PyArray_FLAGS(y) & NPY_ARRAY_WRITEABLE and parts_of(y) > 0


def add_along(y, int axis, indices, values):
    """Add slice i of `values` to slice ``indices[i]`` of `y` along `axis`.

    Parameters
    ----------
    y : ndarray
        Changed.
    axis : int
    indices : ndarray of int
        Of any shape; `values` have its axes in place of `axis`.
    values : ndarray
        Broadcasts to that shape.

    Returns
    -------
    bool
        Whether it has been done.
    """
    cdef npy_intp outer, length, inner
    cdef int parts
    cdef ndarray y_, places, values_
    cdef Scatter job
    if not is_target(y):
        return False
    y_, parts = y, parts_of(y)
    if axis < 0:
        axis += PyArray_NDIM(y_)
    if not find_lengths(y_, axis, &outer, &inner):
        return False
    length = PyArray_DIMS(y_)[axis]
    places = as_places(indices, length)
    if places is None:
        return False
    shape = (<object> y).shape
    values_ = as_values(values, y_, shape[:axis] + indices.shape + shape[axis + 1:])
    if values_ is None:
        return False
    job.outer, job.length, job.count, job.inner = outer, length, PyArray_SIZE(places), inner * parts
    share(add_some_rows, &job, y_, values_, places, LINE // (PyArray_ITEMSIZE(y_) // parts))
    return True


cdef void add_some_rows(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Scatter* job = <Scatter*> context
    if job.type_num == cnp.NPY_FLOAT32 or job.type_num == cnp.NPY_COMPLEX64:
        add_rows(<float*> job.y, <float*> job.x, job, start, stop)
    elif job.type_num == cnp.NPY_INT64:
        add_rows(<cnp.npy_int64*> job.y, <cnp.npy_int64*> job.x, job, start, stop)
    else:
        add_rows(<double*> job.y, <double*> job.x, job, start, stop)


cdef void share(Work work, Scatter* job, ndarray y, ndarray values, ndarray places, npy_intp line):
    """Run it on several threads, of which each has other places before the axis, or behind it where there are few; `line`
    is how many elements of these are written to together."""
    cdef npy_intp size = PyArray_SIZE(values), shares = max(<npy_intp> 1, min(<npy_intp> 16, size // CHUNK)), units
    job.y, job.x, job.places = PyArray_BYTES(y), PyArray_BYTES(values), <npy_intp*> PyArray_BYTES(places)
    job.type_num, job.size = PyArray_TYPE(y), PyArray_ITEMSIZE(y)
    job.by_columns = line > 0 and job.outer < 4 and job.inner > job.outer
    units = job.inner if job.by_columns else job.outer
    with nogil:
        # By columns every share reads all indices: there are no more of them than call a worker.
        parallel(work, job, units, max(max(line, (units + 3) // 4) if job.by_columns else 1, units // shares))


cdef struct Gather:
    char* x
    char* y
    npy_intp* places
    npy_intp length     # of the axis
    npy_intp size       # of a row, in bytes


cdef void copy_rows(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Gather* job = <Gather*> context
    cdef npy_intp i, place
    if job.size == 4 or job.size == 8:
        copy_numbers(job, start, stop)
        return
    for i in range(start, stop):
        place = job.places[i] + job.length if job.places[i] < 0 else job.places[i]
        memcpy(job.y + i * job.size, job.x + place * job.size, job.size)


cdef void copy_numbers(Gather* job, npy_intp start, npy_intp stop) noexcept nogil:
    """The same of rows of one number."""
    cdef npy_intp i, place
    for i in range(start, stop):
        place = job.places[i] + job.length if job.places[i] < 0 else job.places[i]
        if job.size == 4:
            (<cnp.npy_uint32*> job.y)[i] = (<cnp.npy_uint32*> job.x)[place]
        else:
            (<cnp.npy_uint64*> job.y)[i] = (<cnp.npy_uint64*> job.x)[place]


cdef ndarray taken_rows(ndarray x, object indices):
    """``x[indices]`` of many rows; None where they are few, or NumPy has to do it."""
    cdef Gather job
    cdef npy_intp[DIMENSIONS] dims
    cdef ndarray places, y
    cdef npy_intp count, inner
    cdef int ndim, own = PyArray_NDIM(x) - 1
    if not PyArray_CheckExact(indices) or own < 0 or not is_plain(x) or PyArray_SIZE(x) == 0:
        return None
    ndim, count, inner = PyArray_NDIM(indices), PyArray_SIZE(indices), PyArray_SIZE(x) // PyArray_DIMS(x)[0]
    if count * inner < GRAIN or ndim + own > DIMENSIONS or (<object> x).dtype.kind not in "biufc":
        return None
    places = as_places(indices, PyArray_DIMS(x)[0])
    if places is None:
        return None
    memcpy(dims, PyArray_DIMS(indices), ndim * sizeof(npy_intp))
    memcpy(dims + ndim, PyArray_DIMS(x) + 1, own * sizeof(npy_intp))
    y = empty(ndim + own, dims, PyArray_TYPE(x))
    job.x, job.y, job.places = PyArray_BYTES(x), PyArray_BYTES(y), <npy_intp*> PyArray_BYTES(places)
    job.length, job.size = PyArray_DIMS(x)[0], inner * PyArray_ITEMSIZE(x)
    with nogil:
        parallel(copy_rows, &job, count, max(<npy_intp> 1, 4 * GRAIN // inner))
    return y


def take(x, indices, axis):
    """Elements at `indices` along `axis`, of the flat array where it is None, as ``np.take``."""
    y = taken_rows(x, indices) if type(axis) is int and axis == 0 and PyArray_CheckExact(x) else None
    return np.take(x, indices, axis) if y is None else y


def joined_places(indices, lengths):
    """One index in place of several, into the axes of these lengths made one.

    Parameters
    ----------
    indices : sequence of ndarray of int
        Of one shape.
    lengths : sequence of int

    Returns
    -------
    ndarray of int or None
        None where one of them is out of range.
    """
    cdef ndarray joined, places
    cdef npy_intp* sum
    cdef npy_intp* place
    cdef npy_intp i, length
    joined = np.zeros(indices[0].shape, np.intp)
    sum = <npy_intp*> PyArray_BYTES(joined)
    for part, length in zip(indices, lengths):
        places = as_places(part, length)
        if places is None:
            return None
        place = <npy_intp*> PyArray_BYTES(places)
        for i in range(PyArray_SIZE(joined)):
            sum[i] = sum[i] * length + (place[i] + length if place[i] < 0 else place[i])
    return joined

"""Rows added, and elements taken, at indices along one axis: the loops behind the kernels of `indexing`.

Owns loops over contiguous arrays of float32, float64, their complex kin and int64, with indices counted from either end.  An
index that stands twice adds twice, in the order of the indices, as `np.add.at` does it.  Each function says whether it did
the work; where it did not (other dtypes and layouts, an index out of range) nothing has been written, and NumPy does it or
says what is wrong.  The limit is memory: each row is read once and its target read and written once.
"""

from libc.string cimport memcpy

import numpy as np

from .. cimport capi as cnp
from ..capi cimport (
    NPY_ARRAY_WRITEABLE, PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_FLAGS, PyArray_ISNOTSWAPPED,
    PyArray_ITEMSIZE, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp,
)
from .memory cimport empty
from .plain cimport is_plain
from .span cimport DIMENSIONS
from .threads cimport GRAIN, parallel

cnp.import_array()

cdef extern from *:
    """
    /* y += x; the two do not overlap. */
    #define GRADSPEC_ADD(T) \\
        static inline void gradspec_add_##T(T *restrict y, const T *restrict x, npy_intp n) { \\
            for (npy_intp i = 0; i < n; i++) y[i] += x[i]; \\
        }
    typedef npy_int64 gradspec_int;
    GRADSPEC_ADD(float)
    GRADSPEC_ADD(double)
    GRADSPEC_ADD(gradspec_int)
    """
    void gradspec_add_float(float*, float*, npy_intp) noexcept nogil
    void gradspec_add_double(double*, double*, npy_intp) noexcept nogil
    void gradspec_add_gradspec_int(cnp.npy_int64*, cnp.npy_int64*, npy_intp) noexcept nogil

ctypedef fused number:
    float
    double
    cnp.npy_int64

ctypedef fused item:
    cnp.npy_uint8
    cnp.npy_uint32
    cnp.npy_uint64


cdef ndarray as_places(object indices, npy_intp length):
    """Contiguous indices of machine size, each in range; None where one is not."""
    cdef ndarray places
    cdef npy_intp* place
    cdef npy_intp i
    if not isinstance(indices, np.ndarray) or indices.dtype.kind not in "iu" or indices.dtype == np.uint64:
        return None
    places = np.ascontiguousarray(indices, np.intp)
    place = <npy_intp*> PyArray_BYTES(places)
    for i in range(PyArray_SIZE(places)):
        if place[i] >= length or place[i] < -length:
            return None
    return places


cdef inline void add_row(number* y, number* x, npy_intp n) noexcept nogil:
    if number is float:
        gradspec_add_float(y, x, n)
    elif number is double:
        gradspec_add_double(y, x, n)
    else:
        gradspec_add_gradspec_int(y, x, n)


cdef void add_rows(
    number* y, number* x, npy_intp* places, npy_intp outer, npy_intp length, npy_intp count, npy_intp inner
) noexcept nogil:
    """y[i, places[j]] += x[i, j], rows of `inner` numbers, `length` of them in `y` and `count` in `x`."""
    cdef npy_intp _i, j, place
    for _i in range(outer):
        for j in range(count):
            place = places[j] + length if places[j] < 0 else places[j]
            if inner == 1:
                y[place] = y[place] + x[j]
            else:
                add_row(y + place * inner, x + j * inner, inner)
        y, x = y + length * inner, x + count * inner


cdef void add_elements(
    number* y, number* x, npy_intp* places, npy_intp outer, npy_intp length, npy_intp count, npy_intp inner, npy_intp parts
) noexcept nogil:
    """y[i, places[i, j, k], k] += x[i, j, k], elements of so many parts."""
    cdef npy_intp _i, _j, k, place
    for _i in range(outer):
        for _j in range(count):
            for k in range(inner):
                place = ((places[k] + length if places[k] < 0 else places[k]) * inner + k) * parts
                y[place] = y[place] + x[k * parts]
                if parts == 2:
                    y[place + 1] = y[place + 1] + x[2 * k + 1]
            x, places = x + inner * parts, places + inner
        y = y + length * inner * parts


cdef void take_elements(
    item* y, item* x, npy_intp* places, npy_intp outer, npy_intp length, npy_intp count, npy_intp inner
) noexcept nogil:
    """y[i, j, k] = x[i, places[i, j, k], k]"""
    cdef npy_intp _i, _j, k
    for _i in range(outer):
        for _j in range(count):
            for k in range(inner):
                y[k] = x[(places[k] + length if places[k] < 0 else places[k]) * inner + k]
            y, places = y + inner, places + inner
        x = x + length * inner


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
    cdef npy_intp outer, length, count, inner
    cdef int parts
    cdef ndarray y_, places, values_
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
    count, inner = PyArray_SIZE(places), inner * parts
    add_rows_of_any(y_, values_, places, outer, length, count, inner)
    return True


cdef void add_rows_of_any(
    ndarray y, ndarray values, ndarray places, npy_intp outer, npy_intp length, npy_intp count, npy_intp inner
):
    cdef char* to = PyArray_BYTES(y)
    cdef char* x = PyArray_BYTES(values)
    cdef npy_intp* at = <npy_intp*> PyArray_BYTES(places)
    cdef int type_num = PyArray_TYPE(y)
    with nogil:
        if type_num == cnp.NPY_FLOAT32 or type_num == cnp.NPY_COMPLEX64:
            add_rows(<float*> to, <float*> x, at, outer, length, count, inner)
        elif type_num == cnp.NPY_INT64:
            add_rows(<cnp.npy_int64*> to, <cnp.npy_int64*> x, at, outer, length, count, inner)
        else:
            add_rows(<double*> to, <double*> x, at, outer, length, count, inner)


def add_across(y, int axis, indices, values):
    """Add ``values[..., i, ...]`` to ``y[..., indices[..., i, ...], ...]``, the index standing on `axis`.

    Parameters
    ----------
    y : ndarray
        Changed.
    axis : int
    indices : ndarray of int
        As long as `y` along every other axis.
    values : ndarray
        Broadcasts to the shape of `indices`.

    Returns
    -------
    bool
        Whether it has been done.
    """
    cdef npy_intp outer, length, count, inner
    cdef int parts, type_num
    cdef ndarray y_, places, values_
    cdef char* to
    cdef char* x
    cdef npy_intp* at
    if not is_target(y):
        return False
    y_, parts, type_num = y, parts_of(y), PyArray_TYPE(y)
    if axis < 0:
        axis += PyArray_NDIM(y_)
    if not find_lengths(y_, axis, &outer, &inner) or not fits(y_, indices, axis):
        return False
    length = PyArray_DIMS(y_)[axis]
    places = as_places(indices, length)
    if places is None:
        return False
    values_ = as_values(values, y_, indices.shape)
    if values_ is None:
        return False
    count = PyArray_DIMS(places)[axis]
    to, x, at = PyArray_BYTES(y_), PyArray_BYTES(values_), <npy_intp*> PyArray_BYTES(places)
    with nogil:
        if type_num == cnp.NPY_FLOAT32 or type_num == cnp.NPY_COMPLEX64:
            add_elements(<float*> to, <float*> x, at, outer, length, count, inner, parts)
        elif type_num == cnp.NPY_INT64:
            add_elements(<cnp.npy_int64*> to, <cnp.npy_int64*> x, at, outer, length, count, inner, parts)
        else:
            add_elements(<double*> to, <double*> x, at, outer, length, count, inner, parts)
    return True


def take_across(x, int axis, indices):
    """``x[..., indices[..., i, ...], ...]``, the index standing on `axis`.

    Parameters
    ----------
    x : ndarray
    axis : int
    indices : ndarray of int
        As long as `x` along every other axis.

    Returns
    -------
    ndarray or None
        None where it has not been done.
    """
    cdef npy_intp outer, length, count, inner, size
    cdef ndarray x_, y, places
    cdef char* to
    cdef char* source
    cdef npy_intp* at
    if not PyArray_CheckExact(x) or not PyArray_ISNOTSWAPPED(x) or (<object> x).dtype.kind not in "biufc":
        return None
    x_, size = x, PyArray_ITEMSIZE(x)
    if axis < 0:
        axis += PyArray_NDIM(x_)
    if size not in (1, 4, 8) or not is_plain(x_) or not find_lengths(x_, axis, &outer, &inner) or not fits(x_, indices, axis):
        return None
    length = PyArray_DIMS(x_)[axis]
    places = as_places(indices, length)
    if places is None:
        return None
    y = empty(PyArray_NDIM(places), PyArray_DIMS(places), PyArray_TYPE(x_))
    count = PyArray_DIMS(places)[axis]
    to, source, at = PyArray_BYTES(y), PyArray_BYTES(x_), <npy_intp*> PyArray_BYTES(places)
    with nogil:
        if size == 4:
            take_elements(<cnp.npy_uint32*> to, <cnp.npy_uint32*> source, at, outer, length, count, inner)
        elif size == 8:
            take_elements(<cnp.npy_uint64*> to, <cnp.npy_uint64*> source, at, outer, length, count, inner)
        else:
            take_elements(<cnp.npy_uint8*> to, <cnp.npy_uint8*> source, at, outer, length, count, inner)
    return y


cdef struct Gather:
    char* x
    char* y
    npy_intp* places
    npy_intp length     # of the axis
    npy_intp size       # of a row, in bytes


cdef void copy_rows(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Gather* job = <Gather*> context
    cdef npy_intp i, place
    for i in range(start, stop):
        place = job.places[i] + job.length if job.places[i] < 0 else job.places[i]
        memcpy(job.y + i * job.size, job.x + place * job.size, job.size)


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


cdef bint fits(ndarray x, object indices, int axis):
    """Whether the indices are as long as `x` along every axis but one."""
    cdef int i
    if not PyArray_CheckExact(indices) or PyArray_NDIM(indices) != PyArray_NDIM(x):
        return False
    for i in range(PyArray_NDIM(x)):
        if i != axis and PyArray_DIMS(indices)[i] != PyArray_DIMS(x)[i]:
            return False
    return True


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

# cython: boundscheck=False, wraparound=False
"""Elements added, taken and put at indices that stand along one axis, in place i of every other one.

Owns loops over contiguous arrays, of numbers that are added as in `rows_loops`, of any that are only moved.  An index that stands
twice adds twice, or writes last, in the order of the indices: of several threads each owns what it writes to.  Each function
says whether it did the work; where it did not, nothing has been written, and NumPy does it or says what is wrong.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    NPY_ARRAY_WRITEABLE, PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_FLAGS, PyArray_ISNOTSWAPPED,
    PyArray_ITEMSIZE, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp,
)
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain
from .rows_loops cimport (
    CHUNK, LINE, Scatter, as_places, as_values, at, find_lengths, is_target, number, parts_of, share,
)
from ..loops.threads cimport parallel

cnp.import_array()

ctypedef fused item:
    cnp.npy_uint8
    cnp.npy_uint32
    cnp.npy_uint64


cdef void add_elements(number* y, number* x, Scatter* job, npy_intp start, npy_intp stop) noexcept nogil:
    """y[i, places[i, j, k], k] += x[i, j, k], elements of so many parts."""
    cdef npy_intp first = 0 if job.by_columns else start, last = job.outer if job.by_columns else stop, _i, _j, j, k, place
    cdef npy_intp inner = job.inner, length = job.length
    cdef npy_intp begin = start if job.by_columns else 0, end = stop if job.by_columns else inner
    cdef npy_intp* places = job.places + first * job.count * inner
    y, x = y + first * job.length * inner * job.parts, x + first * job.count * inner * job.parts
    for _i in range(first, last):
        if inner == 1 and job.parts == 1:
            for j in range(job.count):
                y[at(length, places[j])] += x[j]
            x, places = x + job.count, places + job.count
        else:
            for _j in range(job.count):
                for k in range(begin, end):
                    place = (at(length, places[k]) * inner + k) * job.parts
                    y[place] += x[k * job.parts]
                    if job.parts == 2:
                        y[place + 1] += x[2 * k + 1]
                x, places = x + inner * job.parts, places + inner
        y = y + job.length * inner * job.parts


cdef void take_elements(item* y, item* x, Scatter* job, npy_intp start, npy_intp stop) noexcept nogil:
    """y[i, j, k] = x[i, places[i, j, k], k], of rows (i, j)."""
    cdef npy_intp inner = job.inner, length = job.length, row = start, end, k
    cdef npy_intp* places = job.places + start * inner
    y, x = y + start * inner, x + start // job.count * job.length * inner
    while row < stop:
        end = min(stop, (row // job.count + 1) * job.count)
        if inner == 1:
            for k in range(end - row):
                y[k] = x[at(length, places[k])]
            y, places = y + (end - row), places + (end - row)
        else:
            for _ in range(row, end):
                for k in range(inner):
                    y[k] = x[at(length, places[k]) * inner + k]
                y, places = y + inner, places + inner
        row, x = end, x + job.length * inner


cdef void put_elements(item* y, item* x, Scatter* job, npy_intp start, npy_intp stop) noexcept nogil:
    """y[i, places[i, j, k], k] = x[i, j, k]; of equal places the last one stays."""
    cdef npy_intp inner = job.inner, length = job.length, _i, _j, k
    cdef npy_intp* places = job.places + start * job.count * inner
    x, y = x + start * job.count * inner, y + start * job.length * inner
    for _i in range(start, stop):
        for _j in range(job.count):
            for k in range(inner):
                y[at(length, places[k]) * inner + k] = x[k]
            x, places = x + inner, places + inner
        y = y + job.length * inner


cdef void mark_last(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Into y whether no later one has the same place; x are marks of places, zeros at first."""
    cdef Scatter* job = <Scatter*> context
    cdef npy_intp inner = job.inner, length = job.length, i, j, k, place
    cdef npy_intp* places
    cdef char* seen
    cdef char* y
    for i in range(start, stop):
        places, y, seen = job.places + i * job.count * inner, job.y + i * job.count * inner, job.x + i * job.length * inner
        for j in range(job.count - 1, -1, -1):
            for k in range(inner):
                place = at(length, places[j * inner + k]) * inner + k
                y[j * inner + k] = not seen[place]
                seen[place] = True


cdef void add_some_elements(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Scatter* job = <Scatter*> context
    if job.type_num == cnp.NPY_FLOAT32 or job.type_num == cnp.NPY_COMPLEX64:
        add_elements(<float*> job.y, <float*> job.x, job, start, stop)
    elif job.type_num == cnp.NPY_INT64:
        add_elements(<cnp.npy_int64*> job.y, <cnp.npy_int64*> job.x, job, start, stop)
    else:
        add_elements(<double*> job.y, <double*> job.x, job, start, stop)


cdef void take_some_elements(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Scatter* job = <Scatter*> context
    if job.size == 4:
        take_elements(<cnp.npy_uint32*> job.y, <cnp.npy_uint32*> job.x, job, start, stop)
    elif job.size == 8:
        take_elements(<cnp.npy_uint64*> job.y, <cnp.npy_uint64*> job.x, job, start, stop)
    else:
        take_elements(<cnp.npy_uint8*> job.y, <cnp.npy_uint8*> job.x, job, start, stop)


cdef void put_some_elements(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Scatter* job = <Scatter*> context
    if job.size == 4:
        put_elements(<cnp.npy_uint32*> job.y, <cnp.npy_uint32*> job.x, job, start, stop)
    elif job.size == 8:
        put_elements(<cnp.npy_uint64*> job.y, <cnp.npy_uint64*> job.x, job, start, stop)
    else:
        put_elements(<cnp.npy_uint8*> job.y, <cnp.npy_uint8*> job.x, job, start, stop)


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
    cdef Scatter job
    cdef ndarray y_, places, values_
    if not is_target(y):
        return False
    y_ = y
    places = find_across(y_, axis, indices, &job)
    values_ = None if places is None else as_values(values, y_, indices.shape)
    if values_ is None:
        return False
    job.parts = parts_of(y_)
    share(add_some_elements, &job, y_, values_, places, LINE // PyArray_ITEMSIZE(y_))
    return True


cdef ndarray find_across(ndarray x, int axis, object indices, Scatter* job):
    """The indices, as long as `x` along every other axis; None where they are not, or one of them is out of range."""
    cdef ndarray places
    if axis < 0:
        axis += PyArray_NDIM(x)
    if not find_lengths(x, axis, &job.outer, &job.inner) or not fits(x, indices, axis):
        return None
    job.length = PyArray_DIMS(x)[axis]
    places = as_places(indices, job.length)
    if places is not None:
        job.count = PyArray_DIMS(places)[axis]
    return places


def put_across(y, int axis, indices, values):
    """Write ``values[..., i, ...]`` to ``y[..., indices[..., i, ...], ...]``; of equal indices the last one stays.

    Parameters
    ----------
    y : ndarray
        Changed.
    axis, indices, values
        As in add_across.

    Returns
    -------
    bool
        Whether it has been done.
    """
    cdef Scatter job
    cdef ndarray places, values_
    if not PyArray_CheckExact(y) or not is_plain(y) or not PyArray_FLAGS(y) & NPY_ARRAY_WRITEABLE or not is_item(y):
        return False
    places = find_across(y, axis, indices, &job)
    values_ = None if places is None else as_values(values, y, indices.shape)
    if values_ is None:
        return False
    share(put_some_elements, &job, y, values_, places, 0)
    return True


def last_across(shape, int axis, indices):
    """Whether put_across leaves what it writes with these indices: no later one is the same.

    Parameters
    ----------
    shape : tuple of int
        Of the array that is written to.
    axis, indices
        As in add_across.

    Returns
    -------
    ndarray of bool or None
        None where it has not been done.
    """
    cdef Scatter job
    cdef ndarray seen = np.zeros(shape, bool), places = find_across(seen, axis, indices, &job), y
    if places is None:
        return None
    y = np.empty(indices.shape, bool)
    share(mark_last, &job, y, seen, places, 0)
    return y


cdef bint is_item(ndarray x) noexcept:
    """Whether it holds numbers of a size that the loops move."""
    return PyArray_ITEMSIZE(x) in (1, 4, 8) and PyArray_ISNOTSWAPPED(x) and (<object> x).dtype.kind in "biufc"


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
    cdef Scatter job
    cdef ndarray x_, y, places
    cdef npy_intp rows
    if not PyArray_CheckExact(x) or not is_plain(x) or not is_item(x):
        return None
    x_ = x
    places = find_across(x_, axis, indices, &job)
    if places is None:
        return None
    y = empty(PyArray_NDIM(places), PyArray_DIMS(places), PyArray_TYPE(x_))
    job.x, job.y, job.places = PyArray_BYTES(x_), PyArray_BYTES(y), <npy_intp*> PyArray_BYTES(places)
    job.size = PyArray_ITEMSIZE(x_)
    rows = job.outer * job.count
    if PyArray_SIZE(y) == 0:
        return y
    with nogil:
        parallel(take_some_elements, &job, rows, max(<npy_intp> 1, CHUNK // max(job.inner, <npy_intp> 1)))
    return y


cdef bint fits(ndarray x, object indices, int axis):
    """Whether the indices are as long as `x` along every axis but one."""
    cdef int i
    if not PyArray_CheckExact(indices) or PyArray_NDIM(indices) != PyArray_NDIM(x):
        return False
    for i in range(PyArray_NDIM(x)):
        if i != axis and PyArray_DIMS(indices)[i] != PyArray_DIMS(x)[i]:
            return False
    return True

# cython: boundscheck=False, wraparound=False
"""Add and write elements and slices at indices along one axis.

Loops over contiguous arrays; additions are for float32, float64, complex64, complex128 and int64, writes for any numbers.
A repeated index adds repeatedly, or writes last, in the order of the indices: each thread writes to its own part of the target.
Each function returns whether it did the work; if not, nothing has been written, and NumPy does it or raises the error.  The loops
are bound by memory.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    NPY_ARRAY_WRITEABLE, PyArray_BYTES, PyArray_CheckExact, PyArray_FLAGS, PyArray_ITEMSIZE, PyArray_NDIM, PyArray_SIZE,
    PyArray_TYPE, ndarray, npy_intp,
)
from ..loops.copying cimport copy_into, empty_of
from ..loops.plain cimport is_plain
from ..loops.threads cimport Work, parallel
from .gathering_loops cimport CHUNK, Places, as_places, at, find_places, is_item

cnp.import_array()

cdef extern from "gradspec/kernels/indexing/scattering_loops.h":
    void gradspec_add_float(float*, float*, npy_intp) noexcept nogil
    void gradspec_add_double(double*, double*, npy_intp) noexcept nogil
    void gradspec_add_int64(cnp.npy_int64*, cnp.npy_int64*, npy_intp) noexcept nogil

cdef enum:
    LINE = 64           # bytes that one thread should write
    FEW = 4             # lines of a slice that takes longer than to find it
    MANY = 32           # lines behind the axis that several threads may divide

ctypedef fused number:
    float
    double
    cnp.npy_int64

ctypedef fused item:
    cnp.npy_uint8
    cnp.npy_uint32
    cnp.npy_uint64

cdef struct Scatter:
    Places places
    char* x             # values
    char* y
    npy_intp size       # bytes of an element
    int type_num
    int parts           # real numbers in an element
    npy_intp line       # elements of a line of the cache
    bint by_columns     # threads divide the lines behind the axis,
    bint by_places      # or the target's slices along it, otherwise the elements before it


cdef inline void add_row(number* y, number* x, npy_intp n) noexcept nogil:
    if number is float:
        gradspec_add_float(y, x, n)
    elif number is double:
        gradspec_add_double(y, x, n)
    else:
        gradspec_add_int64(y, x, n)


cdef void add_numbers(number* y, number* x, Scatter* job, npy_intp start, npy_intp stop) noexcept nogil:
    """y[i, indices[i, j, k] or indices[j], k] += x[i, j, k], for elements of several real parts."""
    cdef npy_intp first = 0 if job.by_columns else start, last = job.places.outer if job.by_columns else stop, _i, j, k, place
    cdef npy_intp begin = start * job.line if job.by_columns else 0, end = stop * job.line if job.by_columns else job.places.inner
    cdef npy_intp inner = job.places.inner, length = job.places.length, count = job.places.count, parts = job.parts
    cdef npy_intp* indices = job.places.indices + (first * count * inner if job.places.each else 0)
    y, x = y + first * length * inner * parts, x + first * count * inner * parts
    for _i in range(first, last):
        if inner == 1 and parts == 1:
            for j in range(count):
                y[at(length, indices[j])] += x[j]
        elif not job.places.each:
            for j in range(count):
                place = (at(length, indices[j]) * inner + begin) * parts
                add_row(y + place, x + (j * inner + begin) * parts, (end - begin) * parts)
        else:
            for j in range(count):
                for k in range(begin, end):
                    place = (at(length, indices[j * inner + k]) * inner + k) * parts
                    y[place] += x[(j * inner + k) * parts]
                    if parts == 2:
                        y[place + 1] += x[(j * inner + k) * parts + 1]
        y, x = y + length * inner * parts, x + count * inner * parts
        if job.places.each:
            indices = indices + count * inner


cdef void add_slices(number* y, number* x, Scatter* job, npy_intp start, npy_intp stop) noexcept nogil:
    """y[i, indices[j], k] += x[i, j, k], for the slices of `y` from `start` to `stop`."""
    cdef npy_intp _i, j, place, size = job.places.inner * job.parts, length = job.places.length, count = job.places.count
    for _i in range(job.places.outer):
        for j in range(count):
            place = at(length, job.places.indices[j])
            if start <= place < stop:
                add_row(y + place * size, x + j * size, size)
        y, x = y + length * size, x + count * size


cdef void add_part(number* y, number* x, Scatter* job, npy_intp start, npy_intp stop) noexcept nogil:
    if job.by_places:
        add_slices(y, x, job, start, stop)
    else:
        add_numbers(y, x, job, start, stop)


cdef void put_items(item* y, item* x, Scatter* job, npy_intp start, npy_intp stop) noexcept nogil:
    """y[i, indices[i, j, k], k] = x[i, j, k]; of equal positions the last one remains."""
    cdef npy_intp inner = job.places.inner, length = job.places.length, _i, _j, k
    cdef npy_intp* indices = job.places.indices + start * job.places.count * inner
    x, y = x + start * job.places.count * inner, y + start * length * inner
    for _i in range(start, stop):
        for _j in range(job.places.count):
            for k in range(inner):
                y[at(length, indices[k]) * inner + k] = x[k]
            x, indices = x + inner, indices + inner
        y = y + length * inner


cdef void mark_last(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Write to x whether no later index has the same position; y marks positions, initially zeros."""
    cdef Scatter* job = <Scatter*> context
    cdef npy_intp inner = job.places.inner, length = job.places.length, count = job.places.count, i, j, k, place
    cdef npy_intp* indices
    cdef char* seen
    cdef char* x
    for i in range(start, stop):
        indices, x, seen = job.places.indices + i * count * inner, job.x + i * count * inner, job.y + i * length * inner
        for j in range(count - 1, -1, -1):
            for k in range(inner):
                place = at(length, indices[j * inner + k]) * inner + k
                x[j * inner + k] = not seen[place]
                seen[place] = True


cdef void add_some(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Scatter* job = <Scatter*> context
    if job.type_num == cnp.NPY_FLOAT32 or job.type_num == cnp.NPY_COMPLEX64:
        add_part(<float*> job.y, <float*> job.x, job, start, stop)
    elif job.type_num == cnp.NPY_INT64:
        add_part(<cnp.npy_int64*> job.y, <cnp.npy_int64*> job.x, job, start, stop)
    else:
        add_part(<double*> job.y, <double*> job.x, job, start, stop)


cdef void put_some(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Scatter* job = <Scatter*> context
    if job.size == 4:
        put_items(<cnp.npy_uint32*> job.y, <cnp.npy_uint32*> job.x, job, start, stop)
    elif job.size == 8:
        put_items(<cnp.npy_uint64*> job.y, <cnp.npy_uint64*> job.x, job, start, stop)
    else:
        put_items(<cnp.npy_uint8*> job.y, <cnp.npy_uint8*> job.x, job, start, stop)


cdef void share(Work work, Scatter* job, ndarray y, ndarray values, npy_intp line):
    """Run on several threads, each with its own positions before the axis, or along it or behind it if there are few before.

    `line` is the number of elements of a line of the cache, 0 if those behind the axis are not to be divided.
    """
    cdef npy_intp size = PyArray_SIZE(values), shares = max(<npy_intp> 1, min(<npy_intp> 16, size // CHUNK))
    cdef npy_intp inner = job.places.inner, units = job.places.outer, chunk = 1
    cdef bint divided = line > 0 and units < 4 and inner > units
    job.y, job.x = PyArray_BYTES(y), PyArray_BYTES(values)
    job.type_num, job.size, job.parts, job.line = PyArray_TYPE(y), PyArray_ITEMSIZE(y), parts_of(y), line
    # Slices in one piece: half of a slice takes as long as a whole one.  Two threads that write to one line wait for each other.
    job.by_places = divided and not job.places.each and inner >= FEW * line
    job.by_columns = divided and job.places.each and inner >= MANY * line and inner % line == 0
    if job.by_places:
        units, chunk = job.places.length, max(<npy_intp> 1, job.places.length // 4)
    elif job.by_columns:
        units, chunk = inner // line, max(<npy_intp> 1, inner // line // 4)
    with nogil:
        # Every share reads all indices if they have the same, so their number is limited.
        parallel(work, job, units, max(chunk, units // shares))


cdef int parts_of(ndarray y) noexcept:
    """The number of real parts of an element, which are added separately; 0 if the loops do not support it."""
    cdef int type_num = PyArray_TYPE(y)
    if type_num == cnp.NPY_FLOAT32 or type_num == cnp.NPY_FLOAT64 or type_num == cnp.NPY_INT64:
        return 1
    return 2 if type_num == cnp.NPY_COMPLEX64 or type_num == cnp.NPY_COMPLEX128 else 0


cdef ndarray as_values(object values, ndarray y, tuple shape):
    """`values` broadcast to a shape, contiguous, in memory separate from `y`; None if they do not have the dtype of `y`."""
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
        values_ = copy_into(empty_of(shape, y), values_)
    return values_


cdef bint is_target(object y) noexcept:
    return PyArray_CheckExact(y) and is_plain(y) and PyArray_FLAGS(y) & NPY_ARRAY_WRITEABLE


def add_along(y, int axis, indices, values):
    """Add slice i of `values` to slice ``indices[i]`` of `y` along `axis`.

    Parameters
    ----------
    y : ndarray
        Changed.
    axis : int
    indices : ndarray of int
        Of any shape; `values` has these axes in place of `axis`.
    values : ndarray
        Broadcasts to that shape.

    Returns
    -------
    bool
        Whether the loops did it.
    """
    cdef Scatter job
    cdef ndarray places, values_
    if not is_target(y) or not parts_of(y):
        return False
    places = find_places(y, axis, indices, False, &job.places)
    if places is None:
        return False
    shape, axis = y.shape, axis + PyArray_NDIM(y) if axis < 0 else axis
    values_ = as_values(values, y, shape[:axis] + indices.shape + shape[axis + 1:])
    if values_ is None:
        return False
    share(add_some, &job, y, values_, LINE // PyArray_ITEMSIZE(y))
    return True


def add_across(y, int axis, indices, values):
    """Add ``values[..., i, ...]`` to ``y[..., indices[..., i, ...], ...]``, with the index at `axis`.

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
        Whether the loops did it.
    """
    return bool(is_target(y) and parts_of(y)) and across(add_some, y, axis, indices, values, LINE // PyArray_ITEMSIZE(y))


def put_across(y, int axis, indices, values):
    """Write ``values[..., i, ...]`` to ``y[..., indices[..., i, ...], ...]``; of equal indices the last one remains.

    Parameters
    ----------
    y : ndarray
        Changed.
    axis, indices, values
        As in add_across.

    Returns
    -------
    bool
        Whether the loops did it.
    """
    return bool(is_target(y) and is_item(y)) and across(put_some, y, axis, indices, values, 0)


cdef bint across(Work work, ndarray y, int axis, object indices, object values, npy_intp line):
    """Run the loops with an index for each value; whether they did it."""
    cdef Scatter job
    cdef ndarray values_, places = find_places(y, axis, indices, True, &job.places)
    values_ = None if places is None else as_values(values, y, indices.shape)
    if values_ is None:
        return False
    share(work, &job, y, values_, line)
    return True


def last_across(shape, int axis, indices):
    """Whether an element that put_across writes with these indices remains: no later index is equal.

    Parameters
    ----------
    shape : tuple of int
        Of the target array.
    axis, indices
        As in add_across.

    Returns
    -------
    ndarray of bool or None
        None if the loops do not support the operands.
    """
    cdef Scatter job
    cdef ndarray seen = np.zeros(shape, bool), places = find_places(seen, axis, indices, True, &job.places), last
    if places is None:
        return None
    last = np.empty(indices.shape, bool)
    share(mark_last, &job, seen, last, 0)
    return last


def joined_places(indices, lengths):
    """Combine several indices into one index, for the axes of the given lengths merged into one.

    Parameters
    ----------
    indices : sequence of ndarray of int
        Of one shape.
    lengths : sequence of int

    Returns
    -------
    ndarray of int or None
        None if one of them is out of range.
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
            sum[i] = sum[i] * length + at(length, place[i])
    return joined

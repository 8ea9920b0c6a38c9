"""Distances of rows and weighted sums of their differences, with each difference computed where it is used.

Loops over contiguous rows of float32 and float64, on several threads.  Both sum in double over tiles of four rows and panels of
eight columns, which are packed first: a tile's sums stay in registers, and a panel in the cache.  The module `distances`
recomputes results that are out of range.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_DIMS, PyArray_ITEMSIZE, PyArray_STRIDES, PyArray_TYPE, ndarray, npy_intp,
)
from ..loops.threads cimport parallel
from ..loops.wide cimport real

cnp.import_array()

cdef enum:
    CHUNK = 1 << 18     # differences that make a task for a thread worthwhile
    DEEP = 256          # components of a panel that stay in the cache
    TILES = 8           # tiles that a panel in the cache is used for
    PANELS = 16         # panels whose sums with these tiles stay in the cache

cdef struct Job:
    char* weight        # NULL for distances
    char* a
    char* b
    char* y
    double* tiles       # rows of `a`, or of the weights
    double* panels      # rows of `b`, or its columns
    npy_intp rows, others, length
    npy_intp step, pitch    # from a number of a tile's row to the next number, and to the next row
    npy_intp columns    # of the result
    npy_intp count      # of numbers in a row or column of a tile or panel
    int vectors
    bint single, failed


cdef extern from "gradspec/kernels/row_wise/distances_loops.h" nogil:
    enum:
        GRADSPEC_ROWS, GRADSPEC_COLUMNS, GRADSPEC_TILE
    int gradspec_vectors()
    void gradspec_add_squares(double*, double*, double*, npy_intp, int)
    void gradspec_add_weighted(double*, double*, double*, double*, npy_intp, int)
    void gradspec_pack_panel_float(float*, npy_intp, npy_intp, npy_intp, npy_intp, double*)
    void gradspec_pack_panel_double(double*, npy_intp, npy_intp, npy_intp, npy_intp, double*)
    void gradspec_pack_tile_float(float*, npy_intp, npy_intp, npy_intp, npy_intp, double*)
    void gradspec_pack_tile_double(double*, npy_intp, npy_intp, npy_intp, npy_intp, double*)
    void gradspec_unpack_float(double*, float*, npy_intp, npy_intp, npy_intp)
    void gradspec_unpack_double(double*, double*, npy_intp, npy_intp, npy_intp)
    bint gradspec_roots_float(double*)
    bint gradspec_roots_double(double*)


cdef inline void pack_panel(real* x, npy_intp step, npy_intp pitch, npy_intp n, npy_intp known, double* y) noexcept nogil:
    if real is float:
        gradspec_pack_panel_float(x, step, pitch, n, known, y)
    else:
        gradspec_pack_panel_double(x, step, pitch, n, known, y)


cdef inline void pack_tile(real* x, npy_intp step, npy_intp pitch, npy_intp n, npy_intp known, double* y) noexcept nogil:
    if real is float:
        gradspec_pack_tile_float(x, step, pitch, n, known, y)
    else:
        gradspec_pack_tile_double(x, step, pitch, n, known, y)


cdef void pack(Job* job, real* tiles, real* b, npy_intp start, npy_intp stop) noexcept nogil:
    """Pack some panels, and tiles after the last panel."""
    cdef npy_intp i, first, panels = in_parts(job.columns, GRADSPEC_COLUMNS)
    cdef double* y
    for i in range(start, min(stop, panels)):
        first, y = i * GRADSPEC_COLUMNS, job.panels + i * GRADSPEC_COLUMNS * job.count
        if job.weight == NULL:
            pack_panel(b + first * job.length, 1, job.length, job.count, job.columns - first, y)
        else:
            pack_panel(b + first, job.length, 1, job.count, job.columns - first, y)
    for i in range(max(start - panels, 0), stop - panels):
        first, y = i * GRADSPEC_ROWS, job.tiles + i * GRADSPEC_ROWS * job.count
        pack_tile(tiles + first * job.pitch, job.step, job.pitch, job.count, job.rows - first, y)


cdef void measure(Job* job, real* y, npy_intp start, npy_intp stop) noexcept nogil:
    """The distances of the rows in some tiles, at most TILES, to all others."""
    cdef double sums[TILES * PANELS * GRADSPEC_TILE]
    cdef double* sum
    cdef real* place
    cdef npy_intp left = 0, right, first, deep, panel, tile, rows, columns, panels = in_parts(job.columns, GRADSPEC_COLUMNS)
    cdef bint known = True
    while left < panels:
        right = min(left + <npy_intp> PANELS, panels)
        for first in range(TILES * PANELS * GRADSPEC_TILE):
            sums[first] = 0
        first = 0
        while first < job.count:
            deep = min(<npy_intp> DEEP, job.count - first)
            for panel in range(left, right):
                for tile in range(start, stop):
                    sum = sums + ((tile - start) * PANELS + panel - left) * GRADSPEC_TILE
                    gradspec_add_squares(job.tiles + (tile * job.count + first) * GRADSPEC_ROWS,
                                         job.panels + (panel * job.count + first) * GRADSPEC_COLUMNS, sum, deep, job.vectors)
            first += deep
        for panel in range(left, right):
            for tile in range(start, stop):
                sum = sums + ((tile - start) * PANELS + panel - left) * GRADSPEC_TILE
                place = y + tile * GRADSPEC_ROWS * job.columns + panel * GRADSPEC_COLUMNS
                rows, columns = job.rows - tile * GRADSPEC_ROWS, job.columns - panel * GRADSPEC_COLUMNS
                if real is float:
                    known &= gradspec_roots_float(sum)
                    gradspec_unpack_float(sum, place, job.columns, rows, columns)
                else:
                    known &= gradspec_roots_double(sum)
                    gradspec_unpack_double(sum, place, job.columns, rows, columns)
        left = right
    if not known:  # other threads write this too, but always the same value
        job.failed = True


cdef void weigh(Job* job, real* a, real* y, npy_intp start, npy_intp stop) noexcept nogil:
    """The weighted sums of the rows in some tiles."""
    cdef double sums[GRADSPEC_TILE]
    cdef double own[GRADSPEC_TILE]
    cdef npy_intp panel, tile, place, r, rows, columns
    for panel in range(in_parts(job.columns, GRADSPEC_COLUMNS)):
        for tile in range(start, stop):
            place = tile * GRADSPEC_ROWS * job.columns + panel * GRADSPEC_COLUMNS
            rows, columns = job.rows - tile * GRADSPEC_ROWS, job.columns - panel * GRADSPEC_COLUMNS
            for r in range(min(rows, <npy_intp> GRADSPEC_ROWS)):
                pack_panel(a + place + r * job.columns, 0, 1, 1, columns, own + r * GRADSPEC_COLUMNS)
            gradspec_add_weighted(job.tiles + tile * GRADSPEC_ROWS * job.count, own,
                                  job.panels + panel * GRADSPEC_COLUMNS * job.count, sums, job.count, job.vectors)
            if real is float:
                gradspec_unpack_float(sums, y + place, job.columns, rows, columns)
            else:
                gradspec_unpack_double(sums, y + place, job.columns, rows, columns)


cdef void pack_some(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Job* job = <Job*> context
    cdef char* tiles = job.a if job.weight == NULL else job.weight
    if job.single:
        pack(job, <float*> tiles, <float*> job.b, start, stop)
    else:
        pack(job, <double*> tiles, <double*> job.b, start, stop)


cdef void run_some(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Job* job = <Job*> context
    cdef npy_intp first = start, last
    while first < stop:
        last = min(first + <npy_intp> TILES, stop)
        if job.weight == NULL and job.single:
            measure(job, <float*> job.y, first, last)
        elif job.weight == NULL:
            measure(job, <double*> job.y, first, last)
        elif job.single:
            weigh(job, <float*> job.a, <float*> job.y, first, last)
        else:
            weigh(job, <double*> job.a, <double*> job.y, first, last)
        first = last


cdef inline npy_intp in_parts(npy_intp n, npy_intp size) noexcept nogil:
    return (n + size - 1) // size


cdef bint run_all(ndarray weight, ndarray a, ndarray b, ndarray y):
    cdef Job job
    cdef ndarray packed
    cdef npy_intp panels, tiles
    job.weight = NULL if weight is None else PyArray_BYTES(weight)
    job.a, job.b, job.y = PyArray_BYTES(a), PyArray_BYTES(b), PyArray_BYTES(y)
    job.rows, job.others, job.length = PyArray_DIMS(a)[0], PyArray_DIMS(b)[0], PyArray_DIMS(a)[1]
    job.columns, job.count = (job.others, job.length) if weight is None else (job.length, job.others)
    job.step, job.pitch, job.vectors = 1, job.length, gradspec_vectors()
    if weight is not None:
        job.step, job.pitch = PyArray_STRIDES(weight)[1] // PyArray_ITEMSIZE(y), PyArray_STRIDES(weight)[0] // PyArray_ITEMSIZE(y)
    job.single, job.failed = PyArray_TYPE(y) == cnp.NPY_FLOAT32, False
    panels, tiles = in_parts(job.columns, GRADSPEC_COLUMNS), in_parts(job.rows, GRADSPEC_ROWS)
    packed = np.empty((panels * GRADSPEC_COLUMNS + tiles * GRADSPEC_ROWS) * job.count)
    job.panels = <double*> PyArray_BYTES(packed)
    job.tiles = job.panels + panels * GRADSPEC_COLUMNS * job.count
    with nogil:
        parallel(pack_some, &job, panels + tiles, max(<npy_intp> 1, CHUNK // 16 // max(<npy_intp> 1, job.count)))
        parallel(run_some, &job, tiles, max(<npy_intp> 1, CHUNK // max(<npy_intp> 1, GRADSPEC_ROWS * job.columns * job.count)))
    return not job.failed


def differences_weighted(ndarray weight, ndarray a, ndarray b, ndarray y):
    """Write to `y` the sum over j of ``weight[i, j] * (a[i] - b[j])``, added in double; always True.

    All arrays are matrices of float32, or of float64; all but the weights are contiguous.
    """
    return run_all(weight, a, b, y)


def distances_direct(ndarray a, ndarray b, ndarray y):
    """Write to `y` the distance of each row of `a` to each row of `b`; whether no square was out of range."""
    return run_all(None, a, b, y)

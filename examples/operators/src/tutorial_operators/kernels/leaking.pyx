# cython: language_level=3
"""A sum that leaks, along the last axis."""

cimport cython

import numpy as np


def leak(x, double decay, bint reverse):
    """y[i] = decay * y[i - 1] + x[i] along the last axis, or with y[i + 1] from the other end."""
    cdef double[:, ::1] rows
    x = np.asarray(x)
    y = np.array(x, dtype=np.float64, order="C")
    if y.size:
        rows = y.reshape(-1, y.shape[-1])
        with nogil:
            add_up(rows, decay, reverse)
    return y.astype(x.dtype) if x.dtype == np.float32 else y


@cython.boundscheck(False)  # of this loop alone: they also change what x[-1] means for Python's own sequences
@cython.wraparound(False)
cdef void add_up(double[:, ::1] rows, double decay, bint reverse) noexcept nogil:
    cdef Py_ssize_t i, j, n = rows.shape[1]
    for i in range(rows.shape[0]):
        for j in range(1, n):
            if reverse:
                rows[i, n - 1 - j] += decay * rows[i, n - j]
            else:
                rows[i, j] += decay * rows[i, j - 1]

"""The few largest or smallest elements of each row, in one pass.

Loops over contiguous rows of float32, float64 and int64, and keeps the best elements so far in order; an element that beats the
last of them is inserted.  Random rows of n elements take n comparisons and k * log(n / k) insertions, so k should be small; the
loop is then bound by reading the rows.  Equal elements keep their order, and NaN is larger than all numbers, as in the sorts of
`sorting`.  Does not depend on autograd.
"""

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_DIMS, PyArray_NDIM, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp
from ..loops.plain cimport is_plain

cnp.import_array()

ctypedef fused number:
    float
    double
    cnp.npy_int64


cdef inline bint beats(number a, number b, bint largest) noexcept nogil:
    """Whether `a` comes before `b`, whose position in the row is earlier."""
    if largest:
        return a > b or (a != a and b == b)
    return a < b or (b != b and a == a)


cdef void select(number* x, number* values, npy_intp* places, npy_intp rows, npy_intp n, npy_intp k, bint largest) noexcept nogil:
    cdef npy_intp _row, i, j
    for _row in range(rows):
        for i in range(n):
            if i < k:
                j = i
            elif beats(x[i], values[k - 1], largest):
                j = k - 1
            else:
                continue
            while j > 0 and beats(x[i], values[j - 1], largest):
                values[j], places[j] = values[j - 1], places[j - 1]
                j -= 1
            values[j], places[j] = x[i], i
        x, values, places = x + n, values + k, places + k


def select_along_rows(x, npy_intp k, bint largest):
    """The first `k` elements of each row in descending or ascending order, and their positions.

    Parameters
    ----------
    x : ndarray
        With rows of at least `k` elements along the last axis.
    k : int
    largest : bool

    Returns
    -------
    tuple of ndarray or None
        Values and positions; None if the dtype of `x` is not supported.
    """
    cdef ndarray x_, values, places
    cdef npy_intp n, rows
    cdef int type_num
    cdef char* source
    cdef char* to
    cdef npy_intp* at
    if not isinstance(x, np.ndarray) or PyArray_NDIM(x) == 0:
        return None
    if PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_INT64):
        return None
    if not is_plain(x) and not x.dtype.isnative:
        return None
    x_ = x if is_plain(x) else np.ascontiguousarray(x)
    n, type_num = PyArray_DIMS(x_)[PyArray_NDIM(x_) - 1], PyArray_TYPE(x_)
    if not 0 < k <= n:
        return None
    values, places = np.empty(x.shape[:-1] + (k,), (<object> x_).dtype), np.empty(x.shape[:-1] + (k,), np.intp)
    rows = PyArray_SIZE(x_) // n
    source, to, at = PyArray_BYTES(x_), PyArray_BYTES(values), <npy_intp*> PyArray_BYTES(places)
    with nogil:
        if type_num == cnp.NPY_FLOAT32:
            select(<float*> source, <float*> to, at, rows, n, k, largest)
        elif type_num == cnp.NPY_FLOAT64:
            select(<double*> source, <double*> to, at, rows, n, k, largest)
        else:
            select(<cnp.npy_int64*> source, <cnp.npy_int64*> to, at, rows, n, k, largest)
    return values, places

"""How an operand is broadcast to a contiguous one: again and again along some axes, in its own order along the others.

Owns the question for the cases that need no iterator: a number, a row, a column, or a block of rows or columns, again and again.
"""

from ...support.capi cimport PyArray_DIMS, PyArray_NDIM, PyArray_STRIDES, ndarray, npy_intp

cdef struct Rows:
    npy_intp count      # of rows that the larger operand is cut into,
    npy_intp length     # and of elements in each
    npy_intp step       # bytes from one element of the broadcast operand to the next, within a row: 0 or an item
    npy_intp stride     # bytes from where it begins in one row to where it begins in the next,
    npy_intp period     # until after so many rows it begins anew


cdef inline bint find_rows(ndarray x, ndarray whole, npy_intp item, Rows* rows) noexcept:
    """How `x` is read row by row when it is broadcast to the shape of `whole`; False where that takes more than one step."""
    cdef int i, ndim = PyArray_NDIM(whole), extra = ndim - PyArray_NDIM(x)
    cdef npy_intp n, stride
    rows.count = rows.length = rows.period = 1
    rows.step = rows.stride = 0
    if extra < 0:
        return False
    for i in range(ndim - 1, -1, -1):
        n = PyArray_DIMS(whole)[i]
        stride = 0
        if i >= extra:
            if PyArray_DIMS(x)[i - extra] == n:
                stride = PyArray_STRIDES(x)[i - extra]
            elif PyArray_DIMS(x)[i - extra] != 1:
                return False
        if n == 1:
            continue
        if rows.length == 1:
            if stride != 0 and stride != item:
                return False
            rows.length, rows.step = n, stride
        elif rows.count == 1 and stride == rows.step * rows.length:
            rows.length *= n
        elif rows.count == 1:
            if stride != 0 and stride != (rows.length * item if rows.step else item):
                return False
            rows.count, rows.period, rows.stride = n, n, stride
        elif rows.period == rows.count and stride == rows.stride * rows.count:
            rows.count *= n
            rows.period *= n
        elif stride == 0:
            rows.count *= n
        else:
            return False
    return True

"""Describe how an operand is broadcast to a shape: repeated along some axes, in its own order along the others.

Covers the cases that need no iterator: a number, a row, a column, a repeated block of rows or columns, rows that are each
repeated several times, and rows at equal distances.
"""

from ...support.capi cimport PyArray_DIMS, PyArray_NDIM, PyArray_STRIDES, ndarray, npy_intp

cdef struct Rows:
    npy_intp count      # number of rows of the result
    npy_intp length     # elements in each row
    npy_intp step       # bytes between adjacent elements of the broadcast operand within a row: 0 or the item size
    npy_intp repeat     # number of consecutive rows that are equal
    npy_intp stride     # bytes from the start of one distinct row to the start of the next
    npy_intp period     # number of distinct rows, after which the operand repeats


cdef inline npy_intp broadcast_dims(ndarray a, ndarray b, int ndim, npy_intp* dims) noexcept:
    """Compute the broadcast shape of two arrays; returns its size, or -1 if they do not broadcast."""
    cdef int i
    cdef npy_intp n, m, size = 1
    for i in range(ndim):
        n = PyArray_DIMS(a)[i - ndim + PyArray_NDIM(a)] if i >= ndim - PyArray_NDIM(a) else 1
        m = PyArray_DIMS(b)[i - ndim + PyArray_NDIM(b)] if i >= ndim - PyArray_NDIM(b) else 1
        if n != m and n != 1 and m != 1:
            return -1
        dims[i] = m if n == 1 else n
        size *= dims[i]
    return size


cdef inline bint find_rows(ndarray x, int ndim, npy_intp* dims, npy_intp item, Rows* rows) noexcept:
    """Find how `x` is read row by row when it is broadcast to these dimensions; False if rows are not at equal distances."""
    cdef int i, extra = ndim - PyArray_NDIM(x)
    cdef npy_intp n, stride
    rows.count = rows.length = rows.repeat = rows.period = 1
    rows.step = rows.stride = 0
    if extra < 0:
        return False
    for i in range(ndim - 1, -1, -1):
        n = dims[i]
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
            rows.count, rows.period, rows.stride = n, n, stride
        elif rows.repeat * rows.period == rows.count and stride == rows.stride * rows.period:
            rows.count *= n
            rows.period *= n
        elif rows.stride == 0 and rows.period == rows.count:
            rows.repeat, rows.period, rows.stride = rows.count, n, stride
            rows.count *= n
        elif stride == 0:
            rows.count *= n
        else:
            return False
    return True


cdef inline bint cut_rows(Rows* rows, npy_intp length) noexcept:
    """Cut one row into several rows of the given length; False if that is not possible."""
    if rows.length == length:
        return True
    if rows.stride != 0:  # the rows are distinct; only a row that is always repeated can be cut
        return False
    rows.count, rows.repeat, rows.period = rows.count * (rows.length // length), 1, rows.length // length
    rows.stride, rows.length = rows.step * length, length
    return True

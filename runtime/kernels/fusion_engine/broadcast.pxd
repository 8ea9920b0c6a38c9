"""How an operand is broadcast to a shape: again and again along some axes, in its own order along the others.

Owns the question for the cases that need no iterator: a number, a row, a column, a block of rows or columns, again and again,
each row several times, and rows that lie equally far apart.
"""

from ...support.capi cimport PyArray_DIMS, PyArray_NDIM, PyArray_STRIDES, ndarray, npy_intp

cdef struct Rows:
    npy_intp count      # of rows that the result is cut into,
    npy_intp length     # and of elements in each
    npy_intp step       # bytes from one element of the broadcast operand to the next, within a row: 0 or an item
    npy_intp repeat     # how many rows in succession are the same,
    npy_intp stride     # bytes from where it begins in one of these to where it begins in the next,
    npy_intp period     # until after so many of them it begins anew


cdef inline npy_intp broadcast_dims(ndarray a, ndarray b, int ndim, npy_intp* dims) noexcept:
    """The shape to which two arrays are broadcast; returns its size, -1 where there is none."""
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
    """How `x` is read row by row when it is broadcast to these dimensions; False where that takes more than one step."""
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
    """Cut what lies in one row into several of that length; False where it does not."""
    if rows.length == length:
        return True
    if rows.stride != 0:  # rows that differ from one another; one that comes again and again is its pieces, again and again
        return False
    rows.count, rows.repeat, rows.period = rows.count * (rows.length // length), 1, rows.length // length
    rows.stride, rows.length = rows.step * length, length
    return True

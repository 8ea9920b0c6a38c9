"""Views with other axes."""

from numpy cimport ndarray, npy_intp

cdef ndarray row_view(ndarray x, npy_intp row)

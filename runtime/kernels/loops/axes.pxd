"""Views with other axes."""

from ...support.capi cimport ndarray, npy_intp

cdef ndarray view_of(ndarray x, int ndim, npy_intp* dims, npy_intp* strides, char* data, int flags)
cdef ndarray row_view(ndarray x, npy_intp row)

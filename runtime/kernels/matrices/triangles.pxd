"""Adjoints of matrices, in memory of the caller's."""

from ...support.capi cimport ndarray, npy_intp

cdef void write_adjoint(ndarray x, ndarray y) noexcept
cdef void write_adjoint_of(int slot, char* x, npy_intp x_row, char* y, npy_intp y_row, npy_intp rows, npy_intp columns) noexcept nogil

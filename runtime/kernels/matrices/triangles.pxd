"""Adjoints of matrices, in memory of the caller's."""

from ...support.capi cimport ndarray

cdef void write_adjoint(ndarray x, ndarray y) noexcept

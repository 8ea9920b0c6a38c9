"""Cholesky factors of small matrices."""

from ...support.capi cimport ndarray

cdef ndarray small_cholesky(object x)

"""Assign an array to a part of an array."""

from ...support.capi cimport ndarray

cpdef ndarray copy_into(ndarray target, object source)

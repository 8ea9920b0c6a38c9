"""Copy an array into a part of another one."""

from ...support.capi cimport ndarray

cpdef ndarray copy_into(ndarray target, object source)

"""State guards: check whether the Python state that a recording depends on is unchanged."""

from ...core.tensor cimport TensorBase

cdef class Guards:
    cdef list guards        # (way, container, kind, value)

    cdef bint hold(self) except -1

cdef bint same_number(object a, object b) except -1

cpdef list hooks_of(TensorBase tensor)

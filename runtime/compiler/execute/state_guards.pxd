"""State guards: check whether the Python state that a recording depends on is unchanged."""

cdef class Guards:
    cdef list guards        # (way, container, kind, value)

    cdef bint hold(self) except -1

cdef bint same_number(object a, object b) except -1

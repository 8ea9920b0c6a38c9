"""Copies and writes that no operator makes, told to listeners."""

cdef object tell_of_copy(object source, object result)
cdef int tell_of_write(object target, object value) except -1

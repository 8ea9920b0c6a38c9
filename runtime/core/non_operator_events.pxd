"""Events without an operator: report copies, writes and hooks to listeners."""

from .node cimport Node

cdef object tell_of_copy(object source, object result)
cdef int tell_of_write(object target, object value) except -1
cdef object call_hook(Node node, object hook, tuple arguments)

"""Provenance: find the user's line that recorded a node, and name it in errors of backward."""

from libc.stdint cimport uint64_t

from .grad_mode cimport ThreadState
from .node cimport Node

cdef uint64_t current_line() noexcept
cdef tuple line_of(uint64_t origin)
cdef int remember_forward(ThreadState* state, Node node) except -1
cdef object calculation(Node node)
cdef int report_failure(ThreadState* state, Node node, object error) except -1

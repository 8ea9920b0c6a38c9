"""Nodes in place of a rule that an operator lacks."""

from .grad_mode cimport ThreadState
from .node cimport Node

cdef Node missing_rule(ThreadState* state, str op, tuple operands)
cdef int refuse_tangent(str op) except -1
cdef int refuse_through(str message, Node source, object mask, tuple operands, list tensors) except -1

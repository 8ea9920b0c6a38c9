"""Anomaly mode, as the engine asks for it."""

from .node cimport Node

cdef int check_nan(Node node, object results) except -1

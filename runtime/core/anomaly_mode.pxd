"""Anomaly mode: check the gradients of a node for NaN."""

from .node cimport Node

cdef int check_nan(Node node, object results) except -1

"""Batches: compute many gradients of the same outputs, the rows of a leading axis, in one backward pass."""

from .graph_task cimport GraphTask
from ..core.node cimport Node, Wanted

cdef object validate_batch(GraphTask task, Node node, int output_nr, object grad, Node source)
cdef object apply_to_batch(GraphTask task, Node node, object grads, Wanted wanted)
cdef bint has_packed(Node node) except -1
cdef bint goes_row_by_row(GraphTask task) except -1

"""A backward pass whose gradients have a leading axis."""

from .graph_task cimport GraphTask
from ..core.node cimport Node

cdef int run_batched(GraphTask task) except -1
cdef bint has_packed(Node node) except -1
cdef bint goes_row_by_row(GraphTask task) except -1

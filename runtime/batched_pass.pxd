"""A backward pass whose gradients have a leading axis."""

from .graph_task cimport GraphTask

cdef int run_batched(GraphTask task) except -1
cdef bint goes_row_by_row(GraphTask task) except -1

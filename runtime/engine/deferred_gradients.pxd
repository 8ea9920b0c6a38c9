"""Deferred gradients: decide which gradients are computed later, and when."""

from cpython.ref cimport PyObject

from ..support.capi cimport npy_intp
from .graph_task cimport GraphTask
from ..kernels.indexing.sparse_gradient cimport Placed
from ..kernels.fusion_engine.fusion cimport Fused
from ..core.node cimport InputMetadata, Node

cdef inline bint is_large(GraphTask task, InputMetadata* metadata) noexcept:
    """Whether a gradient is large enough for deferred computation to pay."""
    cdef npy_intp size = 1
    cdef int i
    if task.large < 0:
        return False
    for i in range(metadata.ndim):
        size *= metadata.dims[i]
    return size >= task.large

cdef bint may_wait(Node node, bint needed) except -1
cdef object arrived(GraphTask task, Node node, object grad, bint needed)
cdef object add_placed(PyObject* buffer, Node target, int output_nr, Placed grad, Node source)
cdef object validate_deferred(Node target, int output_nr, Fused grad, Node source)
cdef int settle(GraphTask task) except -1
cdef tuple taken_computed(GraphTask task)
cdef int forget(GraphTask task) except -1
cdef Node blamed(GraphTask task, Node node)

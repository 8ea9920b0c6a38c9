# cython: boundscheck=False, wraparound=False
"""Deferred gradients: decide which gradients are computed later, and when.

A node whose formula consists of elementwise programs may take a large deferred gradient, and return one.  All deferred gradients
are computed before any code can see them or change their operands: before hooks, before nodes of any other kind, and at the end
of a pass.  They are computed by one program that reads and writes each array once.  A gradient that is zero except at some
places is deferred until it reaches its buffer: it is added to an existing gradient there, or computed.
"""

from cpython.ref cimport PyObject

from .batches cimport has_packed
from ..support.capi cimport (
    NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, PyArray_FLAGS, PyArray_TYPE, Py_REFCNT, ndarray,
)
from .graph_task cimport GraphTask
from .input_buffer cimport validate
from ..kernels.indexing.sparse_gradient cimport Placed
from ..kernels.fusion_engine.fusion cimport Fused, Fusion, start_fusion
from ..core.node cimport InputMetadata, Node
from ..core.tensor cimport wrap


cdef bint may_wait(Node node, bint needed) except -1:
    """Whether gradients may stay deferred while a node runs, and that node may take one: it runs no code of the user.

    A node that is not `needed` does not run: only hooks could see its gradient.
    """
    return node.hooks is None and (not needed or node.takes_deferred() and not has_packed(node))


cdef object arrived(GraphTask task, Node node, object grad, bint needed):
    """The large gradient that arrived at a node, as the node takes it: deferred if that pays, else an array."""
    cdef Fusion fusion
    if type(grad) is Fused:
        if (<Fused> grad).array is None:
            (<Fused> grad).fusion.label = node
            return grad
        grad = (<Fused> grad).array
    if type(grad) is not ndarray or not needed or not may_wait(node, True):
        return grad
    if task.fusions is None:
        task.fusions = []
    for fusion in task.fusions:
        if fusion.takes(grad):
            break
    else:
        fusion = start_fusion(grad)
        if not fusion.takes(grad):
            return grad
        task.fusions.append(fusion)
        if task.listening:
            fusion.computed = []
    fusion.label = node
    return fusion.leaf(grad)


cdef object validate_deferred(Node target, int output_nr, Fused grad, Node source):
    """A gradient on its way to a node: unchanged if the node has one output of its shape and dtype, else computed, validated."""
    cdef InputMetadata* metadata = &target.output
    if grad.array is None and target.outputs == NULL and grad.fits(metadata.ndim, metadata.dims, metadata.type_num):
        return grad
    return validate(target, output_nr, grad.computed(), False, source)


cdef object add_placed(PyObject* buffer, Node target, int output_nr, Placed grad, Node source):
    """Add a gradient of some places to a node's buffer and return None; if impossible, return the whole gradient.

    Only the buffer may reference the array that is written to, and it stays in C order, as in `accumulate`.
    """
    cdef int wanted = NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE | NPY_ARRAY_C_CONTIGUOUS
    cdef ndarray total
    if target.outputs == NULL and buffer != NULL and type(<object> buffer) is ndarray and Py_REFCNT(<object> buffer) == 1:
        total = <ndarray> buffer
        if (PyArray_FLAGS(total) & wanted == wanted and PyArray_TYPE(grad.value) == PyArray_TYPE(total)
                and (<object> total).shape == grad.shape):
            grad.add_to(total)
            return None
    return validate(target, output_nr, grad.computed(), False, source)


cdef int settle(GraphTask task) except -1:
    """Compute all deferred gradients that are still needed."""
    cdef Fusion fusion
    cdef Py_ssize_t i
    for fusion in task.fusions:
        fusion.compute()
    if task.results is not None:
        for i in range(len(task.results)):
            if type(task.results[i]) is Fused:
                task.results[i] = wrap((<Fused> task.results[i]).array)
    return 0


cdef tuple taken_computed(GraphTask task):
    """The arrays of deferred gradients that were computed since the last call; empty without listeners."""
    cdef Fusion fusion
    cdef list found = []
    if task.fusions is not None:
        for fusion in task.fusions:
            if fusion.computed:
                found += fusion.computed
                fusion.computed = []
    return tuple(found)


cdef Node blamed(GraphTask task, Node node):
    """The node whose deferred computation failed; else the running node."""
    cdef Fusion fusion
    if task.fusions is not None:
        for fusion in task.fusions:
            if fusion.failed is not None:
                return fusion.failed
    return node


cdef int forget(GraphTask task) except -1:
    """Clear all deferred work at the end of a pass."""
    cdef Fusion fusion
    if task.fusions is not None:
        for fusion in task.fusions:
            fusion.clear()
        task.fusions = None
    return 0

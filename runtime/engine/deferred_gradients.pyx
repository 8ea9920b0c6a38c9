# cython: boundscheck=False, wraparound=False
"""Gradients that are put off: which nodes wait, and until when.

Owns the rule that a node made of elementwise programs alone may take a large gradient that nobody has computed, and leave one;
and that all are computed before anybody could see or change what they are made of: before hooks, before nodes of any other kind,
and at the end of a pass.  What is computed then is one program in which each array is read and written once.  A gradient that is
zeros but for some places is put off as far as the buffer that it is for: it is added to what is there, or computed.
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
    """Whether gradients may stay put off while a node runs, and that node may take one: nothing of it is the user's.

    A node that is not `needed` does not run: only hooks could see what arrives there.
    """
    return node.hooks is None and (not needed or node.takes_deferred() and not has_packed(node))


cdef object arrived(GraphTask task, Node node, object grad, bint needed):
    """The large gradient that arrived at a node as that node takes it: put off where that pays, an array where it must be."""
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
    """A gradient on its way to a node: as it is if that has one output of its shape and dtype, else its array made to fit."""
    cdef InputMetadata* metadata = &target.output
    if grad.array is None and target.outputs == NULL and grad.fits(metadata.ndim, metadata.dims, metadata.type_num):
        return grad
    return validate(target, output_nr, grad.computed(), False, source)


cdef object add_placed(PyObject* buffer, Node target, int output_nr, Placed grad, Node source):
    """Add a gradient of some places to what has arrived at a node of one output and give None; all of it where it cannot be.

    Nobody but the buffer may hold the array that is written to, and it stays in C's order, as in `accumulate`.
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
    """Compute all that was put off and that somebody waits for."""
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
    """The arrays of gradients that were put off and have been computed since this was asked; none where nobody listens."""
    cdef Fusion fusion
    cdef list found = []
    if task.fusions is not None:
        for fusion in task.fusions:
            if fusion.computed:
                found += fusion.computed
                fusion.computed = []
    return tuple(found)


cdef Node blamed(GraphTask task, Node node):
    """The node whose calls could not be computed, where that was put off; else the one that runs."""
    cdef Fusion fusion
    if task.fusions is not None:
        for fusion in task.fusions:
            if fusion.failed is not None:
                return fusion.failed
    return node


cdef int forget(GraphTask task) except -1:
    """The pass is over: nothing waits any more."""
    cdef Fusion fusion
    if task.fusions is not None:
        for fusion in task.fusions:
            fusion.clear()
        task.fusions = None
    return 0

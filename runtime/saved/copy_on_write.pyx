"""Copy on write: keep a buffer's content before a recorded write, for the nodes that saved it.

Defines the start of every in-place write.  The write is counted.  If it is recorded and a node may have saved a tensor of the
current version, a Snapshot of the whole base is taken, once for each version.  The Snapshot of version 0, whose tensors nodes
save directly, belongs to the buffer.  Nodes hold the Snapshot of a later version themselves, so it lives as long as they do and
is not taken if no such node is left.
"""

cimport cython
from libc.string cimport memcpy

import numpy as np

from ..support cimport capi as cnp
from ..support.capi cimport PyArray_BYTES, Py_REFCNT, ndarray
from ..core.non_operator_events cimport tell_of_copy
from ..core.forward_ad cimport has_tangent, take_tangents
from ..core.grad_mode cimport DUAL, REFUSE_MUTATION, ThreadState
from ..core.tensor cimport INFERENCE_TENSOR, VIEW, TensorBase, VersionCounter
from .view cimport base_of

cnp.import_array()


@cython.no_gc
cdef class Snapshot:
    """The content of one buffer at one version."""

    cdef int take(self, ndarray base) except -1:
        """Copy the memory that the array spans, gaps included, so that its views are found at the same offsets."""
        cdef ndarray memory
        cdef size_t low, high
        low, high = np.lib.array_utils.byte_bounds(base)
        memory = np.empty(high - low, np.uint8)
        memcpy(PyArray_BYTES(memory), <char*> low, high - low)
        self.address = PyArray_BYTES(base)
        self.array = np.ndarray((<object> base).shape, base.dtype, memory, <size_t> self.address - low, (<object> base).strides)
        tell_of_copy(base, self.array)
        return 0

    cdef ndarray array_of(self, ndarray present):
        """The content of `present`, an array in the memory of the base, at this version; None if it lies elsewhere."""
        cdef ndarray memory = (<object> self.array).base
        cdef Py_ssize_t first = PyArray_BYTES(self.array) - PyArray_BYTES(memory) + (PyArray_BYTES(present) - self.address)
        low, high = np.lib.array_utils.byte_bounds(present)
        start = low - <size_t> PyArray_BYTES(present) + first
        if start < 0 or start + (high - low) > memory.size:
            return None
        return np.ndarray((<object> present).shape, present.dtype, memory, first, (<object> present).strides)


cdef Snapshot present_snapshot(VersionCounter counter):
    """The Snapshot that will give a node the present content of a buffer after a recorded write."""
    cdef Snapshot snapshot = counter.current
    if snapshot is None or snapshot.version != counter.value:
        snapshot = counter.current = Snapshot.__new__(Snapshot)
        snapshot.version = counter.value
    return snapshot


cdef object watcher = None  # called with each tensor that is about to be written to, if set


def watch_writes(function):
    """Call `function(tensor)` before every in-place write and every write to `out=`, in any thread; None ends it.

    Parameters
    ----------
    function : callable or None
    """
    global watcher
    watcher = function


cdef int begin_write(ThreadState* state, TensorBase target, bint recorded) except -1:
    """Count a write before it happens: if it fails half-way, the values that it may have overwritten are refused as stale."""
    cdef VersionCounter counter
    cdef TensorBase base
    cdef Snapshot snapshot = None
    if watcher is not None:
        watcher(target)
    if target.flags & INFERENCE_TENSOR:
        return 0
    if target.flags & VIEW:
        target.extra.is_taken = False
    counter = target.shared_counter()
    if recorded and (counter.saved or counter.current is not None) and not state.flags & REFUSE_MUTATION:
        base = base_of(target)
        if counter.value == 0:
            counter.first = snapshot = Snapshot.__new__(Snapshot)
            snapshot.take(base.array)
            base.ensure_extra().before = base.alias_with_history()
            base.extra.before.array, base.extra.before.counter = snapshot.array, None
            if state.flags & DUAL and has_tangent(base):
                take_tangents(base.extra.before, base)
        elif counter.current is not None:
            snapshot = counter.current
            if snapshot.version == counter.value and Py_REFCNT(snapshot) > 2:  # beside the counter and this name
                snapshot.take(base.array)
    counter.current = None
    counter.value += 1
    return 0

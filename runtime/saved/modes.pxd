"""Modes while the steps of a view are taken again, and while a pack hook runs.

Owns which of a thread's flags are put back afterwards.
"""

from ..core.grad_mode cimport FORWARD_DISABLED, GRAD_DISABLED, INFERENCE, ThreadState, thread_state


cdef inline void put_back(ThreadState* state, unsigned int flags) noexcept:
    """Whether to record, and how, as `flags` have it; that no vmap is open any more an operator may have found in between."""
    cdef unsigned int modes = GRAD_DISABLED | FORWARD_DISABLED | INFERENCE
    state.flags = state.flags & ~modes | flags & modes


cdef inline object unrecorded(object function, object value):
    """`function(value)`, unrecorded."""
    cdef ThreadState* state = thread_state()
    cdef unsigned int before = state.flags & GRAD_DISABLED
    state.flags |= GRAD_DISABLED
    try:
        return function(value)
    finally:
        state.flags = state.flags & ~<unsigned int> GRAD_DISABLED | before

"""Modes: change a thread's flags while view steps are replayed or a pack hook runs, and restore them."""

from ..core.grad_mode cimport FORWARD_DISABLED, GRAD_DISABLED, INFERENCE, ThreadState, thread_state


cdef inline void put_back(ThreadState* state, unsigned int flags) noexcept:
    """Restore recording and its modes from `flags`; other flags keep their present value, as a vmap may have closed since."""
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

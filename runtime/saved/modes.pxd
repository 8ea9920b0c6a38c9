"""Modes while the steps of a view are taken again.

Owns which of a thread's flags are put back afterwards.
"""

from ..core.grad_mode cimport FORWARD_DISABLED, GRAD_DISABLED, INFERENCE, ThreadState


cdef inline void put_back(ThreadState* state, unsigned int flags) noexcept:
    """Whether to record, and how, as `flags` have it; that no vmap is open any more an operator may have found in between."""
    cdef unsigned int modes = GRAD_DISABLED | FORWARD_DISABLED | INFERENCE
    state.flags = state.flags & ~modes | flags & modes

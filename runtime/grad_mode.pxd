"""The state of a thread, in one struct: every rare mode is one bit of `flags`."""

from libc.stdint cimport uint64_t

cdef enum:
    GRAD_DISABLED = 1       # no_grad: nothing is recorded
    INFERENCE = 2           # inference_mode: as no_grad, and results cannot be recorded later
    DUAL = 4                # a dual level is open
    ANOMALY = 8             # detect_anomaly
    SAVED_HOOKS = 16        # saved_tensors_hooks is active
    FORWARD_DISABLED = 32   # tangents are not propagated
    TRACING = 64
    PROFILING = 128

cdef struct ThreadState:
    unsigned int flags
    int dual_level          # index of the innermost open dual level, 0 outside
    uint64_t sequence_nr    # of the next node
    uint64_t graph_task     # id of the running GraphTask, 0 outside
    bint keep_graph         # of the running GraphTask

cdef ThreadState* thread_state() noexcept nogil

"""The state of a thread in one struct: every rare mode is one bit of `flags`."""

from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t

cdef enum:
    GRAD_DISABLED = 1       # no_grad: nothing is recorded
    INFERENCE = 2           # inference_mode: like no_grad, and results cannot be recorded later
    DUAL = 4                # a dual level is open
    SAVED_HOOKS = 8         # saved_tensors_hooks is active
    FORWARD_DISABLED = 16   # tangents are not propagated
    ONE_THREAD = 1 << 16    # set_multithreading_enabled(False)
    REFUSE_MUTATION = 32    # backward refuses a saved value that a recorded write changed, instead of copying it
    REPLAY_VIEWS = 64       # a view follows its base by replaying its operators, not by strides
    ANOMALY = 128           # anomaly mode: nodes keep the traceback of their forward
    NAN_ALLOWED = 256       # anomaly mode does not look for NaN
    WARN_MISSING = 512      # recording an operator without a rule warns
    REFUSE_MISSING = 1024   # recording an operator without a rule is an error
    BATCHED = 2048          # an open dual level has batches of tangents
    LISTENING = 4096        # the thread has listeners
    BY_OPERATOR = 8192      # backward passes and composites run as operators on tensors, for a listener
    MAPPED = 16384          # a vmap is open, so an operand may represent a batch; LISTENING is set as well

cdef struct ThreadState:
    unsigned int flags
    int dual_level          # index of the innermost open dual level, 0 outside
    uint64_t sequence_nr    # of the next node
    uint64_t graph_task     # id of the running GraphTask, 0 outside
    bint keep_graph         # of the running GraphTask
    bint told               # the next wrapper call has been reported already
    PyObject* objects       # the thread's ThreadObjects, borrowed; NULL until a mode needs one

cdef class ThreadObjects:
    cdef ThreadState* state
    cdef list dual_levels       # the open DualLevels, outermost first
    cdef list saved_hooks       # pairs of pack and unpack hook, innermost last
    cdef list hooks_disabled    # messages of disable_saved_tensors_hooks, innermost last
    cdef tuple listeners        # listeners to events, in the order of their calls
    cdef object event           # the innermost open event
    cdef object mapping         # if a vmap is open, the object that runs operators on batches, else None
    cdef object running         # in anomaly mode, the Calculation of the node that backward runs, else None

cdef bint inference_used    # some thread has used inference mode: results may have to be inference tensors

# Reports a mode to listeners, by its name and the flags that it sets; set by `events`.
ctypedef int (*ModeChanged)(str, unsigned int) except -1
cdef ModeChanged mode_changed

cdef ThreadObjects thread_objects()
cdef ThreadState* thread_state() noexcept nogil

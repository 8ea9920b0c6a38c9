"""Events: report a program's operations to listeners."""

from libc.stdint cimport int64_t, uint64_t

from .grad_mode cimport ThreadState
from .node cimport Node

cdef class Event:
    cdef readonly str kind
    cdef readonly str name
    cdef readonly tuple inputs
    cdef readonly object outputs
    cdef public object error        # the exception, or the error that a listener has set
    cdef readonly Node node
    cdef readonly Event parent      # the enclosing event
    cdef readonly int depth
    cdef readonly uint64_t sequence_nr  # the node's own if one runs, else the next node's, at the beginning
    cdef readonly int64_t bytes     # allocated; negative if freed
    cdef uint64_t origin            # the user's line, as provenance numbers it
    cdef tuple heard                # the listeners that heard of its beginning
    cdef bint ended

cdef class Listener:
    cdef Listener watch             # finds the arrays that this listener hears of, else None
    cpdef begin(self, Event event)
    cpdef end(self, Event event)
    cpdef note(self, Event event)
    cdef object hear_of_memory(self, int64_t nbytes, str name, uint64_t origin)

cdef Event begin_event(ThreadState* state, str kind, str name, tuple inputs, Node node)
cdef int end_event(ThreadState* state, Event event, object outputs, object error) except -1
cdef int note_event(ThreadState* state, str kind, str name, tuple inputs, object outputs) except -1
cdef object call_wrapper(void* wrapper, tuple arguments)
cdef object listened(ThreadState* state, str name, void* wrapper, tuple inputs)

cdef type new_watch     # creates a listener's memory watch; set by memory_events

cdef inline bint is_heard(ThreadState* state) noexcept:
    """Whether a wrapper that was called while there are listeners must report it; not if `listened` calls it."""
    cdef bint told = state.told
    state.told = False
    return not told

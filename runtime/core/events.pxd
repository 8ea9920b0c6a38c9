"""Events: what a program does, told to those who listen."""

from libc.stdint cimport int64_t, uint64_t

from .grad_mode cimport ThreadState
from .node cimport Node

cdef class Event:
    cdef readonly str kind
    cdef readonly str name
    cdef readonly tuple inputs
    cdef readonly object outputs
    cdef public object error        # what it raised, or what a listener wants raised
    cdef readonly Node node
    cdef readonly Event parent      # the event around this one
    cdef readonly int depth
    cdef readonly uint64_t sequence_nr  # of the node that is made next when it begins; of the node that runs
    cdef readonly int64_t bytes     # that were taken, less than 0 where they were given back
    cdef uint64_t origin            # the user's line, as provenance numbers it
    cdef tuple heard                # the listeners that were told of its beginning
    cdef bint ended

cdef class Listener:
    cdef Listener watch             # finds the arrays of which it is told, else None
    cpdef begin(self, Event event)
    cpdef end(self, Event event)
    cpdef note(self, Event event)
    cdef object hear_of_memory(self, int64_t nbytes, str name, uint64_t origin)

cdef Event begin_event(ThreadState* state, str kind, str name, tuple inputs, Node node)
cdef int end_event(ThreadState* state, Event event, object outputs, object error) except -1
cdef int note_event(ThreadState* state, str kind, str name, tuple inputs, object outputs) except -1
cdef object call_wrapper(void* wrapper, tuple arguments)
cdef object listened(ThreadState* state, str name, void* wrapper, tuple inputs)

cdef type new_watch     # makes the watch of a listener; set by the module of memory

cdef inline bint is_heard(ThreadState* state) noexcept:
    """Whether a wrapper that was called while somebody listens has to tell of it; not when `listened` calls it."""
    cdef bint told = state.told
    state.told = False
    return not told

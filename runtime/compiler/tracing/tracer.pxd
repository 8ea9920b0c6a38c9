"""Tracer: record the tree of a program's calls, operators within operators, over values."""

from ...core.events cimport Event, Listener
from ...support.capi cimport ndarray
from .values cimport Memory, Value

cdef class Call:
    cdef public str kind, name
    cdef public object arguments, outputs, line
    cdef list inside            # None while it has no parts
    cdef tuple around           # enclosing operators, up to an enclosing tangent; set by `straightened`
    cdef Call host              # the enclosing call, while this one runs
    cdef Event event            # its event, while it runs

    cdef int add(self, Call part) except -1

cdef class Recorder(Listener):
    cdef public Memory met      # the arrays met so far; a field called `memory` would subscribe to memory events
    cdef readonly Call root
    cdef Call open              # the innermost running call
    cdef public list notes
    cdef public object failure
    cdef dict lines             # origin -> the user's line

    cpdef opened(self, Event event)
    cpdef closed(self, Event event)
    cpdef noted(self, Event event)
    cpdef made(self, Event event)
    cpdef left(self, Event event)
    cpdef drawn(self, object source)
    cpdef object leaf(self, object item, object event)
    cpdef Value value(self, ndarray array, object event)
    cpdef bint is_inside(self)
    cpdef Call step(self, str kind, str name, object arguments, object event)
    cdef object tree(self, object item, object event)
    cpdef object result(self, object item, Call call)
    cdef bint is_muted(self, Event event)
    cdef tuple line_of(self, object event)
    cdef tuple line_at(self, Event event)
    cdef int failed(self, Call call, Event event) except -1
    cdef object looked_at(self, ndarray array, Value whole, ndarray known, object event)

cdef bint is_computed(Call call) except -1
cpdef list calls_around(Call call)

# cython: boundscheck=False, wraparound=False
"""Memory as events: report the allocation and the release of arrays to listeners.

A listener that asks for memory hears of each new array that owns its memory: when an event has returned it, and when it is
freed.  Each such listener has a watch, a listener that is called before it.
"""

from libc.stdint cimport int64_t, uint64_t, uintptr_t

cimport cython

from . cimport events
from .events cimport Event, Listener
from ..support.capi cimport NPY_ARRAY_OWNDATA, PyArray_FLAGS, PyArray_ITEMSIZE, ndarray

cdef extern from "Python.h":
    object PyWeakref_NewRef(object, object)


@cython.freelist(64)
cdef class Death:
    """Called when a reported array is freed."""
    cdef Watch watch
    cdef object address
    cdef int64_t nbytes
    cdef str name
    cdef uint64_t origin

    def __call__(self, reference):
        if self.watch.alive.get(self.address) is reference:
            del self.watch.alive[self.address]
            self.watch.tell(-self.nbytes, self.name, self.origin)


cdef class Watch(Listener):
    """Finds the arrays that one listener hears of."""

    cdef Listener listener
    cdef dict alive         # address of an array -> weak reference

    def __init__(self, listener):
        self.listener, self.alive = listener, {}

    cpdef end(self, Event event):
        self.hold(event, event.outputs)

    cpdef note(self, Event event):
        if event.kind == "made":
            self.hold(event, event.outputs)

    cdef object tell(self, int64_t nbytes, str name, uint64_t origin):
        """Report an array; returns the error that the listener wants raised."""
        if self.listener.watch is not self:  # the listener has stopped
            return None
        return self.listener.hear_of_memory(nbytes, name, origin)

    cdef int hold(self, Event event, object value) except -1:
        """Report the arrays that own their memory and are new, and watch for their release."""
        cdef ndarray array = array_in(value)
        cdef Death death
        if array is None:
            if isinstance(value, (tuple, list)):
                for item in value:
                    self.hold(event, item)
            return 0
        if not PyArray_FLAGS(array) & NPY_ARRAY_OWNDATA:
            return 0
        address = <uintptr_t> <void*> array
        known = self.alive.get(address)
        if known is not None and known() is array:
            return 0
        if is_among(array, event.inputs):  # written to, not new
            return 0
        death = Death.__new__(Death)
        death.watch, death.address, death.nbytes = self, address, array.size * PyArray_ITEMSIZE(array)
        death.name, death.origin = event.name, event.origin
        self.alive[address] = PyWeakref_NewRef(array, death)
        error = self.tell(death.nbytes, death.name, death.origin)
        if error is not None and event.error is None:
            event.error = error
        return 0


cdef bint is_among(ndarray array, object values):
    """Whether an array is among an operator's inputs."""
    if isinstance(values, (tuple, list)):
        for value in values:
            if isinstance(value, (tuple, list)):
                if not is_list_of_numbers(value) and is_among(array, value):
                    return True
            elif array_in(value) is array:
                return True
        return False
    return array_in(values) is array


events.new_watch = Watch

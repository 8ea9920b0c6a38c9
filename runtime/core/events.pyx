# cython: boundscheck=False, wraparound=False
"""Events: report a program's operations to listeners.

Holds the event stream behind profiling, tracing and the search for NaN: the listeners of each thread and the order of their
calls.  A listener that fails is removed.  A wrapper, the engine or a mode only tests one bit of the thread's flags, LISTENING.
All other work is done here, if there are listeners.  A vmap uses the same hook, so listeners hear of the batched operators that
it runs.
"""

import sys
import warnings

from libc.stdint cimport int64_t, uint64_t

from .grad_mode cimport (
    BY_OPERATOR, FORWARD_DISABLED, GRAD_DISABLED, INFERENCE, LISTENING, MAPPED, ThreadObjects, ThreadState, thread_objects,
    thread_state,
)
from . cimport grad_mode as modes
from .node cimport Node
from .provenance cimport current_line, line_of

cdef extern from "gradspec/core/wrapper_call.h":
    object gradspec_call_wrapper(void*, tuple)

cdef enum Moment:
    BEGIN
    END
    NOTE


cdef class Event:
    """One event of a program.

    Attributes
    ----------
    kind : str
        Events with a beginning and an end: "operator"; "function" (a custom Function); "node" (of a backward pass); "hook";
        "pass" (a whole backward pass); "deferred" (gradients that a pass deferred, computed together); "tangent" (the
        derivative of the enclosing operator in forward mode); "callback" (a Python function that the program calls with its
        values); "range" (named by the user; also a custom Function or a hook that is declared pure).
        Single moments: "mode"; "made" (a tensor built from numbers, or a copy that no operator computes); "write" (by no
        operator); "left" (values read out of a tensor); "draw"; "memory".
    name : str
        For an operator, the name of its entry, with `_` if it writes in place and `.out` if it writes to `out=`.  For a
        node, its class.  For a value read out of a tensor, the method that read it.  For memory, the event that allocated
        the array.
    inputs : tuple
        The arguments, before any conversion; gradients if it is a node.
    outputs : object
        The results; None before the end.
    error : BaseException or None
        The exception.  A listener may set it at the end of an event: it is raised after all listeners have heard the event.
    node : Node or None
        The node that runs.
    parent : Event or None
        The enclosing event: a composite operator encloses its parts, a pass its nodes.
    depth : int
        Number of enclosing events.
    sequence_nr : int
        For a running node, its number.  For an operator, the number of the next node: the operator's own node, if it records one.
    bytes : int
        For memory: the size of the array that was allocated; negative if it was freed.
    line : tuple or None
        File, line number and function of the user's code; for a node, the line that recorded it.
    """

    @property
    def line(self):
        return line_of(self.origin)

    def replace_inputs(self, tuple inputs):
        """Replace the arguments of an operator; for a listener that hears of its beginning."""
        self.inputs = inputs

    def __repr__(self):
        return f"<Event {self.kind} {self.name}{' failed' if self.error is not None else ''}>"


cdef class Listener:
    """Hears of the thread's events from `start()` to `stop()`, or inside a `with`.

    A subclass overrides `begin`, `end` and `note`.  Operations inside these methods are not events.  A listener that raises is
    named in a warning and removed; the program continues.  Listeners do not see each other.

    Attributes
    ----------
    by_operator : bool
        Whether backward passes, and operators that are written in terms of others, run as operators on tensors, which are events
        inside of each node and operator, rather than as programs on arrays.  False by default, which costs a pass nothing.
    memory : bool
        Whether `note` hears of arrays that own their memory: when an event has returned one, and when it is freed.  False by
        default.  An array that existed before, or that exists inside of an operator only, is not seen.

    Examples
    --------
    >>> class Count(gs.autograd.Listener):
    ...     calls = 0
    ...     def begin(self, event):
    ...         self.calls += event.kind == "operator"
    >>> with Count() as count:
    ...     y = gs.exp(gs.ones(3)) + 1
    >>> count.calls
    3
    """

    by_operator = memory = False

    cpdef begin(self, Event event):
        """An event begins; its inputs are set."""

    cpdef end(self, Event event):
        """The event has ended; its outputs or its error are set."""

    cpdef note(self, Event event):
        """An event without a duration."""

    cdef object hear_of_memory(self, int64_t nbytes, str name, uint64_t origin):
        """An array was allocated or freed: an event for `note`, unless a subclass in C overrides this.  Returns the error."""
        return tell_of_memory(self, nbytes, name, origin)

    def start(self):
        """Start listening to this thread.

        Returns
        -------
        Listener
            This listener.

        Raises
        ------
        RuntimeError
            This listener is already listening.
        """
        cdef ThreadObjects objects = thread_objects()
        if self in objects.listeners:
            raise RuntimeError(f"{type(self).__name__}: listens in this thread already; make another one, or stop() it first")
        if self.memory:
            self.watch = new_watch(self)
            objects.listeners = objects.listeners + (self.watch,)  # it has reported the arrays by the time the event ends
        objects.listeners = objects.listeners + (self,)
        set_flags(objects)
        return self

    def stop(self):
        """Stop listening.  A listener that does not listen in this thread is unchanged."""
        cdef ThreadObjects objects = thread_objects()
        remove(objects, self)
        set_flags(objects)

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc_info):
        self.stop()


cdef int remove(ThreadObjects objects, Listener listener) except -1:
    """Remove a listener and its memory watch."""
    cdef Listener watch = listener.watch
    objects.listeners = tuple([one for one in objects.listeners if one is not listener and (watch is None or one is not watch)])
    listener.watch = None
    return 0


cdef int set_flags(ThreadObjects objects) except -1:
    """Set the flags for the presence of listeners, and for passes that run by operators."""
    cdef ThreadState* state = thread_state()
    cdef unsigned int bits = 0
    if objects.listeners:
        bits = LISTENING
        for listener in objects.listeners:
            if listener.by_operator:
                bits |= BY_OPERATOR
    if objects.mapping is not None:
        bits |= LISTENING | MAPPED
    state.flags = state.flags & ~<unsigned int> (LISTENING | BY_OPERATOR | MAPPED) | bits
    return 0


def is_listened_to():
    """Whether this thread has listeners."""
    return bool(thread_state().flags & LISTENING)


def set_mapping(mapping):
    """Have operators of this thread check whether an operand represents a batch.

    Parameters
    ----------
    mapping : object or None
        Has `call(name, wrapper, inputs)`, which returns an operator's result for batches, or NotImplemented if no operand is
        a batch, and `note(kind, name, inputs)`, which refuses events that are impossible with a batch.

    Returns
    -------
    object or None
        The previous mapping.
    """
    cdef ThreadObjects objects = thread_objects()
    previous, objects.mapping = objects.mapping, mapping
    set_flags(objects)
    return previous


def current_mapping():
    """The mapping set by `set_mapping`; None if no vmap is open."""
    return thread_objects().mapping


cdef class Wrapper:
    """A wrapper that is known by its address, callable from Python."""

    cdef void* address

    def __call__(self, *arguments):
        return gradspec_call_wrapper(self.address, arguments)

    def parts(self, *arguments):
        """Run the wrapper's own code, whatever the operands are: the parts of a composite operator are operators again."""
        thread_state().told = True
        return gradspec_call_wrapper(self.address, arguments)


cdef Wrapper wrapper_at(void* address):
    cdef Wrapper wrapper = Wrapper.__new__(Wrapper)
    wrapper.address = address
    return wrapper


cdef int tell(ThreadState* state, Moment moment, Event event) except -1:
    """Tell all listeners; their own operations are not events."""
    cdef ThreadObjects objects = thread_objects()
    cdef Listener listener
    state.flags &= ~<unsigned int> (LISTENING | BY_OPERATOR)
    try:
        for listener in objects.listeners:
            if moment == END and event.heard is not objects.listeners and listener not in event.heard:
                continue  # it started listening during the event
            try:
                if moment == BEGIN:
                    listener.begin(event)
                elif moment == END:
                    listener.end(event)
                else:
                    listener.note(event)
            except Exception as error:
                take_off(objects, listener, moment, event, error)
    finally:
        set_flags(objects)
    return 0


cdef object tell_of_memory(Listener listener, int64_t nbytes, str name, uint64_t origin):
    """Tell one listener of an array, even inside of another event or another listener; returns the error to raise."""
    cdef ThreadState* state = thread_state()
    cdef Event event = new_event(state, "memory", name, (), None)
    cdef unsigned int bits = state.flags & (LISTENING | BY_OPERATOR)
    event.bytes, event.origin = nbytes, origin
    state.flags &= ~<unsigned int> (LISTENING | BY_OPERATOR)
    try:
        listener.note(event)
    except Exception as error:
        take_off(thread_objects(), listener, NOTE, event, error)
    finally:
        state.flags |= bits
    return event.error


cdef int take_off(ThreadObjects objects, Listener listener, Moment moment, Event event, object error) except -1:
    """Remove a listener that failed: its error must not affect the program."""
    remove(objects, listener)
    method = ("begin", "end", "note")[<int> moment]
    text = (f"{type(listener).__name__}.{method} raised {type(error).__name__}: {error}, at {event.kind} {event.name}; "
            "it listens no more")
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    except Warning:  # warnings are errors: this one still must not affect the program
        sys.stderr.write(text + "\n")
    return 0


cdef Event new_event(ThreadState* state, str kind, str name, tuple inputs, Node node):
    cdef ThreadObjects objects = thread_objects()
    cdef Event event = Event.__new__(Event)
    event.kind, event.name, event.inputs, event.node = kind, name, inputs, node
    event.parent = objects.event
    if event.parent is not None:
        event.depth = event.parent.depth + 1
    if node is None:
        event.origin, event.sequence_nr = current_line(), state.sequence_nr
    else:
        event.origin, event.sequence_nr = node.origin, node.sequence_nr
    return event


cdef Event begin_event(ThreadState* state, str kind, str name, tuple inputs, Node node):
    """Tell that an event begins; each call is paired with one of `end_event`."""
    cdef ThreadObjects objects = thread_objects()
    cdef Event event = new_event(state, kind, name, inputs, node)
    event.heard = objects.listeners
    tell(state, BEGIN, event)
    objects.event = event
    return event


cdef int end_event(ThreadState* state, Event event, object outputs, object error) except -1:
    """Tell that an event has ended; raises an error that a listener has set."""
    cdef ThreadObjects objects = thread_objects()
    event.outputs, event.error, event.ended = outputs, error, True
    while objects.event is not None and (<Event> objects.event).ended:  # ranges may end in a different order
        objects.event = (<Event> objects.event).parent
    if state.flags & LISTENING:
        tell(state, END, event)
        if event.error is not error and event.error is not None:
            raise event.error
    return 0


cdef int note_event(ThreadState* state, str kind, str name, tuple inputs, object outputs) except -1:
    """Tell of a single moment."""
    cdef ThreadObjects objects = thread_objects()
    cdef Event event
    if objects.mapping is not None:
        objects.mapping.note(kind, name, inputs)
        if not objects.listeners:
            return 0
    event = new_event(state, kind, name, inputs, None)
    event.outputs = outputs
    tell(state, NOTE, event)
    if event.error is not None:
        raise event.error
    return 0


cdef object call_wrapper(void* wrapper, tuple arguments):
    """Call a wrapper that is known by its address."""
    return gradspec_call_wrapper(wrapper, arguments)


cdef object listened(ThreadState* state, str name, void* wrapper, tuple inputs):
    """Call a wrapper between the two halves of its event; or the batched call in its place if an operand is a batch."""
    cdef ThreadObjects objects = thread_objects()
    cdef Event event
    cdef object outputs
    if objects.mapping is not None:
        outputs = objects.mapping.call(name, wrapper_at(wrapper), inputs)
        if outputs is not NotImplemented:
            return outputs
        if not objects.listeners:
            state.told = state.flags & LISTENING != 0
            return gradspec_call_wrapper(wrapper, inputs)
    event = begin_event(state, "operator", name, inputs, None)
    state.told = state.flags & LISTENING != 0  # nothing runs between here and the wrapper's test
    try:
        outputs = gradspec_call_wrapper(wrapper, event.inputs)
    except BaseException as error:
        state.told = False
        end_event(state, event, None, error)
        raise
    end_event(state, event, outputs, None)
    return outputs


class span:
    """An event of the kind "range" around everything inside of this `with`, under a name.

    Parameters
    ----------
    name : str
    args : str, optional
        Further information about it.
    """

    def __init__(self, name, args=None):
        self.name, self.args, self._events = name, args, []

    def __enter__(self):
        cdef ThreadState* state = thread_state()
        inputs = () if self.args is None else (self.args,)
        self._events.append(begin_event(state, "range", self.name, inputs, None) if state.flags & LISTENING else None)
        return self

    def __exit__(self, kind, error, traceback):
        event = self._events.pop()
        if event is not None:
            end_event(thread_state(), event, None, error)


cdef int tell_of_mode(str name, unsigned int flags) except -1:
    """Tell that a mode was entered or left; the event has the modes in force now."""
    cdef bint grad = not flags & GRAD_DISABLED, inference = flags & INFERENCE != 0, forward = not flags & FORWARD_DISABLED
    return note_event(thread_state(), "mode", name, (), {"grad": grad, "inference": inference, "forward": forward})


new_watch = None
modes.mode_changed = tell_of_mode

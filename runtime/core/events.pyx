# cython: boundscheck=False, wraparound=False
"""Events: what a program does, told to those who listen.

Owns the one stream that profiles, traces and searches for NaN are made of: who listens in a thread, the order in which
listeners hear of an event, and what becomes of one that fails.  A wrapper, the engine or a mode asks one bit of the thread's
flags, LISTENING; all else is here, and is paid for by those who listen.  A vmap stands at the same place: what it makes of an
operator on batches is what listeners hear of.  Knows neither operators nor what listeners and vmap do.
"""

import sys
import warnings

from cpython.object cimport Py_TYPE
from libc.stdint cimport int64_t, uint64_t

from .grad_mode cimport (
    BY_OPERATOR, FORWARD_DISABLED, GRAD_DISABLED, INFERENCE, LISTENING, MAPPED, ThreadObjects, ThreadState, thread_objects,
    thread_state,
)
from . cimport grad_mode as modes
from .node cimport Node
from .provenance cimport current_line, line_of
from ..support.capi cimport Py_REFCNT
from .tensor cimport tensor_type

cdef extern from "gradspec/core/wrapper_call.h":
    object gradspec_call_wrapper(void*, tuple)

cdef enum Moment:
    BEGIN
    END
    NOTE


cdef class Event:
    """Something that a program did.

    Attributes
    ----------
    kind : str
        "operator", "function" (a custom Function), "node" (of a backward pass), "hook", "pass" (a whole backward pass),
        "deferred" (gradients that a pass put off, computed together), "tangent" (the derivative of the operator around it
        in forward mode), "callback" (a Python function that the program calls with its numbers) and "range" (named by the user;
        also a custom Function or a hook that is declared pure) begin and end.  "mode", "made" (a tensor out of numbers, or a
        copy that no operator makes), "write" (by no operator), "left" (numbers out of a tensor), "draw" and "memory" are
        single moments.
    name : str
        Of an operator the name of its entry, with `_` where it writes in place and `.out` where it writes to `out=`; of a
        node its class; of a value that left the method that took it; of memory the event that brought the array.
    inputs : tuple
        What it was called with, as it was passed; gradients where it is a node.
    outputs : object
        What it gave, None before its end.
    error : BaseException or None
        What it raised.  A listener may set it at the end of an event: it is raised when all have heard.
    node : Node or None
        The node that runs.
    parent : Event or None
        The event around this one: a composite operator is around its parts, a pass around its nodes.
    depth : int
        How many events are around it.
    sequence_nr : int
        Of a node that runs its number.  Of an operator the number of the next node that is made: its own, if it records one.
    bytes : int
        Of memory: of the array that came, or less than 0 of the one that died.
    line : tuple or None
        File, number of the line and function of the user's code; of a node the line that recorded it.
    """

    @property
    def line(self):
        return line_of(self.origin)

    def replace_inputs(self, tuple inputs):
        """Have an operator called with other arguments; for a listener that is told of its beginning."""
        self.inputs = inputs

    def __repr__(self):
        return f"<Event {self.kind} {self.name}{' failed' if self.error is not None else ''}>"


cdef class Listener:
    """Hears of what the thread does from `start()` to `stop()`, or inside a `with`.

    A subclass overrides `begin`, `end` and `note`.  What these compute is no event.  A listener that raises is named in a
    warning and taken off; the program goes on.  Listeners do not see each other.

    Attributes
    ----------
    by_operator : bool
        Whether backward passes run as operators on tensors, which are events of their own inside of each node, rather than
        as programs on arrays.  False by default: to be told of operators only where they run anyway costs a pass nothing.
    memory : bool
        Whether `note` is told of arrays that own their memory: when an event has given one, and when it dies.  False by default.
        An array that was there before, or that lives inside of an operator only, is not seen.

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
        """Something begins; the inputs are there."""

    cpdef end(self, Event event):
        """It has ended; outputs or an error are there."""

    cpdef note(self, Event event):
        """Something happened that has no duration."""

    cdef object hear_of_memory(self, int64_t nbytes, str name, uint64_t origin):
        """An array came or died: an event for `note`, where a listener in C may do without one.  What it wants raised."""
        return tell_of_memory(self, nbytes, name, origin)

    def start(self):
        """Listen to this thread from now on.

        Returns
        -------
        Listener
            This one.

        Raises
        ------
        RuntimeError
            It listens already.
        """
        cdef ThreadObjects objects = thread_objects()
        if self in objects.listeners:
            raise RuntimeError(f"{type(self).__name__}: listens in this thread already; make another one, or stop() it first")
        if self.memory:
            self.watch = new_watch(self)
            objects.listeners = objects.listeners + (self.watch,)  # which has told of the arrays when the event ends
        objects.listeners = objects.listeners + (self,)
        set_flags(objects)
        return self

    def stop(self):
        """Listen no more.  A listener that does not listen in this thread stays as it is."""
        cdef ThreadObjects objects = thread_objects()
        remove(objects, self)
        set_flags(objects)

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc_info):
        self.stop()


cdef int remove(ThreadObjects objects, Listener listener) except -1:
    """Listen no more, nor look for arrays."""
    cdef Listener watch = listener.watch
    objects.listeners = tuple([one for one in objects.listeners if one is not listener and (watch is None or one is not watch)])
    listener.watch = None
    return 0


cdef int set_flags(ThreadObjects objects) except -1:
    """The bits that say whether anybody listens, and whether passes run by operators."""
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
    """Whether somebody listens to what this thread does."""
    return bool(thread_state().flags & LISTENING)


def set_mapping(mapping):
    """Let operators of this thread ask whether an operand stands for a batch.

    Parameters
    ----------
    mapping : object or None
        Has `call(name, wrapper, inputs)`, which gives what an operator gives for batches, or NotImplemented where no operand is
        one, `note(kind, name, inputs)`, which refuses what cannot be done with a batch, and `gave(tensor)`, which hears of each
        new tensor that is none.

    Returns
    -------
    object or None
        The one before.
    """
    cdef ThreadObjects objects = thread_objects()
    previous, objects.mapping = objects.mapping, mapping
    set_flags(objects)
    return previous


def current_mapping():
    """What `set_mapping` has set, None where no vmap is open."""
    return thread_objects().mapping


cdef class Wrapper:
    """A wrapper that is known by its address, for those who call it from Python."""

    cdef void* address

    def __call__(self, *arguments):
        return gradspec_call_wrapper(self.address, arguments)

    def parts(self, *arguments):
        """Run its own lines, whatever the operands are: those of a composite operator are operators again."""
        thread_state().told = True
        return gradspec_call_wrapper(self.address, arguments)


cdef Wrapper wrapper_at(void* address):
    cdef Wrapper wrapper = Wrapper.__new__(Wrapper)
    wrapper.address = address
    return wrapper


cdef int tell(ThreadState* state, Moment moment, Event event) except -1:
    """Let all listeners know, none of which is listened to itself."""
    cdef ThreadObjects objects = thread_objects()
    cdef Listener listener
    state.flags &= ~<unsigned int> (LISTENING | BY_OPERATOR)
    try:
        for listener in objects.listeners:
            if moment == END and event.heard is not objects.listeners and listener not in event.heard:
                continue  # it began to listen in the midst of the event
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
    """Let one listener know of an array, also inside of another event and of another listener; returns what it wants raised."""
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
    """A listener has failed: that is its own affair, not the program's."""
    remove(objects, listener)
    method = ("begin", "end", "note")[<int> moment]
    text = (f"{type(listener).__name__}.{method} raised {type(error).__name__}: {error}, at {event.kind} {event.name}; "
            "it listens no more")
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    except Warning:  # warnings are errors: it is still not the program's
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
    """Tell that something begins; who calls this has to call `end_event`, too."""
    cdef ThreadObjects objects = thread_objects()
    cdef Event event = new_event(state, kind, name, inputs, node)
    event.heard = objects.listeners
    tell(state, BEGIN, event)
    objects.event = event
    return event


cdef int end_event(ThreadState* state, Event event, object outputs, object error) except -1:
    """Tell that it has ended; raises what a listener wants raised."""
    cdef ThreadObjects objects = thread_objects()
    event.outputs, event.error, event.ended = outputs, error, True
    while objects.event is not None and (<Event> objects.event).ended:  # ranges may end in another order than they began
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
        if kind == "made" and is_plain(outputs):
            objects.mapping.gave(outputs)
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


cdef inline bint is_plain(object value) noexcept:
    """Whether a value is a tensor, of no subclass; who asks for one that is new asks for its only reference as well."""
    return Py_TYPE(value) == tensor_type


cdef object listened(ThreadState* state, str name, void* wrapper, tuple inputs):
    """Call a wrapper between the two halves of its event; or what stands for it where an operand is a batch."""
    cdef ThreadObjects objects = thread_objects()
    cdef Event event
    cdef object outputs
    if objects.mapping is not None:
        outputs = objects.mapping.call(name, wrapper_at(wrapper), inputs)
        if outputs is not NotImplemented:
            return outputs
        if not objects.listeners:
            state.told = state.flags & LISTENING != 0
            outputs = gradspec_call_wrapper(wrapper, inputs)
            if objects.mapping is not None and is_plain(outputs) and Py_REFCNT(outputs) == 1:
                objects.mapping.gave(outputs)
            return outputs
    event = begin_event(state, "operator", name, inputs, None)
    state.told = state.flags & LISTENING != 0  # nothing stands between here and the wrapper's question
    try:
        outputs = gradspec_call_wrapper(wrapper, event.inputs)
    except BaseException as error:
        state.told = False
        end_event(state, event, None, error)
        raise
    if objects.mapping is not None and is_plain(outputs) and Py_REFCNT(outputs) == 1:
        objects.mapping.gave(outputs)
    end_event(state, event, outputs, None)
    return outputs


class span:
    """Everything inside of this `with`, under a name: an event of the kind "range".

    Parameters
    ----------
    name : str
    args : str, optional
        What else is to be known of it.
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
    """A mode was entered or left: what is in force now."""
    cdef bint grad = not flags & GRAD_DISABLED, inference = flags & INFERENCE != 0, forward = not flags & FORWARD_DISABLED
    return note_event(thread_state(), "mode", name, (), {"grad": grad, "inference": inference, "forward": forward})


new_watch = None
modes.mode_changed = tell_of_mode

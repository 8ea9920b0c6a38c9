# cython: boundscheck=False, wraparound=False
"""Tracer: record the tree of a program's calls, operators within operators, over values.

Turns events into calls: finds the value of each argument, the constants, and changes made without an operator, and notes numbers
that Python read.  Does not depend on text.
"""

import os

from ...core.events cimport Event, Listener
from ...core.tensor cimport TensorBase, is_tensor
from ...support.capi cimport PyArray_ITEMSIZE, ndarray
from ...support.errors import CallTypeError
from .arrays import bounds, held, key_of, owner_of
from .arrays cimport mapped
from .entries import entry_of
from .values import copied, held_generator
from .values cimport Memory, Value, values_in

# Operators, and the runtime's own changes of memory, which are recorded as operators.
STEPS = ("operator", "write", "made")


cdef class Call:
    """A recorded call: an operator, or a group of calls such as the tangents of an operator.

    Attributes
    ----------
    kind : str
        As in an Event.
    name : str
        Name of an operator as in its event: `add`, `add_`, `add.out`.
    arguments, outputs : tree
        With values for arrays.
    parts : list of Call
        The calls inside.
    line : tuple or None
    """

    def __init__(self, str kind, str name, arguments=(), line=None):
        self.kind, self.name, self.arguments, self.line = kind, name, arguments, line
        self.around = ()

    @property
    def parts(self):
        return self.inside or []

    cdef int add(self, Call part) except -1:
        if self.inside is None:
            self.inside = []
        self.inside.append(part)
        return 0

    @property
    def writes(self):
        """Whether the call writes to memory that existed before."""
        return self.kind == "write" or self.name.endswith(("_", ".out"))

    @property
    def target(self):
        """The value that the call writes to."""
        return self.arguments[len(self.arguments) - 1] if self.name.endswith(".out") else self.arguments[0]

    def below(self):
        """The call, followed by all calls inside it, in order."""
        yield self
        for part in self.parts:
            yield from part.below()


cdef class Recorder(Listener):
    """Records the calls of a thread; backward passes are recorded by operator.

    Parameters
    ----------
    values : Memory
    """

    by_operator = True

    def __init__(self, Memory values):
        self.met = values
        self.root = self.open = Call("program", "")
        self.notes, self.failure, self.lines = [], None, {}

    # Events.  Failures are raised after the call: an error in a listener would only remove the listener.

    cpdef begin(self, Event event):
        if self.failure is None and not self.is_muted(event):
            try:
                self.opened(event)
            except Exception as error:
                self.failure = error

    cpdef end(self, Event event):
        if self.failure is None and not self.is_muted(event):
            try:
                self.closed(event)
            except Exception as error:
                self.failure = error

    cpdef note(self, Event event):
        if self.failure is None and not self.is_muted(event):
            try:
                self.noted(event)
            except Exception as error:
                self.failure = error

    cdef bint is_muted(self, Event event):
        """Whether the event belongs to a callback: its actions are not part of the program."""
        return self.open.kind == "callback" and self.open.event is not event

    cpdef opened(self, Event event):
        cdef bint has_values = event.kind == "operator" or event.kind == "pass" or event.kind == "callback"
        arguments = self.tree(event.inputs, event) if has_values else ()
        cdef Call call = Call.__new__(Call)
        call.kind, call.name, call.arguments, call.line, call.around = event.kind, event.name, arguments, self.line_at(event), ()
        call.event, call.host = event, self.open
        self.open.add(call)
        self.open = call

    cpdef closed(self, Event event):
        cdef Call call = self.open, one
        while call.event is not event:  # ranges may end in a different order than they began
            call = call.host
            if call is None:
                raise RuntimeError(f"{event.kind} {event.name} ends but was never begun")
        while True:
            one = self.open
            self.open = one.host
            one.event = one.host = None
            if one is call:
                break
        if event.kind == "callback":
            self.called_back(event, call)
        if event.kind != "operator":
            return
        if event.error is not None:
            self.failed(call, event)
        else:
            call.outputs = self.result(event.outputs, call) if is_tensor(event.outputs) else self.results(event.outputs, call)
            if call.name.endswith("_") and type(call.outputs) is Value and call.outputs is not call.arguments[0]:
                call.name = call.name.removesuffix("_")  # the tensor became a view of its former self: nothing is written

    def called_back(self, Event event, Call call):
        text = f"{place(event.line)}: {event.name} was called back, and is not called by this program"
        if text not in self.notes:
            self.notes.append(text)

    def results(self, outputs, Call call):
        return mapped(outputs, lambda item: self.result(item, call))

    cpdef noted(self, Event event):
        cdef Call call
        if event.kind == "write":
            target, value = event.inputs
            name = "copy_" if held(value) is not None else "fill_"
            call = self.step("write", name, (self.leaf(target, event), self.leaf(value, event)), event)
            call.outputs = call.arguments[0]
        elif event.kind == "made":
            self.made(event)
        elif event.kind == "draw":
            generator = held_generator(event.outputs)
            if event.inputs[0] is None or held_generator(event.inputs[0]) is not None:
                self.drawn(self.met.source(generator))
        elif event.kind == "left":
            self.left(event)

    cdef tuple line_of(self, object event):
        """The user's line; in a backward pass, the line that recorded the node."""
        return self.line_at(<Event> event) if isinstance(event, Event) else event.line

    cdef tuple line_at(self, Event event):
        cdef Call call = self.open
        while call is not None:
            if call.event is not None and call.kind == "node":
                event = call.event
                break
            call = call.host
        found = self.lines.get(event.origin, self)
        if found is self:
            found = self.lines[event.origin] = event.line
        return <tuple> found

    # Calls and notes from events.

    cpdef drawn(self, source):
        """Enter the default generator as the argument of the calls that were made without a generator."""
        for call in calls_around(self.open):
            entry = entry_of(call.name) if call.kind == "operator" else None
            if entry is not None:
                call.arguments = tuple([source if item is None and kind.startswith("Generator") else item
                                        for item, (_, kind, _, _) in zip(call.arguments, entry.arguments)])

    cpdef Call step(self, str kind, str name, object arguments, object event):
        cdef Call call = Call(kind, name, arguments, self.line_of(event))
        self.open.add(call)
        return call

    cdef int failed(self, Call call, Event event) except -1:
        """Remove an operator whose error was caught; refused if it had already written."""
        if any([part.writes for part in call.below() if part is not call]):
            what = f"{call.name} failed after it had begun to write"
            raise self.refusal(what, event.line, "write what the call does without the error")
        self.open.inside.remove(call)
        return 0

    cpdef made(self, Event event):
        """A tensor made without an operator: a copy of values, or new numbers."""
        data, array = event.inputs[0], held(event.outputs)
        if self.met.known(array) is not None:
            return
        if not any([self.is_known(part) for part in arrays_in(data)]):
            return  # plain numbers become a constant when they are used
        known = self.tree(data, event)
        if isinstance(known, Value) and known.dtype == array.dtype:
            call = self.step("made", "copy", (known,), event)
        else:
            call = self.step("made", "tensor", (known, array.dtype), event)
        call.outputs = self.result(event.outputs, call)

    def is_known(self, ndarray array):
        return self.met.known(array) is not None or self.met.block(array) is not None

    cpdef left(self, Event event):
        value = self.met.known(held(event.inputs[0]))
        own = self.is_inside() if value is None else value.kind != "constant"  # an unknown array may be an operator's result
        if not own:
            return
        what = "its truth" if event.name == "bool" else "its numbers" if event.name in ("numpy", "tolist") else "its number"
        text = f"{place(event.line)}: {event.name}() gave {what} to Python: values computed from it are constants here"
        if text not in self.notes:
            self.notes.append(text)

    # Arguments and results.

    cdef object tree(self, object item, object event):
        """Arguments, with values for arrays."""
        if is_tensor(item):
            return self.leaf(item, event)
        if type(item) is tuple:
            return tuple([self.tree(part, event) for part in <tuple> item])
        if item is None or type(item) in (int, float, bool, str):
            return item
        if type(item) is list:
            return [self.tree(part, event) for part in <list> item]
        return self.nest(item, event)

    def nest(self, item, event):
        return mapped(item, lambda leaf: self.leaf(leaf, event))

    cpdef object leaf(self, object item, object event):
        """The form of an argument in the program."""
        array = (<TensorBase> item).array if is_tensor(item) else held(item)
        if array is not None:
            return self.value(<ndarray> array, event)
        if item is None or type(item) in (int, float, bool, str):
            return item
        generator = held_generator(item)
        return item if generator is None else self.met.source(generator)

    cpdef Value value(self, ndarray array, object event):
        """The value of an array: known, a new view of known memory, or a constant."""
        cdef Value value = self.met.known(array), constant
        cdef tuple block
        if value is not None:
            return value
        block = self.met.block(array)
        if block is not None:
            return self.looked_at(array, <Value> block[1], <ndarray> block[2], event)
        owner = owner_of(array)
        if owner.dtype.kind not in "fciub" or owner.nbytes > 4 * array.nbytes + 4096:
            owner = array
        constant = self.met.enter(owner, "constant")
        constant.data, constant.line, constant.hosts = copied(owner), event.line, calls_around(self.open)
        constant.inner = self.open.name if self.is_inside() else None
        if key_of(owner) == key_of(array):
            return constant
        return self.looked_at(array, constant, owner, event)

    cpdef bint is_inside(self):
        """Whether the runtime is running, rather than the user's function."""
        cdef Call call = self.open
        while call is not None:
            if call.kind == "operator" or call.kind == "node" or call.kind == "tangent":
                return True
            call = call.host
        return False

    cdef object looked_at(self, ndarray array, Value whole, ndarray known, object event):
        """A view, made without an operator, of a value's memory in a different layout."""
        cdef Call call
        cdef Value value
        start, size = bounds(owner_of(known))[0], PyArray_ITEMSIZE(array)
        if (<object> array).dtype != (<object> known).dtype or any([stride % size for stride in (<object> array).strides]):
            raise self.refusal(f"an array of dtype {array.dtype} looks at memory of {whole.type} by no operator", event.line,
                               "copy it, or use view_as_real and view_as_complex")  # fmt: skip
        offset = (array.__array_interface__["data"][0] - start) // size
        strides = tuple([stride // size for stride in (<object> array).strides])
        call = self.step("made", "as_strided", (whole, (<object> array).shape, strides, offset), event)
        value = self.met.enter(array, "result")
        value.definer = call
        call.outputs = value
        return value

    cpdef object result(self, object item, Call call):
        """The value of an output: new or known."""
        cdef Value value
        array = (<TensorBase> item).array if is_tensor(item) else held(item)
        if array is None:
            return item
        value = self.met.known(<ndarray> array)
        if value is None:
            value = self.met.enter(<ndarray> array, "result")
            value.definer = call
        elif value.hosts and call in value.hosts:  # a tangent read the operator's result before the operator ended
            value.kind, value.definer, value.data, value.hosts = "result", call, None, ()
        elif value.definer is not call and (is_computed(call) or is_computed(value.definer)):
            text = f"{place(call.line)}: a view at a computed place is the same as another view here, and has to be where the " \
                   "program is run"
            if text not in self.notes:
                self.notes.append(text)
        return value

    def refusal(self, what, line, way_out):
        return CallTypeError(f"trace: {what}, at {place(line)}; {way_out}")


cdef bint is_computed(Call call) except -1:
    """Whether a call takes a view at an index that was computed."""
    entry = None if call is None else entry_of(call.name)
    if entry is None or entry.view is None:
        return False
    for (_, kind, _, _), item in zip(entry.arguments, call.arguments):
        if kind.startswith("Index") and any([value.kind != "constant" for value in values_in(item)]):
            return True
    return False


cpdef list calls_around(Call call):
    """A running call and its enclosing calls, the outermost first."""
    cdef list found = []
    while call is not None:
        found.append(call)
        call = call.host
    return found[::-1]


def arrays_in(tree):
    """The arrays and tensors among the leaves of a tree, as arrays."""
    found = []
    mapped(tree, lambda leaf: found.append(held(leaf)))
    return [array for array in found if array is not None]


def place(line):
    """File and number of a line."""
    return "an unknown line" if line is None else f"{os.path.basename(line[0])}:{line[1]}"


def reads(Call call):
    """The values among a call's arguments."""
    return values_in(call.arguments)

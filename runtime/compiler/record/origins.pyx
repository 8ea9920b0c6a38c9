# cython: boundscheck=False, wraparound=False
"""Origins: record the operators of a call and the values that Python read.

Adds a guard for each value that Python reads, and refuses actions that a replay would not repeat.
"""

from sys import setprofile

import numpy as np

from ...core.events cimport Event
from ...core.grad_mode import enable_grad
from ...core.conversion import tensor
from ...support.capi cimport ndarray
from ...support.generator import as_generator
from ..tracing.arrays import held
from ..tracing.entries import entry_of
from ..tracing.instructions import CALLBACK, GUARD
from ..tracing.tracer cimport Call, Recorder
from ..tracing.tracer import arrays_in, place
from ..tracing.values import held_generator
from ..tracing.values cimport Memory, Value, values_in
from .side_effects import Watched
from .executed_code import Draws
from .captured_state import Unfit


cdef dict plain = {}  # name of an operator -> positions of the arguments that are not arrays


cdef class CallRecorder(Recorder):
    """Records a call, with the origin of each array.

    Attributes
    ----------
    there : set of int
        Identities of the objects that existed before the call.  A generator outside this set draws the same numbers at each call.
    placed : set of Value
        Memory of inputs or captured arrays that has a view whose offset depends on index values.
    draws : Draws
        Random generators, which only operators may advance.
    otherwise : set of str
        Kinds of floating-point errors whose mode at some operator differs from the mode at the start; names of `numpy.geterr`.
    """

    cdef public set there, placed, otherwise
    cdef public object draws, errors, caught
    cdef public dict loose          # entries that callbacks have changed
    cdef public object default      # the default generator at the start of the call
    cdef object captured_state, weak, watched, first, executed

    def __init__(self, Memory memory, set there, captured_state, weak, executed):
        Recorder.__init__(self, memory)
        self.there, self.captured_state, self.weak, self.executed = there, captured_state, weak, executed
        self.placed, self.otherwise, self.loose = set(), set(), {}
        self.first, self.default = first_number(), as_generator(None, "compile", "generator")
        self.draws, self.errors = Draws([*captured_state.generators, self.default]), np.geterr()

    def start(self):
        """Listen to operators and to calls of Python functions."""
        Recorder.start(self)
        setprofile(self.executed.told)

    def stop(self):
        setprofile(None)
        Recorder.stop(self)

    cpdef begin(self, Event event):
        if event.kind == "operator" and self.weak.found:
            self.weak.promote(self, event)
        Recorder.begin(self, event)

    cpdef end(self, Event event):
        Recorder.end(self, event)
        if event.error is None and self.weak.found:
            self.weak.close(event)

    cpdef opened(self, Event event):
        if event.kind == "operator":
            self.numbers_of_tensors(event)
        if event.kind == "node" or event.kind == "operator" and not self.is_inside():
            self.otherwise.update([kind for kind, way in np.geterr().items() if way != self.errors[kind]])
        Recorder.opened(self, event)
        if event.kind == "node":
            if event.sequence_nr < self.first and event.name != "AccumulateGrad":
                raise Unfit(f"a backward pass reaches {event.name}, which was recorded before the call: "
                            "compile the function that contains both")
        elif event.kind == "callback":
            self.watched = Watched(event.inputs[0], set(self.captured_state.seen), self.captured_state.loose)
            self.executed.muted += 1
        elif event.kind == "hook":
            raise Unfit(f"a hook ran at {place(event.line)}")
        elif event.kind == "function":
            raise Unfit(f"{event.name}, a custom Function, ran at {place(event.line)}")

    cpdef closed(self, Event event):
        cdef Call call = self.open
        Recorder.closed(self, event)
        if event.kind == "operator" and self.is_outermost():
            self.draws.end()
        if event.kind == "operator" and event.error is None and type(call.outputs) is Value and call.event is None:
            self.settle(call, event)

    cdef int settle(self, Call call, Event event) except -1:
        """Guard the index values that determine the offset of a view."""
        cdef Value look = call.outputs, value
        entry = entry_of(call.name)
        if entry is None or entry.view is None:
            return 0
        told = [(kind, item) for (_, kind, _, _), item in zip(entry.arguments, event.inputs)]
        if any([kind == "int?" and item is None for kind, item in told]):
            return 0  # no position is given: the view has the offset of the array
        for kind, item in told:
            if kind.startswith("Index"):
                for array in arrays_in(item):
                    value = self.met.known(array)
                    if value is not None and value.kind != "constant":
                        self.root.add(Call("made", GUARD, (value, array.tobytes()), self.line_at(event)))
                        if (look if look.shared is None else look.shared).kind != "result":
                            self.placed.add(look.memory)
        return 0

    cdef int failed(self, Call call, Event event) except -1:
        """Note a caught error: a call whose operator does not fail takes a different path."""
        if not is_of_shapes(call, event):
            self.caught = f"an error of {call.name} at {place(event.line)} is caught"
        return Recorder.failed(self, call, event)

    cdef bint is_outermost(self):
        """Whether the next instruction belongs to the function itself or to a named range in it."""
        cdef Call call = self.open
        while call is not None:
            if call.kind != "program" and call.kind != "range":
                return False
            call = call.host
        return True

    def called_back(self, Event event, Call call):
        """End a callback: it is one instruction, regardless of its actions."""
        self.executed.muted -= 1
        if event.error is not None:
            return
        self.loose.update(self.watched.changes())
        for way in self.watched.strangers(self.met, {id(item) for _, item in self.captured_state.tensors}):
            raise Unfit(f"the callback at {place(event.line)} holds {way}, an array of this call: give it as an argument")
        step = self.step("made", CALLBACK, call.arguments, event)
        step.outputs = self.results(event.outputs, step) if event.inputs[0].wanted else None

    cdef int numbers_of_tensors(self, Event event) except -1:
        """Guard a tensor passed for a number argument of an operator: later values may depend on the number without a trace."""
        cdef tuple places = plain.get(event.name)
        if places is None:
            entry = entry_of(event.name)
            places = plain[event.name] = tuple([
                i for i, (_, kind, _, _) in enumerate(entry.arguments if entry else ())
                if not kind.startswith(("Array", "Index", "Mask", "Generator"))
            ])
        for i in places:
            item = event.inputs[i] if i < len(event.inputs) else None
            if item is None or type(item) in (int, float, bool, str):
                continue
            for array in arrays_in(item):
                value = self.met.known(array)
                if value is not None and value.kind != "constant" and not self.is_inside():
                    self.step("made", GUARD, (value, array.tobytes()), event)
        return 0

    cpdef bint is_inside(self):
        cdef Call call = self.open
        while call is not None:
            if call.kind == "operator" or call.kind == "node" or call.kind == "tangent" or call.kind == "pass":
                return True
            call = call.host
        return False

    cpdef drawn(self, source):
        """A draw from the default generator is repeated at each call, so nothing is noted."""

    cpdef object leaf(self, object item, object event):
        array = held(item)
        if array is not None:
            return self.value(<ndarray> array, event)
        if item is None or type(item) in (int, float, bool, str):
            return item
        if item is self.default and id(item) not in self.captured_state.seen:
            return None  # the operator was called without a generator; a new seed may replace the default one
        generator = held_generator(item)
        if generator is not None and id(item) not in self.there and id(generator) not in self.there:
            raise Unfit(f"numbers are drawn at {place(event.line)} from a generator that is created in the call; create it outside")
        return item

    cpdef left(self, Event event):
        array = held(event.inputs[0])
        if array is None or event.name == "shape":
            return
        if self.met.known(array) is None and self.met.block(array) is None:
            return  # values computed inside the call
        self.step("made", GUARD, (self.value(array, event), array.tobytes()), event)

    cpdef noted(self, Event event):
        if event.kind == "draw":
            self.draws.begin(held_generator(event.outputs))
        Recorder.noted(self, event)


cdef bint is_of_shapes(Call call, Event event) except -1:
    """Whether shapes and dtypes alone determine that an operator fails: it reads no indices and is linear or partially linear."""
    entry = entry_of(call.name)
    if entry is None or entry.form not in ("partial", "linear", "multilinear") or isinstance(event.error, ArithmeticError):
        return False
    return all([value.dtype.kind in "fc" for value in values_in(call.arguments)])


def first_number():
    """The sequence number of the next node, or a later one."""
    with enable_grad():
        return (tensor(1.0, requires_grad=True) * 1).grad_fn._sequence_nr()

# cython: boundscheck=False, wraparound=False
"""Lowering: translate instructions over values into an executable over slots.

Decides the memory of each value: memory that dies inside the program is planned and used again, results are fresh, and views are
places in other memory without cost.  An operator that is one inner loop over plain arrays becomes that loop.  Other operators are
called, by their forward on arrays or by their wrapper.  Consecutive loops over many elements run block by block.
"""

from ..tracing.instructions cimport Instruction, layouts_of
from ..tracing.values import copied
from ..tracing.values cimport Value, lies_in, memory_of, values_in
from .call_conventions import Filler, arrays_in, caller, is_kernel
from ..record.capture import GUARD, Unfit
from ..record.side_effects import CALLBACK, does_something
from .kernel_calls import forward_from
from .inspection import after_steps
from .loop_fusion import assign_blocks, fuse_loops
from .row_fusion import fuse_rows
from .failures import is_call, is_steady, last_call
from .result_aliasing import alias_results
from .inner_loops import loop_from, plain, rows_from, sum_from
from .data_movement import pieces_of
from .horizontal_fusion import fuse_siblings
from .buffer_assignment import Lifetimes, assign_buffers, by_size, insert_frees
from ..execute.low_level_ir cimport Loop, Slot, Step, step_of
from ..execute.low_level_ir import Sum
from ..execute.executable import Executable

import numpy as np

BEFORE = Instruction("constant", (), None, None)


cdef class Lowered:
    """A program that is ready to run.

    Attributes
    ----------
    executable : Executable
    results : list of Value
        The executable's results, in order.
    """

    cdef readonly list inputs, returned, lines
    cdef readonly dict anchors, places
    cdef readonly list slots, steps, externals, given, written
    cdef readonly tuple results
    cdef readonly object executable, memory
    cdef readonly bint restartable  # whether no write to an input precedes a possible error
    cdef object lives       # lifetimes of the slots, during `arrange`
    cdef dict numbers       # identity of a number's array -> its slot
    cdef set escaping, born, touched
    cdef list constants
    cdef dict shadows

    def __init__(self, list lines, list inputs, list returned):
        cdef Instruction line
        self.inputs, self.returned, self.lines = inputs, returned, lines
        self.escaping = {value.memory for value in returned}
        self.anchors = {}   # memory -> the values in it that have their own slots
        self.slots, self.steps, self.places, self.numbers = [], [], {}, {}
        self.externals, self.given, self.written = [], [], []  # given: numbers of the inputs that the executable uses
        self.shadows, self.restartable = {}, True
        self.find_memory()
        self.bind()
        for line in self.lines:
            self.lower(line)
        calls_back = next((n for n, line in enumerate(self.lines) if does_something(line)), len(self.lines))
        if any([is_call(line) for line in self.lines[calls_back:] if line.name != CALLBACK]):
            self.restartable = False
        self.write_back()
        self.results = tuple([self.result(value) for value in self.returned])
        self.arrange()
        self.anchors, self.born, self.touched, self.lives = {}, set(), set(), None  # needed only for lowering
        self.executable = Executable(self.slots, self.steps, self.memory, tuple(self.externals), self.results)

    def arrange(self):
        """Fuse large loops in the way that needs less memory, and assign memory to each slot."""
        steps, places = self.steps, [slot.place for slot in self.slots]
        pieces, joined = self.arranged(steps, places, False), self.memory
        if self.steps is not steps:
            pieces = self.arranged(steps, places, True)
            if self.memory >= joined:
                pieces = self.arranged(steps, places, False)
        self.steps, staying = alias_results(self.slots, self.steps, pieces)
        after_steps("alias_results", self.slots, self.steps)
        if len(staying) < len(pieces):
            self.memory = by_size(staying, self.memory)
            self.lives = Lifetimes(self.slots, self.steps)
        self.steps = after_steps("insert_frees", self.slots, insert_frees(self.slots, self.steps, self.results, self.lives))

    def arranged(self, list steps, list places, bint sparing):
        """Fuse loops in one of the two ways; returns the pieces of memory that it needs."""
        for slot, place in zip(self.slots, places):
            slot.place = place
        self.steps = after_steps("fuse_rows", self.slots, fuse_rows(self.slots, steps, sparing))
        self.steps = after_steps("fuse_loops", self.slots, fuse_loops(self.slots, self.steps, sparing))
        self.steps = after_steps("fuse_siblings", self.slots, fuse_siblings(self.slots, self.steps))
        self.steps = after_steps("assign_blocks", self.slots, assign_blocks(self.slots, self.steps))
        self.lives = Lifetimes(self.slots, self.steps)
        self.memory, pieces = assign_buffers(self.slots, self.steps, self.lives)
        return pieces

    # Memory.

    cdef int find_memory(self) except -1:
        """Find the memory that is used, and the memory that existed before the program."""
        cdef Instruction line
        cdef Value value, memory
        cdef set made
        self.born = {value.memory for value in self.inputs}
        self.touched = set(self.escaping)
        self.constants = []
        made = set(self.born)
        for line in self.lines:
            for value in line.read:
                memory = memory_of(value)
                self.touched.add(memory)
                if memory not in made:
                    self.constants.append(memory)
                    made.add(memory)
            for value in line.made:
                memory = memory_of(value)
                made.add(memory)
                self.touched.add(memory)
        self.constants += [value.memory for value in self.returned if value.memory not in made]
        return 0

    def bind(self):
        """Create slots for the inputs that the program uses, and for constants."""
        cdef Instruction line
        cdef Value value
        inputs = {}
        for number, value in enumerate(self.inputs):
            inputs.setdefault(value, number)
        targets = {line.target.memory for line in self.lines if line.target is not None}
        given = {value.memory for value in inputs}
        held_up = self.can_miss_behind_writes(targets & given)
        early = {line.target.memory for line in self.lines[: max(last_call(self.lines, given), 0)] if line.target is not None}
        shared = {value.memory for value in inputs if value.memory is not value}
        for value, number in inputs.items():
            if value.memory not in self.touched:
                continue
            self.anchor(value, self.slot("external", value))
            self.externals.append(self.places[value])
            self.given.append(number)
            if value.memory in targets:
                self.written.append(number)
                if held_up or value in early - shared and value.layout.dense:  # a failed call leaves no partial write
                    self.put_off(value)
                elif value.memory in early:
                    self.restartable = False
        for value in dict.fromkeys(self.constants):
            if value.data is None:
                raise Unfit(f"{value.type} was not computed by any recorded instruction")
            if value in targets:
                self.anchor(value, self.slot("called", value))
                self.call(copied, (value.data,), self.places[value], BEFORE)
            else:
                self.anchor(value, self.slot("constant", value, -1, 0, copied(value.data)))
            self.born.add(value)

    def can_miss_behind_writes(self, targets):
        """Whether a guard may fail after the program has written to an input."""
        cdef Instruction line
        begun = False
        for line in self.lines:
            if begun and not is_steady(line):
                return True
            begun = begun or line.target is not None and line.target.memory in targets
        return False

    def put_off(self, Value value):
        """Let the program write to a copy of an input; the copy is written back at the end."""
        if value.memory is not value or not value.layout.dense:
            raise Unfit("a write before a guard, to memory that the program's input is only a part of")
        outer = self.places[value]
        self.anchors.pop(value)
        self.anchor(value, self.slot("planned", value))
        self.shadows[value] = outer
        self.copy(self.places[value], outer, value)

    def write_back(self):
        """Copy the shadows back to the inputs: no guard can fail any more."""
        for value, outer in self.shadows.items():
            self.copy(outer, self.places[value], value)

    cdef int copy(self, int target, int source, Value value) except -1:
        size = value.layout.dtype.itemsize * value.layout.count
        self.steps.append(Step("copy", (target, source, size), "copy", None, (source,), (target,)))
        return 0

    cdef int slot(self, str place, Value value, int root=-1, Py_ssize_t offset=0, object data=None) except -1:
        cdef Slot slot = Slot.__new__(Slot)
        slot.fill(place, value.dtype, value.shape, value.strides, root, offset, data)
        self.slots.append(slot)
        return <int> len(self.slots) - 1

    cdef int place(self, Value value) except -1:
        """The slot of a value: its own, or a view of the memory that it shares."""
        cdef Value anchor
        found = self.places.get(value)
        if found is not None:
            return found
        anchor = self.anchor_of(value)
        self.places[value] = found = self.slot("view", value, self.places[anchor], <Py_ssize_t> (value.address - anchor.address))
        return found

    cdef Value anchor_of(self, Value value):
        """A value with its own slot that contains this value."""
        cdef Value anchor
        for anchor in self.anchors.get(memory_of(value), ()):
            if lies_in(value, anchor):
                return anchor
        raise Unfit(f"{value.type} is a view of memory that was never written, or of addresses beyond the given array")

    cdef int anchor(self, Value value, int place) except -1:
        """Give a value its own slot, which may contain other values of the same memory."""
        cdef list found = self.anchors.get(memory_of(value))
        self.places[value] = place
        if found is None:
            self.anchors[memory_of(value)] = [value]
        else:
            found.append(value)
        return 0

    cdef int result(self, Value value) except -1:
        """The slot of a result: for an input, the input itself and not the copy that the program writes to."""
        cdef Value memory = memory_of(value)
        if memory not in self.shadows:
            return self.place(value)
        if value is memory:
            return self.shadows[memory]
        self.anchor_of(value)
        return self.slot("view", value, self.shadows[memory], <Py_ssize_t> (value.address - memory.address))

    # Steps.

    cdef bint is_view(self, Instruction line) except -1:
        """Whether an instruction only returns views of existing memory; an empty result also counts as a view."""
        cdef Value value
        cdef bint looks = False
        if line.target is not None:
            return False
        for value in line.made:
            if memory_of(value) in self.born:
                looks = True
            elif value.layout.count:
                return False
        return looks

    cdef int lower(self, Instruction line) except -1:
        cdef Value value
        if line.name == GUARD:
            value, wanted = line.arguments
            place = self.place(value)
            if value.layout.count != 1:
                self.want(value)
            self.steps.append(Step("guard", (place, wanted), GUARD, line.line, (place,)))
        elif self.is_view(line):
            for value in line.made:
                if value.memory not in self.born:
                    self.anchor(value, self.slot("constant", value, -1, 0, np.empty(value.shape, value.dtype)))
        elif not self.as_loop(line) and not self.as_sum(line) and not self.as_kernel(line) and not self.as_move(line):
            self.as_call(line)
        for value in line.made:
            self.born.add(memory_of(value))
        return 0

    cdef int want(self, Value value) except -1:
        """The slot of a value that some step needs as a tensor."""
        cdef int place = self.place(value)
        (<Slot> self.slots[place]).object = True
        return place

    cdef bint as_loop(self, Instruction line) except -1:
        """Lower an operator to an inner loop, if it is one."""
        cdef Value out, value
        cdef tuple key = layouts_of(line), operands, reads
        cdef list places = []
        cdef int target
        cdef Loop inner
        loop = None if key is None else plain.get(key) or loop_from(line, key) or rows_from(line, key)
        if loop is None:
            return False
        inner = Loop.__new__(Loop)
        inner.operator, inner.which, operands, inner.strides, inner.size, inner.rows, inner.jumps = <tuple> loop
        out = line.outputs if line.target is None else line.target
        for value in line.read:
            if value is not out and memory_of(value) is memory_of(out):
                return False
        if line.target is None:
            if not self.can_make(out):
                return False
            self.make(out, line)
        for item in operands:
            places.append(self.place(<Value> line.given[item]) if type(item) is int else self.number(item))
        target, reads = self.place(out), tuple(places)
        inner.slots = (*reads, target)
        self.steps.append(step_of("rows" if inner.jumps else "loop", inner, line.name, line.line, reads, (target,)))
        return True

    cdef bint as_sum(self, Instruction line) except -1:
        """Lower an operator to a sum over plain memory, if it is one."""
        span = sum_from(line)
        if span is None or not self.can_make(line.outputs):
            return False
        self.make(line.outputs, line)
        slots = self.place(line.read[0]), self.place(line.outputs)
        self.steps.append(Step("sum", Sum(slots, *span), line.name, line.line, slots[:1], slots[1:]))
        return True

    cdef bint as_kernel(self, Instruction line) except -1:
        """Lower an operator to a kernel that writes to planned memory, if it has one."""
        cdef Value out, value
        cdef list places = []
        if not is_kernel(line) or not self.can_make(line.outputs):
            return False
        out = line.outputs
        for value in line.arguments:
            places.append(self.want(value))
        self.make(out, line)
        target = self.want(out)
        self.steps.append(Step("into", (line.name, (*places, target)), line.name, line.line, tuple(places), (target,)))
        return True

    cdef bint can_make(self, Value out) except -1:
        """Whether a step may write a result to new memory: it has no slot yet, and is C-contiguous if it leaves the program."""
        return out.shared is None and out not in self.places and (out not in self.escaping or out.layout.c_contiguous)

    cdef int make(self, Value out, Instruction line) except -1:
        """Create the memory of a result: fresh if it leaves the program."""
        cdef bint fresh = out in self.escaping
        cdef int place = self.slot("fresh" if fresh else "planned", out)
        self.anchor(out, place)
        if fresh:
            self.steps.append(Step("allocate", (place,), line.name, line.line, (), (place,)))
        return 0

    def as_move(self, Instruction line):
        """Lower a linear operator to copies of pieces of memory, if it only moves numbers."""
        out = line.outputs
        if line.target is not None or type(out) is not Value or not self.can_make(out):
            return False
        pieces = pieces_of(line)
        if pieces is None:
            return False
        places = [self.place(value) for value in line.read]
        self.make(out, line)
        given = tuple([(-1 if which < 0 else places[which], to, start, size) for which, to, start, size in pieces])
        target = self.places[out]
        self.steps.append(Step("move", (target, given), line.name, line.line, tuple(places), (target,)))
        return True

    cdef int number(self, data) except -1:
        """The slot of a constant: all loops with the same array share one."""
        place = self.numbers.get(id(data))
        if place is None:
            self.slots.append(Slot("constant", data.dtype, (), (), data=data))
            place = self.numbers[id(data)] = len(self.slots) - 1
        return place

    def as_call(self, Instruction line):
        """Lower an operator to a call of its forward or of its wrapper."""
        made = line.made
        forward = forward_from(line)
        offered = forward is not None and type(line.outputs) is Value and self.can_be_offered(line.outputs)
        places = []
        for value in made:
            if value in self.places or line.target is not None:
                places.append(-1)
            else:
                place = self.slot("offered" if offered else "called", value)
                places.append(place)
                self.anchor(value, place)
        if forward is not None and made:
            self.forward(forward, places[0] if type(line.outputs) is Value else tuple(places), line)
            return
        function = caller(line.name, len(line.arguments))
        target = None if line.target is None else self.place(line.target)
        if not made or target is not None:
            self.call(function, line.arguments, None, line, target)
        else:
            self.call(function, line.arguments, places[0] if type(line.outputs) is Value else tuple(places), line)

    cdef bint can_be_offered(self, Value out) except -1:
        """Whether planned memory is offered for a result: it must be C-contiguous and stay in the program."""
        if out.shared is not None or out in self.places or out in self.escaping:
            return False
        return out.dtype.kind in "fc" and out.layout.c_contiguous and out.layout.count > 0

    def forward(self, forward, outputs, line):
        function, arguments, filled, over = forward
        filled = tuple([(i, self.want(value)) for i, value in filled])
        over = tuple([place for i, place in filled if i in over])
        reads = tuple([place for _, place in filled])
        made = (outputs,) if type(outputs) is int else tuple([place for place in outputs if place >= 0])
        self.steps.append(Step("forward", (function, arguments, filled, outputs, over), line.name, line.line, reads, made))

    def call(self, function, arguments, outputs, line, target=None):
        if all([type(item) is Value or not values_in(item) for item in arguments]):
            filled = tuple([(i, self.want(item)) for i, item in enumerate(arguments) if type(item) is Value])
            reads = tuple([place for _, place in filled])
            arguments = tuple([None if type(item) is Value else item for item in arguments])
        else:
            filled = Filler({value: self.want(value) for value in values_in(arguments)})
            reads = tuple(filled.names.values())
        made = (outputs,) if type(outputs) is int else tuple([place for place in outputs or () if place >= 0])
        written = made if target is None else (*made, target)
        given = (function, arguments, filled, outputs, arrays_in)
        self.steps.append(Step("call", given, line.name, line.line, reads, written))

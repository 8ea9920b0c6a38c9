# cython: boundscheck=False, wraparound=False
"""Memory scheduling: order the instructions so that less memory is alive at once.

Offers the orders of a few rules, and of a search in a short program, if a count of live memory finds them no worse.  An
instruction that allocates more than it frees is scheduled just before its first use, and an instruction that allocates nothing
as early as possible.  Instructions on memory that is written to stay in order, and so do guards, draws, callbacks and instructions that may
fail.  Writes to inputs stay behind the calls.
"""

from ..tracing.instructions import GUARD, does_something
from ..tracing.instructions cimport Instruction, draws, layouts_of
from ..tracing.values cimport Value
from ..lowering.call_conventions import is_kernel
from ..record.side_effects import KEPT
from ..lowering.failures import is_call, is_steady
from ..lowering.inner_loops import loop_from, sum_from
from .beam_search cimport Line, Room, search_orders

cdef enum:
    MANY = 512      # most lines of a program that gets several other orders
    SOME = 160      # most lines of a program for the beam search
    NONE            # no line waits
    TAKES           # a line waits if its result needs more memory than the longer lives of its operands
    TAKES_ALIKE     # the same, or about as much

SMALL = 1024    # bytes: a program whose values are all smaller is not reordered
NEAR = 1.05     # factor of the present estimate that another order must not exceed
# The waiting rule, and whether lines that allocate nothing run early.
WAYS = ((TAKES, True), (TAKES_ALIKE, True), (TAKES, False), (TAKES_ALIKE, False), (NONE, True))


def memory_schedules(list lines, set given, set returned):
    """Orders of the instructions that may need less memory.

    Parameters
    ----------
    lines : list of Instruction
    given, returned : set of Value
        Memory of inputs and of results: no order saves any of it.

    Returns
    -------
    list of list of Instruction
        The first is the present order; a long program has at most one other order.
    """
    cdef Order order
    cdef list found, others = []
    cdef Py_ssize_t most
    if not takes_memory(lines):
        return [lines]
    order = Order(lines, given, returned)
    most = int(NEAR * order.needed(order.lines))
    for way in (*WAYS, None) if len(lines) <= SOME else WAYS:
        found = search_orders(order.lines, order.gates, list(order.rooms.values())) if way is None else order.tried(*way)
        if found not in others and found != order.lines and order.needed(found) <= most:
            others.append(found)
    if len(lines) > MANY and others:
        others = [min(others, key=order.needed)]
    return [lines, *([lines[(<Line> line).number] for line in found] for found in others)]


def takes_memory(list lines):
    """Whether some value is large enough to make a reordering worthwhile."""
    cdef Instruction line
    cdef Value value
    for line in lines:
        for value in line.made:
            if bytes_of(value) >= SMALL:
                return True
    return False


cdef Py_ssize_t bytes_of(Value value) except -1:
    return value.layout.count * <Py_ssize_t> value.layout.dtype.itemsize


cdef Line new_line(Py_ssize_t number):
    cdef Line line = Line.__new__(Line)
    line.number, line.before, line.behind, line.rooms = number, [], [], []
    return line


cdef class Order:
    """The dependencies between instructions, and the memory that they use."""

    cdef list lines, gates
    cdef dict rooms             # memory -> Room

    def __init__(self, list lines, set given, set returned):
        cdef Instruction each
        cdef Line line, guard = None, chained = None, gate = None, opened
        cdef list calls = [], sums = []
        cdef Room room
        cdef bint summed, called
        cdef dict makers = {}
        cdef Value value
        cdef Py_ssize_t number
        self.lines, self.gates, self.rooms = [], [], {}
        for number in range(len(lines)):
            each = lines[number]
            line = new_line(number)
            summed, called = sum_from(each) is not None, is_call(each)
            line.alike = not called and not summed and not is_kernel(each) or each.entry is not None and bool(each.entry.over)
            self.lines.append(line)
            follow(line, guard)
            for value in each.read:
                follow(line, makers.get(value))
                self.read(line, value)
            for value in each.made:
                makers.setdefault(value, line)
                if each.target is None and value.memory not in self.rooms:
                    self.make(line, value, value.memory in given or value.memory in returned)
                else:
                    self.use(line, self.room(value))
            if each.target is not None:
                self.write(line, each.target)
                if each.target.memory in given:
                    if calls:  # each write waits for all calls before the first one, and for no other write
                        opened = new_line(number)
                        opened.gate = True
                        follow(opened, gate)
                        for other in calls:
                            follow(opened, other)
                        gate, calls = opened, []
                        self.gates.append(gate)
                    follow(line, gate)
            if each.name == GUARD or each.name == KEPT or draws(each) or does_something(each) or not is_steady(each):
                follow(line, chained)
                chained = line
            if each.name == GUARD:
                guard = line
            if called:
                calls.append(line)
            if summed:
                sums.append(self.rooms[(<Value> each.read[0]).memory])
        for room in sums:
            if room.users == 2 and room.writer is not None and is_loop(lines[(<Line> room.writer).number]):
                room.writer.bytes -= room.bytes  # a value that only a sum uses is added block by block
                room.bytes = 0

    cdef Room room(self, Value value):
        cdef Room room = self.rooms.get(value.memory)
        if room is None:
            room = self.rooms[value.memory] = Room.__new__(Room)
            room.readers, room.last, room.other = [], -1, -1
        return room

    cdef int use(self, Line line, Room room) except -1:
        if room.last != line.number:
            room.last, room.other = line.number, room.last
            room.users += 1
            line.rooms.append(room)
        return 0

    cdef int make(self, Line line, Value value, bint elsewhere) except -1:
        cdef Room room = self.room(value)
        if not elsewhere:
            room.bytes = bytes_of(value)
            line.bytes += room.bytes
        room.writer = line
        return self.use(line, room)

    cdef int read(self, Line line, Value value) except -1:
        cdef Room room = self.room(value)
        follow(line, room.writer)
        room.readers.append(line)
        return self.use(line, room)

    cdef int write(self, Line line, Value value) except -1:
        cdef Room room = self.room(value)
        for other in room.readers:
            follow(line, other)
        follow(line, room.writer)
        room.writer, room.readers = line, []
        return self.use(line, room)

    # Candidate orders.

    cdef int begin(self) except -1:
        cdef Line line
        cdef Room room
        for line in (*self.lines, *self.gates):
            line.done, line.pending = False, len(line.before)
        for room in self.rooms.values():
            room.left = room.users
        return 0

    cdef Py_ssize_t needed(self, list lines) except -1:
        """Estimated peak memory in bytes if the lines run in this order."""
        cdef Py_ssize_t now = 0, most = 0, place
        cdef Line line
        cdef Room room
        self.begin()
        for line in lines:
            now += line.bytes
            place = 0
            for room in line.rooms:
                if room.left == 1 and line.alike and room.bytes == line.bytes:
                    place = room.bytes
            most = max(most, now - place)
            now -= self.let_go(line)
            for room in line.rooms:
                room.left -= 1
        return most

    cdef Py_ssize_t let_go(self, Line line) except -1:
        """Bytes that have no further use after a line."""
        cdef Py_ssize_t bytes = 0
        cdef Room room
        for room in line.rooms:
            if room.left == 1:
                bytes += room.bytes
        return bytes

    cdef bint waits(self, Line line, int which) except -1:
        """Whether a line should wait until its result is used."""
        cdef Py_ssize_t wanted = len(self.lines), longer = 0, last
        cdef Line other
        cdef Room room
        for other in line.behind:
            wanted = min(wanted, other.number)
        for room in line.rooms:
            last = room.other if room.last == line.number else room.last
            if room.left == 1 or last < wanted:
                longer += room.bytes
        return line.bytes > longer or which == TAKES_ALIKE and line.bytes and line.bytes >= longer - longer // 8

    def tried(self, int waits, bint hurries):
        """The lines in a different order."""
        cdef list found = []
        cdef Line line
        self.begin()
        for line in self.lines:
            if not line.done and not (waits and self.waits(line, waits)):
                self.demand(line, hurries, found)
        for line in self.lines:
            if not line.done:
                self.demand(line, hurries, found)
        return found

    cdef int demand(self, Line wanted, bint hurries, list found) except -1:
        """Run a line after the lines that it waits for."""
        cdef list stack = [wanted], missing
        cdef Line line, other
        while stack:
            line = stack[len(stack) - 1]
            missing = [] if line.done or not line.pending else [other for other in line.before if not other.done]
            if missing:
                missing.reverse()
                stack += missing
                continue
            stack.pop()
            if not line.done:
                self.run(line, hurries, found)
        return 0

    cdef int run(self, Line first, bint hurries, list found) except -1:
        """Run a ready line, and then lines that become ready and allocate no more than they free."""
        cdef list stack = [first]
        cdef Line line, other
        cdef Room room
        while stack:
            line = stack.pop()
            if line.done or line is not first and line.bytes > self.let_go(line):
                continue
            line.done = True
            if not line.gate:
                found.append(line)
            for room in line.rooms:
                room.left -= 1
            for other in reversed(line.behind):
                other.pending -= 1
                if hurries and not other.pending:
                    stack.append(other)
        return 0


cdef bint is_loop(Instruction line) except -1:
    key = layouts_of(line)
    return key is not None and loop_from(line, key) is not None


cdef int follow(Line line, Line other) except -1:
    """Make a line depend on another line, if there is one."""
    if other is not None and other is not line and (not line.before or line.before[len(line.before) - 1] is not other):
        line.before.append(other)
        other.behind.append(line)
    return 0

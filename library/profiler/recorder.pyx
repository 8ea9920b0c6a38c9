# cython: boundscheck=False, wraparound=False
"""The recorder: a listener that writes events into one C array.

Holds the rows, the clock, and the row of each open event.  Names, shapes and stacks are rare or expensive: they are stored once,
beside the rows.  Shapes and stacks are looked up by numbers packed into bytes; their Python objects are built at their first
occurrence.  The parts of large loops that worker threads ran have rows, too.  Presentation is elsewhere.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint64_t, uintptr_t
from libc.stdlib cimport free
from libc.string cimport memmove

import sys

from ..core.events cimport Event, Listener
from ..core.grad_mode cimport thread_state
from ..core.memory_events cimport array_in, is_list_of_numbers
from ..core.provenance cimport line_of
from ..kernels.loops.threads cimport Part, next_part, watch_parts
from ..support.capi cimport PyArray_DIMS, PyArray_NDIM, PyThread_get_thread_ident, ndarray
from ..support.room cimport more

cdef extern from "gradspec/support/clock.h":
    long long gradspec_now() noexcept nogil

cdef extern from "gradspec/profiler/stack.h":
    Py_ssize_t gradspec_stack(uint64_t*, Py_ssize_t)

cdef struct Row:
    int64_t start, end      # nanoseconds of the clock; `end` is -1 while the event is open
    int64_t sequence_nr     # of the node that the operator created or that runs, or -1
    uint64_t origin         # the user's line, as provenance numbers it
    uint64_t thread         # the thread of the program, also while a deep pass runs on another thread's stack
    int64_t bytes           # allocated in it by the library, minus bytes freed; for a worker's part, its number of elements
    int32_t kind, name      # indices into `kinds` and `names`
    int32_t inputs, outputs  # indices into `shapes`, -1 if not recorded
    int32_t stack, failed   # index into `stacks`, -1 if not recorded; whether an error was raised

cdef struct Change:
    int64_t time, bytes, live  # `live` after it
    uint64_t thread

cdef struct Open:
    PyObject* event         # borrowed, compared only
    int32_t row             # -1 if the event was dropped

cdef enum:
    NUMBERS = 64    # capacity for packed shapes

# NumPy's dtypes of a row and of a change.
ROW = [("start", "i8"), ("end", "i8"), ("sequence_nr", "i8"), ("origin", "u8"), ("thread", "u8"), ("bytes", "i8"), ("kind", "i4"),
       ("name", "i4"), ("inputs", "i4"), ("outputs", "i4"), ("stack", "i4"), ("failed", "i4")]
CHANGE = [("time", "i8"), ("bytes", "i8"), ("live", "i8"), ("thread", "u8")]


cdef class Recorder(Listener):
    """Records the events of its thread, from `start()` to `stop()`.

    Parameters
    ----------
    shapes, memory, stack : bool
        Further information to record, besides times.
    limit : int
        Maximal number of events; later ones are counted and dropped.
    """

    cdef Row* rows
    cdef Change* changes
    cdef Open* opened
    cdef Py_ssize_t count, room, changed, changes_room, depth, opened_room
    cdef Py_ssize_t limit
    cdef int64_t live, paused   # `paused`: time of the first allocation since the last event; the next `end` uses it; else 0
    cdef bint with_shapes, with_memory, with_stack
    cdef PyObject* objects  # of the thread seen last
    cdef uint64_t ident
    cdef dict idents        # address of a thread's objects -> the thread that had them first
    cdef dict name_ids, kind_ids, shape_ids
    cdef list stacks
    cdef uint64_t* pairs    # of the stack examined last
    cdef Py_ssize_t pairs_room
    cdef dict packed_shapes, packed_stacks  # packed bytes -> index
    cdef uint64_t place, lost   # in the log of the workers' parts
    cdef bint watches
    cdef readonly dict workers  # thread -> number of the worker
    cdef readonly Py_ssize_t dropped

    def __init__(self, *, shapes=False, memory=False, stack=False, Py_ssize_t limit=1 << 22):
        self.with_shapes, self.with_memory, self.with_stack, self.limit = shapes, memory, stack, limit
        self.idents, self.workers = {}, {}
        self.name_ids, self.kind_ids, self.shape_ids = {}, {}, {}
        self.packed_shapes, self.packed_stacks, self.stacks = {}, {}, []

    def __dealloc__(self):
        if self.watches:
            watch_parts(False, &self.place)
        free(self.rows)
        free(self.changes)
        free(self.opened)
        free(self.pairs)

    @property
    def memory(self):
        return self.with_memory

    def start(self):
        if not self.watches:
            watch_parts(True, &self.place)
            self.watches = True
        return Listener.start(self)

    def stop(self):
        if self.watches:
            watch_parts(False, &self.place)
            self.watches = False
        Listener.stop(self)

    cpdef begin(self, Event event):
        cdef int32_t place = -1
        cdef Row* row
        self.take_parts()
        if self.count == self.room and not self.grow():
            self.dropped += 1
        else:
            place = <int32_t> self.count
            row = &self.rows[place]
            row.end, row.bytes, row.failed = -1, self.live, 0
            row.origin, row.thread = event.origin, self.thread()
            row.sequence_nr = <int64_t> event.sequence_nr if event.node is not None else -1
            row.kind, row.name = number_of(self.kind_ids, event.kind), number_of(self.name_ids, event.name)
            row.inputs = self.number_of_shapes(event.inputs) if self.with_shapes else -1
            row.outputs = -1
            row.stack = self.number_of_stack() if self.with_stack else -1
            self.count += 1
        if self.depth == self.opened_room:
            self.opened = <Open*> more(self.opened, &self.opened_room, sizeof(Open), 1024)
        self.opened[self.depth].event, self.opened[self.depth].row = <PyObject*> event, place
        self.depth += 1
        if place >= 0:
            row.start = gradspec_now()

    cpdef end(self, Event event):
        cdef int64_t now = self.paused if self.paused else gradspec_now()
        cdef Py_ssize_t i = self.depth - 1
        cdef int32_t place
        cdef Row* row
        self.paused = 0
        while i >= 0 and self.opened[i].event != <PyObject*> event:
            i -= 1
        if i < 0:
            return
        place = self.opened[i].row
        self.take_parts()
        self.depth -= 1
        memmove(&self.opened[i], &self.opened[i + 1], (self.depth - i) * sizeof(Open))
        if place < 0:
            return
        row = &self.rows[place]
        row.end, row.bytes, row.failed = now, self.live - row.bytes, event.error is not None
        if event.node is None and thread_state().sequence_nr > event.sequence_nr:
            row.sequence_nr = <int64_t> event.sequence_nr
        if self.with_shapes:
            row.outputs = self.number_of_shapes(event.outputs)

    cpdef note(self, Event event):
        self.paused = 0

    cdef object hear_of_memory(self, int64_t nbytes, str name, uint64_t origin):
        self.change(nbytes)
        return None

    cdef int take_parts(self) except -1:
        """Add a row for each worker's part of the innermost event's loops, and for parts between events."""
        cdef Part part
        cdef Row* row
        cdef Row* around
        while next_part(&self.place, &self.lost, &part):
            if self.count == self.room and not self.grow():
                self.dropped += 1
                continue
            row = &self.rows[self.count]
            row.start, row.end, row.thread, row.bytes, row.failed = part.began, part.ended, part.thread, part.elements, 0
            row.origin, row.sequence_nr, row.inputs, row.outputs, row.stack = 0, -1, -1, -1, -1
            row.kind, row.name = number_of(self.kind_ids, "loop"), -1
            if self.depth and self.opened[self.depth - 1].row >= 0:
                around = &self.rows[self.opened[self.depth - 1].row]
                row.origin, row.name = around.origin, around.name
            if row.name < 0:
                row.name = number_of(self.name_ids, "what no event is around")
            self.workers[part.thread] = part.worker
            self.count += 1
        self.dropped += self.lost
        self.lost = 0
        return 0

    cdef int32_t number_of_shapes(self, object values) except -1:
        cdef int64_t[NUMBERS] packed
        cdef Py_ssize_t count = pack_shapes(values, packed)
        if count < 0:
            return number_of(self.shape_ids, shapes_of(values))
        key = PyBytes_FromStringAndSize(<char*> packed, count * sizeof(int64_t))
        found = self.packed_shapes.get(key)
        if found is None:
            found = self.packed_shapes[key] = number_of(self.shape_ids, shapes_of(values))
        return found

    cdef int32_t number_of_stack(self) except -1:
        cdef Py_ssize_t count = gradspec_stack(self.pairs, self.pairs_room)
        while count > self.pairs_room:
            self.pairs = <uint64_t*> more(self.pairs, &self.pairs_room, 2 * sizeof(uint64_t), 1024)
            count = gradspec_stack(self.pairs, self.pairs_room)
        key = PyBytes_FromStringAndSize(<char*> self.pairs, 2 * count * sizeof(uint64_t))
        found = self.packed_stacks.get(key)
        if found is None:
            found = self.packed_stacks[key] = len(self.stacks)
            self.stacks.append(stack_of())  # keeps the code objects alive, so that no others get their addresses
        return found

    cdef uint64_t thread(self) except? 0:
        """The thread whose program runs: a worker that lends its stack to a deep pass has the objects of that thread."""
        cdef PyObject* objects = thread_state().objects
        if objects != self.objects:
            self.ident = self.idents.setdefault(<uintptr_t> objects, PyThread_get_thread_ident())
            self.objects = objects
        return self.ident

    cdef bint grow(self) except -1:
        """Make room for more rows; False if the limit is reached."""
        if self.room >= self.limit:
            return False
        self.rows = <Row*> more(self.rows, &self.room, sizeof(Row), 1024)
        if self.room > self.limit:
            self.room = self.limit
        return True

    # Memory.

    cdef int change(self, int64_t size) except -1:
        cdef Change* change
        cdef int64_t now = gradspec_now()
        if size >= 0 and self.paused == 0:
            self.paused = now
        self.live += size
        if self.changed == self.changes_room:
            if self.changed >= 2 * self.limit:
                return 0
            self.changes = <Change*> more(self.changes, &self.changes_room, sizeof(Change), 1024)
        change = &self.changes[self.changed]
        change.time, change.bytes, change.live, change.thread = now, size, self.live, PyThread_get_thread_ident()
        self.changed += 1
        return 0

    # Results.

    def taken(self):
        """The rows and the memory changes, as bytes, and the tables that they refer to."""
        return (PyBytes_FromStringAndSize(<char*> self.rows, self.count * sizeof(Row)),
                PyBytes_FromStringAndSize(<char*> self.changes, self.changed * sizeof(Change)),
                list(self.kind_ids), list(self.name_ids), list(self.shape_ids), self.stacks)


cdef inline int32_t number_of(dict numbers, object key) except -1:
    """The number of a key; a new key gets the next number."""
    cdef object found = numbers.get(key)
    if found is None:
        found = numbers[key] = len(numbers)
    return found


cdef object shapes_of(object values):
    """Shapes of an operator's inputs or outputs: an array's lengths; for a sequence a mark and its items' shapes; else None."""
    cdef ndarray array = array_in(values)
    if array is not None:
        return (<object> array).shape
    if isinstance(values, (tuple, list)):
        return ("several", *[None if is_list_of_numbers(value) else shapes_of(value) for value in values])
    return None


cdef Py_ssize_t pack_shapes(object values, int64_t* packed):
    """Write the result of `shapes_of` as numbers and return their count; -1 if they do not fit or if a list is nested inside."""
    cdef Py_ssize_t count = 1
    if not isinstance(values, tuple):
        return pack_shape(values, packed, 0)
    packed[0] = -2 - len(<tuple> values)
    for value in <tuple> values:
        count = -1 if isinstance(value, (tuple, list)) else pack_shape(value, packed, count)
        if count < 0:
            return -1
    return count


cdef inline Py_ssize_t pack_shape(object value, int64_t* packed, Py_ssize_t count):
    """Append an array's number of axes and lengths to the packed numbers; -1 axes for a value that is not an array."""
    cdef ndarray array
    cdef int i, ndim
    if isinstance(value, list):
        return -1
    array = array_in(value)
    ndim = -1 if array is None else PyArray_NDIM(array)
    if count + ndim + 2 > NUMBERS:
        return -1
    packed[count] = ndim
    for i in range(ndim):
        packed[count + 1 + i] = PyArray_DIMS(array)[i]
    return count + 1 + max(ndim, 0)


cdef tuple stack_of():
    """Code and line of each running Python function, the innermost first."""
    cdef list found = []
    frame = sys._getframe()
    while frame is not None:
        found.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)


def line_at(uint64_t origin):
    """File, line number and function of an origin; None if unknown."""
    return line_of(origin)


def now():
    """The time of the profile's clock, in nanoseconds."""
    return gradspec_now()

# cython: boundscheck=False, wraparound=False
"""Executables: a program as steps over slots of preallocated memory.

Holds the immutable table that the interpreter runs: slots with their layouts, and steps with the addresses of their loops.  The
loop of an operator for given dtypes is NumPy's choice, found through the operator's ufunc.
"""

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer
from cpython.ref cimport PyObject
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free, malloc

import numpy as np

from ...kernels.loops.plain cimport slot_or_bool
from ...kernels.fusion_engine.assignment cimport into_of
from ...kernels.fusion_engine.pairs cimport pair_of
from ...kernels.fusion_engine.ufunc cimport Ufunc, offered
from ...support cimport capi as cnp
from ...support.room cimport more
from .low_level_ir cimport Loop
from .low_level_ir cimport Slot as PlannedSlot
from .low_level_ir cimport Step as PlannedStep

cnp.import_array()

_KINDS = {"loop": LOOP, "blocks": BLOCKS, "call": CALL, "allocate": ALLOCATE, "free": FREE, "guard": GUARD, "copy": COPY,
          "move": MOVE, "rows": ROWS, "into": INTO, "forward": FORWARD, "sum": SUM, "native": NATIVE}
_PLACES = {
    "external": EXTERNAL, "constant": CONSTANT, "planned": PLANNED, "fresh": FRESH, "called": CALLED, "view": VIEW,
    "scratch": SCRATCH, "offered": OFFERED,
}
cdef enum:
    FEW = 1024              # most bytes of an operand for our own loop; beyond, NumPy's loop is faster
    PIECES = 8              # most pieces that our own copy step copies

cdef extern from "gradspec/kernels/fusion_engine/short.h":
    enum:
        GRADSPEC_ADD, GRADSPEC_SUBTRACT, GRADSPEC_MULTIPLY, GRADSPEC_DIVIDE
        GRADSPEC_GREATER, GRADSPEC_GREATER_EQUAL, GRADSPEC_LESS, GRADSPEC_LESS_EQUAL, GRADSPEC_EQUAL, GRADSPEC_NOT_EQUAL
        GRADSPEC_NEGATIVE, GRADSPEC_ABSOLUTE, GRADSPEC_SQUARE, GRADSPEC_RECIPROCAL, GRADSPEC_COPY, GRADSPEC_ZERO
        GRADSPEC_EACH, GRADSPEC_BY_NUMBER, GRADSPEC_NUMBER_BY

cdef dict _OPERATIONS = {
    np.add: GRADSPEC_ADD, np.subtract: GRADSPEC_SUBTRACT, np.multiply: GRADSPEC_MULTIPLY, np.divide: GRADSPEC_DIVIDE,
    np.greater: GRADSPEC_GREATER, np.greater_equal: GRADSPEC_GREATER_EQUAL, np.less: GRADSPEC_LESS,
    np.less_equal: GRADSPEC_LESS_EQUAL, np.equal: GRADSPEC_EQUAL, np.not_equal: GRADSPEC_NOT_EQUAL,
    np.negative: GRADSPEC_NEGATIVE, np.absolute: GRADSPEC_ABSOLUTE, np.square: GRADSPEC_SQUARE,
    np.reciprocal: GRADSPEC_RECIPROCAL,
}
cdef list _TYPES = [np.dtype(name) for name in ("float32", "float64", "complex64", "complex128", "bool")]


def loop_of(str name, tuple dtypes):
    """The loop of an operator for operands with dtypes `dtypes`; the dtype of a Python number is None.

    Returns
    -------
    (int, numpy.dtype, bool) or None
        The slot of the loop, the result's dtype, and whether any other loop returns the same bits (arithmetic, rounded once).
    """
    cdef Ufunc ufunc
    cdef int slot
    try:
        ufunc = offered(name)
    except KeyError:
        return None
    kinds = {slot_or_bool(dtype.num) for dtype in (dtypes[1:] if ufunc.masks else dtypes) if dtype is not None}
    if len(kinds) != 1 or ufunc.nargs != len(dtypes) + 1 or ufunc.masks and (dtypes[0] is None or dtypes[0].num != cnp.NPY_BOOL):
        return None
    slot = next(iter(kinds))
    if slot < 0 or ufunc.loops[slot] == NULL or slot_or_bool(ufunc.out_types[slot]) < 0 or ufunc.keeps_reals and slot < 2:
        return None
    exact = ufunc.cost == 1 and isinstance(ufunc.function, np.ufunc)
    return slot, _TYPES[slot_or_bool(ufunc.out_types[slot])], exact


def costly_loop(str name, int slot):
    """The addresses of a loop and of its data, if an element takes longer than its memory access; else None."""
    cdef Ufunc ufunc = offered(name)
    return None if ufunc.cost == 1 else (<uintptr_t> ufunc.loops[slot], <uintptr_t> ufunc.loop_data[slot])


cdef class Executable:
    """A program that is ready to run.

    Parameters
    ----------
    slots : list of Slot
    steps : list of Step
    memory : int
        Bytes of planned memory.
    externals, results : tuple of int
        The slots of the inputs, in order, and the slots of the results.
    otherwise : Executable, optional
        The same program without native steps.
    """

    def __init__(
        self, list slots, list steps, npy_intp memory, tuple externals, tuple results, Executable otherwise=None
    ):
        cdef int i, j, places = 0
        cdef Slot* slot
        cdef PlannedSlot each
        cdef PlannedStep step
        self.memory, self.externals, self.results, self.frames = memory, externals, results, []
        self.otherwise = otherwise
        self.dtypes = [each.dtype for each in slots]
        self.data = [each.data for each in slots]
        self.parts, self.planned = [None] * len(steps), steps
        self.slots = <Slot*> calloc(len(slots) + 1, sizeof(Slot))
        self.steps = <Step*> calloc(len(steps) + 1, sizeof(Step))
        self.shapes = <npy_intp*> malloc((1 + 2 * sum(len(each.shape) for each in slots)) * sizeof(npy_intp))
        if self.slots == NULL or self.steps == NULL or self.shapes == NULL:
            raise MemoryError
        self.slot_count, self.step_count = <int> len(slots), <int> len(steps)
        self.views = [[] for _ in slots]
        for i, each in enumerate(slots):
            slot = &self.slots[i]
            slot.place, slot.offset, slot.root = _PLACES[each.place], each.offset, each.root
            slot.type_num, slot.ndim, slot.object = each.dtype.num, len(each.shape), each.object
            slot.dims, slot.size = self.shapes + places, 1
            for j in range(slot.ndim):
                slot.dims[j], slot.dims[slot.ndim + j] = each.shape[j], each.strides[j]
                slot.size *= slot.dims[j]
            places += 2 * slot.ndim
            if slot.place == VIEW:
                (<list> self.views[slot.root]).append(i)
        for i, step in enumerate(steps):
            self.add_step(&self.steps[i], i, step.kind, step.given)
        self.join()
        self.passing = tuple([i for i in range(self.slot_count) if self.slots[i].place in (EXTERNAL, FRESH, CALLED)])

    def __dealloc__(self):
        cdef int i
        if self.steps != NULL:
            for i in range(self.step_count):
                free(self.steps[i].pieces)
                free(self.steps[i].arguments)
                free(self.steps[i].places)
        free(self.slots)
        free(self.steps)
        free(self.shapes)
        free(self.shorts)
        free(self.saves)

    cdef int add_step(self, Step* step, int place, str kind, object given) except -1:
        """Fill a step from its description.

        A loop is a `Loop`, a sum a `Sum`, blocks are `Blocks`.  The other steps are tuples:

        - move: (slot, pieces: (slot or -1, to, from, bytes))
        - kernel into an array: (operator, operands and result)
        - forward: (capsule, arguments, pairs of an array's position and its slot, slot or slots of the result, slots that it may
          overwrite)
        - call: (wrapper or function, arguments, positions of tensors with their slots or a function that fills them in, slots of
          the results)
        - allocation or release: (slot,)
        - guard: (slot, bytes)
        - copy: (to, from, bytes)
        - native: (address,)
        """
        cdef Ufunc ufunc
        cdef Loop loop
        cdef int i
        step.kind = _KINDS[kind]
        if kind == "loop" or kind == "rows":
            loop = given
            ufunc = offered(loop.operator)
            step.function = ufunc.loops[loop.which] if loop.second is None else pair_of(loop.operator, loop.second, loop.which)
            step.data = ufunc.loop_data[loop.which]
            step.count, step.size, step.rows, step.costly = <int> len(loop.slots), loop.size, loop.rows, ufunc.cost > 1
            for i in range(step.count):
                step.slots[i], step.strides[i] = loop.slots[i], loop.strides[i]
            for i in range(len(loop.jumps)):
                step.jumps[i] = loop.jumps[i]
            self.parts[place] = ufunc
        elif kind == "sum":
            slots, step.rows, step.size, step.inner, step.mean = given
            step.slots[0], step.slots[1] = slots
            ufunc = offered("add")
            slot = slot_or_bool(self.slots[step.slots[0]].type_num)
            step.function, step.data = ufunc.loops[<int> slot], ufunc.loop_data[<int> slot]
        elif kind == "move":
            step.slots[0], step.count = given[0], <int> len(given[1])
            step.pieces = <Piece*> malloc((step.count + 1) * sizeof(Piece))
            if step.pieces == NULL:
                raise MemoryError
            for i, (slot, to, start, size) in enumerate(given[1]):
                step.pieces[i] = Piece(slot, to, start, size)
        elif kind == "into":
            step.into, step.count = into_of(given[0]), <int> len(given[1])
            for i in range(step.count):
                step.slots[i] = given[1][i]
        elif kind == "forward":
            capsule, arguments, filled, outputs, _ = given
            self.add_forward(step, capsule, arguments, filled, outputs)
            self.parts[place] = given
        elif kind == "blocks":
            step.count, step.size, step.room, step.rows = given
        elif kind == "native":
            step.forward = <void*> <uintptr_t> given[0]
        elif kind == "copy":
            step.slots[0], step.slots[1], step.size = given
        else:
            if kind != "call":
                step.slots[0] = given[0]
            self.parts[place] = given
        return 0

    cdef int add_forward(self, Step* step, object capsule, tuple arguments, tuple filled, object outputs) except -1:
        cdef int i, slot
        step.forward, step.count = PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)), <int> len(arguments)
        step.slots[0] = outputs if type(outputs) is int else -1
        step.arguments = <PyObject**> calloc(step.count + 1, sizeof(PyObject*))
        step.places = <int*> calloc(step.count + 1, sizeof(int))
        if step.arguments == NULL or step.places == NULL:
            raise MemoryError
        for i in range(step.count):
            step.arguments[i] = <PyObject*> arguments[i]
        for i, slot in filled:
            step.arguments[i], step.places[i] = NULL, slot
            step.over |= step.slots[0] >= 0 and self.home(slot) >= 0 and self.home(slot) == self.home(step.slots[0])
        return 0

    cdef npy_intp home(self, int place) noexcept:
        """The offset of a slot in the planned memory, or -1 in other memory."""
        cdef npy_intp offset = 0
        while self.slots[place].place == VIEW:
            offset += self.slots[place].offset
            place = self.slots[place].root
        return self.slots[place].offset + offset if self.slots[place].place in (PLANNED, OFFERED) else -1

    # Short steps, which run together in one call.

    cdef int join(self) except -1:
        """Find adjacent steps that run together, and the memory to restore if one of them raises a floating-point flag: memory
        that they read before they write to it."""
        cdef int i = 0, end, j, last
        cdef Joining joining = Joining(self)
        while i < self.step_count:
            end = i
            while end < self.step_count and joining.is_short(end):
                end += 1
            if end - i > 1:
                joining.begin(&self.steps[i], end - i)
                last = i
                for j in range(i, end):
                    joining.add(&self.steps[j])
                    if self.steps[j].kind == ALLOCATE:
                        if j > last:
                            self.steps[last].next_allocation = j
                        last = j
                joining.close(&self.steps[i])
            i = end + 1 + (self.steps[end].count if end < self.step_count and self.steps[end].kind == BLOCKS else 0)
        return 0


cdef enum Mark:
    UNSEEN
    READ                    # read before the run writes to it
    OWN                     # written by the run before it is read


cdef class Joining:
    """The state of memory while the steps of a run are joined."""

    cdef Executable executable
    cdef unsigned char* marks   # for each 64 bytes of planned memory
    cdef list seen              # the marked lines of 64 bytes
    cdef set saved              # slots outside of planned memory that are restored
    cdef Py_ssize_t shorts_room, saves_room

    def __init__(self, Executable executable):
        self.executable, self.seen, self.saved = executable, [], set()
        self.marks = <unsigned char*> calloc(executable.memory // 64 + 1, 1)
        if self.marks == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.marks)

    cdef bint is_short(self, int place):
        cdef Step* step = &self.executable.steps[place]
        cdef npy_intp bytes = 0
        cdef int i
        if step.kind == ALLOCATE:
            return True
        if step.kind == COPY:
            return step.size <= FEW
        if step.kind == MOVE:
            for i in range(step.count):
                bytes = max(bytes, max(step.pieces[i].to, step.pieces[i].start) + step.pieces[i].size)
            return step.count <= PIECES and bytes <= FEW
        return step.kind == LOOP and operation_of(step, self.executable.parts[place]) >= 0

    cdef int begin(self, Step* step, int count) except -1:
        step.together, step.shorts, step.saves = count, self.executable.short_count, self.executable.save_count
        return 0

    cdef int close(self, Step* step) except -1:
        cdef npy_intp place = 0
        cdef int i
        step.last_short, step.last_save = self.executable.short_count, self.executable.save_count
        for i in range(step.saves, step.last_save):
            self.executable.saves[i].place = place
            place += (self.executable.saves[i].size + 63) & ~63
        self.executable.saving = max(self.executable.saving, place)
        for line in self.seen:
            self.marks[<npy_intp> line] = UNSEEN
        self.seen.clear()
        self.saved.clear()
        return 0

    cdef int add(self, Step* step) except -1:
        cdef gradspec_short* short
        cdef int i
        if step.kind == LOOP:
            for i in range(step.count - 1):
                self.reads(step.slots[i], step.size * step.strides[i] if step.strides[i] else 8)
            self.writes(step.slots[step.count - 1], step.size * step.strides[step.count - 1])
            short = self.short(step.operation, step.size)
            short.slots[0], short.slots[1], short.slots[2] = (
                step.slots[0], step.slots[step.count - 2], step.slots[step.count - 1])
        elif step.kind == COPY:
            self.reads(step.slots[1], step.size)
            self.writes(step.slots[0], step.size)
            self.copy(step.slots[1], 0, step.slots[0], 0, step.size)
        elif step.kind == MOVE:
            for i in range(step.count):
                if step.pieces[i].slot >= 0:
                    self.reads(step.pieces[i].slot, step.pieces[i].start + step.pieces[i].size)
            self.writes(step.slots[0], self.extent(step))
            for i in range(step.count):
                self.copy(step.pieces[i].slot, step.pieces[i].start, step.slots[0], step.pieces[i].to, step.pieces[i].size)
        return 0

    cdef npy_intp extent(self, Step* step) noexcept:
        cdef npy_intp bytes = 0
        cdef int i
        for i in range(step.count):
            bytes = max(bytes, step.pieces[i].to + step.pieces[i].size)
        return bytes

    cdef int copy(self, int source, npy_intp start, int target, npy_intp to, npy_intp size) except -1:
        cdef gradspec_short* short = self.short(6 * (GRADSPEC_ZERO if source < 0 else GRADSPEC_COPY), size)
        short.slots[0] = short.slots[1] = max(source, 0)
        short.slots[2], short.start, short.to = target, <int> start, <int> to
        return 0

    cdef gradspec_short* short(self, int operation, npy_intp size) except NULL:
        """Append an instruction."""
        if self.executable.short_count == self.shorts_room:
            self.executable.shorts = <gradspec_short*> more(self.executable.shorts, &self.shorts_room, sizeof(gradspec_short), 64)
        self.executable.short_count += 1
        self.executable.shorts[self.executable.short_count - 1].operation = operation
        self.executable.shorts[self.executable.short_count - 1].size = <int> size
        return &self.executable.shorts[self.executable.short_count - 1]

    cdef int reads(self, int place, npy_intp size) except -1:
        cdef npy_intp line, start = self.executable.home(place)
        if start >= 0:
            for line in range(start // 64, (start + size + 63) // 64):
                if self.marks[line] == UNSEEN:
                    self.mark(line, READ)
        return 0

    cdef int writes(self, int place, npy_intp size) except -1:
        """Save the present contents if the run has read them, or if the run may not be the first to write there."""
        cdef npy_intp line, start = self.executable.home(place)
        cdef bint kept = False, whole = self.executable.slots[place].place != VIEW
        if start < 0:
            kept = place not in self.saved
            self.saved.add(place)
        else:
            for line in range(start // 64, (start + size + 63) // 64):
                if self.marks[line] == READ:
                    kept = True
                elif self.marks[line] == UNSEEN:
                    self.mark(line, OWN if whole else READ)
        if kept:
            self.save(place, size)
        return 0

    cdef int save(self, int place, npy_intp size) except -1:
        if self.executable.save_count == self.saves_room:
            self.executable.saves = <Save*> more(self.executable.saves, &self.saves_room, sizeof(Save), 16)
        self.executable.saves[self.executable.save_count] = Save(place, size, 0)
        self.executable.save_count += 1
        return 0

    cdef int mark(self, npy_intp line, Mark mark) except -1:
        self.marks[line] = mark
        self.seen.append(line)
        return 0


cdef int operation_of(Step* step, Ufunc ufunc) except -2:
    """Set and return the number in short.h of a loop's operation with its operands' dtype and kinds, or -1."""
    cdef int slot = -1, i
    cdef npy_intp item
    step.operation = -1
    found = _OPERATIONS.get(ufunc.function)
    if found is None or step.size * step.strides[0] > FEW or step.size * step.strides[1] > FEW:
        return -1
    for i in range(2):
        if ufunc.loops[i] == step.function:
            slot = i
    if slot < 0:
        return -1
    item = 4 << slot
    kind = GRADSPEC_EACH
    for i in range(step.count - 1):
        if step.strides[i] != item and step.size > 1:
            if step.strides[i] != 0 or kind != GRADSPEC_EACH:
                return -1
            kind = (GRADSPEC_NUMBER_BY if i == 0 else GRADSPEC_BY_NUMBER) if step.count == 3 else -1
    if kind < 0 or ufunc.keeps_reals:
        return -1
    step.operation = 6 * <int> found + 3 * slot + <int> kind
    return step.operation

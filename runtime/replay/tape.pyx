# cython: boundscheck=False, wraparound=False
"""Tapes: a program as steps over slots of memory that is there already.

Owns how a program runs: inner loops called one after the other by their addresses, loops over many elements block by block on
several threads, operators that have no loop by their wrappers, guards that compare bytes.  What is planned lies in a frame's
memory, one frame for each call that runs at a time; results are fresh arrays.  A loop that raised a floating-point flag is
computed again by NumPy, which warns as `numpy.errstate` says.  Knows nothing of graphs, and not how a tape is made.
"""

from cpython.pycapsule cimport PyCapsule_CheckExact, PyCapsule_GetName, PyCapsule_GetPointer
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

import numpy as np

from ..core.events cimport call_wrapper
from ..core.grad_mode cimport FORWARD_DISABLED, GRAD_DISABLED, LISTENING, ThreadState, thread_state
from ..core.tensor cimport TensorBase, is_tensor, wrap
from ..kernels.loops.flags cimport fp_clear, fp_raised
from ..kernels.loops.memory cimport empty
from ..kernels.loops.plain cimport slot_or_bool
from ..kernels.loops.threads cimport parallel
from ..kernels.program.ufunc cimport Ufunc, offered
from ..support cimport capi as cnp
from ..support.capi cimport PyArray_BYTES, PyArray_DIMS, PyArray_NDIM, PyArray_STRIDES, PyArray_TYPE, ndarray

cnp.import_array()

cdef extern from "gradspec/replay/tape.h":
    object gradspec_look(object, int, npy_intp*, npy_intp*, void*, object)

cdef enum:
    BLOCK = 2048            # elements that an inner loop takes at a time
    NEAR = 16384            # bytes of scratch memory that are taken from the stack
    CHUNK = 1 << 15         # elements that a thread takes at a time

_KINDS = {"loop": LOOP, "blocks": BLOCKS, "call": CALL, "allocate": ALLOCATE, "free": FREE, "guard": GUARD, "copy": COPY,
          "move": MOVE, "rows": ROWS}
_PLACES = {
    "external": EXTERNAL, "constant": CONSTANT, "planned": PLANNED, "fresh": FRESH, "called": CALLED, "look": LOOK,
    "scratch": SCRATCH,
}
cdef list _TYPES = [np.dtype(name) for name in ("float32", "float64", "complex64", "complex128", "bool")]


def is_listened():
    """Whether somebody listens to this thread, or a dual level is open: then operators have to run one by one."""
    cdef ThreadState* state = thread_state()
    return state.flags & LISTENING != 0 or state.dual_level > 0


class Missed(Exception):
    """A guard did not hold: the call has to take another branch."""


def differences(inputs, addresses):
    """Which arrays that a call was given share memory: for each the number of its group, and pairs with their distance in bytes."""
    numbers = {}
    groups = [numbers.setdefault(value.memory, len(numbers)) for value in inputs]
    first = {}
    pairs = []
    for i, (value, group) in enumerate(zip(inputs, groups)):
        j = first.setdefault(group, i)
        if j != i:
            pairs.append((j, i, addresses[value] - addresses[inputs[j]]))
    return groups, pairs


cdef bint same_places(list arrays, tuple groups, tuple written) except -1:
    """Whether the arrays share memory as those that the tape was made of; of others only where it writes to one."""
    cdef ndarray a, b
    cdef Py_ssize_t distance
    cdef int i, j
    for pair in <list> groups[1]:
        i, j, distance = pair
        a, b = arrays[i], arrays[j]
        if PyArray_BYTES(b) - PyArray_BYTES(a) != distance:
            return False
    for i in written:
        for j in range(len(arrays)):
            if (<list> groups[0])[i] != (<list> groups[0])[j] and np.may_share_memory(arrays[i], arrays[j]):
                return False
    return True


def loop_of(str name, tuple dtypes):
    """Which loop an operator has for operands of these dtypes, None for a Python number.

    Returns
    -------
    (int, numpy.dtype, bool) or None
        The slot of the loop, the result's dtype, whether the first operand is a mask.
    """
    cdef Ufunc ufunc
    cdef int slot, kind
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
    return slot, _TYPES[slot_or_bool(ufunc.out_types[slot])], ufunc.masks, ufunc.cost


cdef class Frame:
    """The memory of one call that runs."""

    def __dealloc__(self):
        free(self.base)


cdef class Tape:
    """A program that is ready to run.

    Parameters
    ----------
    slots : list of Slot
    steps : list of Step
    memory : int
        Bytes of what is planned.
    externals, results : tuple of int
        The slots that are given, in order, and those that are returned.
    """

    def __init__(self, list slots, list steps, npy_intp memory, tuple externals, tuple results):
        cdef int i, j, places = 0
        cdef Slot* slot
        self.memory, self.externals, self.results, self.frames, self.failed = memory, externals, results, [], -1
        self.dtypes = [each.dtype for each in slots]
        self.data = [each.data for each in slots]
        self.parts, self.lines = [None] * len(steps), [(step.name, step.line) for step in steps]
        self.slots = <Slot*> calloc(len(slots) + 1, sizeof(Slot))
        self.steps = <Step*> calloc(len(steps) + 1, sizeof(Step))
        self.shapes = <npy_intp*> malloc((1 + 2 * sum(len(each.shape) for each in slots)) * sizeof(npy_intp))
        if self.slots == NULL or self.steps == NULL or self.shapes == NULL:
            raise MemoryError
        self.slot_count = <int> len(slots)
        self.looks = [[] for _ in slots]
        for i, each in enumerate(slots):
            slot = &self.slots[i]
            slot.place, slot.offset, slot.root = _PLACES[each.place], each.offset, each.root
            slot.type_num, slot.ndim, slot.object = each.dtype.num, len(each.shape), each.object
            slot.dims, slot.size = self.shapes + places, 1
            for j in range(slot.ndim):
                slot.dims[j], slot.dims[slot.ndim + j] = each.shape[j], each.strides[j]
                slot.size *= slot.dims[j]
            places += 2 * slot.ndim
            if slot.place == LOOK:
                (<list> self.looks[slot.root]).append(i)
        self.step_count = <int> len(steps)
        for i, each in enumerate(steps):
            self.add_step(&self.steps[i], i, each.kind, each.given)
        self.passing = tuple([i for i in range(self.slot_count) if self.slots[i].place in (EXTERNAL, FRESH, CALLED)])

    def __dealloc__(self):
        cdef int i
        if self.steps != NULL:
            for i in range(self.step_count):
                free(self.steps[i].pieces)
        free(self.slots)
        free(self.steps)
        free(self.shapes)

    cdef int add_step(self, Step* step, int place, str kind, tuple given) except -1:
        """Write down a step.

        A loop is (operator, slot of its loops, operands and result, strides, elements), and where it goes by rows (their number,
        strides from row to row), a move is (slot, pieces: (slot or -1, to, from, bytes)), blocks are (loops, elements, bytes of
        scratch memory for each element), a call (wrapper or function, arguments, places of tensors among them with their
        slots or a function that fills them in, slots of the results), an allocation or a release (slot,), a guard (slot,
        bytes), a copy (to, from, bytes).
        """
        cdef Ufunc ufunc
        cdef int i
        step.kind = _KINDS[kind]
        if kind == "loop" or kind == "rows":
            ufunc = offered(given[0])
            step.function, step.data = ufunc.loops[<int> given[1]], ufunc.loop_data[<int> given[1]]
            step.count, step.size = <int> len(given[2]), given[4]
            for i in range(step.count):
                step.slots[i], step.strides[i] = given[2][i], given[3][i]
            if kind == "rows":
                step.rows = given[5]
                for i in range(step.count):
                    step.jumps[i] = given[6][i]
            self.parts[place] = ufunc
        elif kind == "move":
            step.slots[0], step.count = given[0], <int> len(given[1])
            step.pieces = <Piece*> malloc((step.count + 1) * sizeof(Piece))
            if step.pieces == NULL:
                raise MemoryError
            for i, (slot, to, start, size) in enumerate(given[1]):
                step.pieces[i] = Piece(slot, to, start, size)
        elif kind == "blocks":
            step.count, step.size, step.room = given
        elif kind == "copy":
            step.slots[0], step.slots[1], step.size = given
        else:
            if kind != "call":
                step.slots[0] = given[0]
            self.parts[place] = given
        return 0

    def __call__(self, given):
        return self.run(given)

    cdef object run(self, list given):
        """Run with these arrays for what is external.

        Returns
        -------
        list of Tensor

        Raises
        ------
        Missed
            A guard did not hold, or an operator gave an array of another layout.
        """
        cdef ThreadState* state = thread_state()
        cdef unsigned int flags = state.flags
        cdef Frame frame = self.frames.pop() if self.frames else new_frame(self)
        cdef list results
        cdef int place
        state.flags |= GRAD_DISABLED | FORWARD_DISABLED
        try:
            for place, array in zip(self.externals, given):
                put(self, frame, place, array, None)
            play(self, frame)
            results = [taken(self, frame, slot) for slot in self.results]
            for place in self.passing:
                drop(self, frame, place)
        finally:
            state.flags = state.flags & ~<unsigned int> (GRAD_DISABLED | FORWARD_DISABLED) | (
                flags & (GRAD_DISABLED | FORWARD_DISABLED))
        self.frames.append(frame)  # one that an error left is dropped
        return results


cdef Frame new_frame(Tape tape):
    """The memory of a call, with what is the same in all."""
    cdef Frame frame = Frame.__new__(Frame)
    cdef Slot* slot
    cdef char* start
    cdef int i
    frame.base = <char**> calloc(tape.slot_count + 1, sizeof(char*))
    if frame.base == NULL:
        raise MemoryError
    frame.tensors = [None] * tape.slot_count
    frame.memory = np.zeros(tape.memory + 64, np.uint8)
    start = PyArray_BYTES(<ndarray> frame.memory)
    start += -<Py_ssize_t> <size_t> start & 63
    for i in range(tape.slot_count):
        slot = &tape.slots[i]
        if slot.place == PLANNED:
            frame.base[i] = start + slot.offset
            if slot.object:
                frame.tensors[i] = wrap(look(tape, frame, i, frame.memory))
            look_from(tape, frame, i, frame.memory)
        elif slot.place == CONSTANT:
            put(tape, frame, i, <ndarray> tape.data[i], None)
    return frame


cdef ndarray look(Tape tape, Frame frame, int place, object owner):
    """The array that a slot is, around the memory that it has."""
    cdef Slot* slot = &tape.slots[place]
    return gradspec_look(tape.dtypes[place], slot.ndim, slot.dims, slot.dims + slot.ndim, frame.base[place], owner)


cdef int look_from(Tape tape, Frame frame, int root, object owner) except -1:
    """Say where the slots lie that look at another one's memory."""
    cdef Slot* slot
    cdef int i
    for i in <list> tape.looks[root]:
        slot = &tape.slots[i]
        frame.base[i] = frame.base[root] + slot.offset
        if slot.object:
            frame.tensors[i] = wrap(look(tape, frame, i, owner))
    return 0


cdef int put(Tape tape, Frame frame, int place, ndarray array, TensorBase tensor) except -1:
    """Fill a slot."""
    frame.base[place] = PyArray_BYTES(array)
    frame.tensors[place] = wrap(array) if tensor is None else tensor
    if <list> tape.looks[place]:
        look_from(tape, frame, place, array)
    return 0


cdef int drop(Tape tape, Frame frame, int place) except -1:
    """Let go of what a slot holds."""
    cdef int i
    frame.tensors[place] = None
    for i in <list> tape.looks[place]:
        frame.tensors[i] = None
    return 0


cdef TensorBase taken(Tape tape, Frame frame, int place):
    """A result, which the frame holds no more."""
    cdef TensorBase tensor = frame.tensors[place]
    cdef int root = place
    while tape.slots[root].place == LOOK:
        root = tape.slots[root].root
    if tensor is None:
        tensor = wrap(look(tape, frame, place, (<TensorBase> frame.tensors[root]).array))
    if tape.slots[root].place == CONSTANT:
        return wrap((<object> tensor.array).copy(order="K"))
    return wrap(tensor.array)


cdef bint is_as_planned(Slot* slot, ndarray array) noexcept:
    """Whether an operator's result has the dtype, the shape and the layout that it had when the tape was made."""
    cdef int i
    if PyArray_TYPE(array) != slot.type_num or PyArray_NDIM(array) != slot.ndim:
        return False
    for i in range(slot.ndim):
        if PyArray_DIMS(array)[i] != slot.dims[i]:
            return False
        if PyArray_STRIDES(array)[i] != slot.dims[slot.ndim + i] and slot.dims[i] > 1 and slot.size > 0:
            return False
    return True


# Steps.

cdef int play(Tape tape, Frame frame) except -1:
    """All steps in order."""
    cdef char* args[OPERANDS]
    cdef char** base = frame.base
    cdef Step* step
    cdef Slot* slot
    cdef npy_intp size
    cdef int i = 0, j
    try:
        fp_clear()
        while i < tape.step_count:
            step = &tape.steps[i]
            if step.kind == LOOP:
                for j in range(step.count):
                    args[j] = base[step.slots[j]]
                size = step.size
                step.function(args, &size, step.strides, step.data)
                if fp_raised():
                    again(tape, frame, i)
                    fp_clear()
            elif step.kind == ROWS:
                run_rows(base, step)
                if fp_raised():
                    again(tape, frame, i)
                    fp_clear()
            elif step.kind == MOVE:
                move(base, step)
            elif step.kind == CALL:
                call(tape, frame, i)
                fp_clear()
            elif step.kind == ALLOCATE:
                slot = &tape.slots[step.slots[0]]
                put(tape, frame, step.slots[0], empty(slot.ndim, slot.dims, slot.type_num), None)
            elif step.kind == FREE:
                drop(tape, frame, step.slots[0])
            elif step.kind == COPY:
                memcpy(base[step.slots[0]], base[step.slots[1]], step.size)
            elif step.kind == GUARD:
                if not holds(tape, frame, i):
                    raise Missed(i)
            else:
                run_blocks(tape, frame, i)
                i += step.count
            i += 1
    except BaseException:
        tape.failed = i
        raise
    return 0


cdef inline void run_rows(char** base, Step* step) noexcept nogil:
    """A loop on each row of its operands."""
    cdef char* args[OPERANDS]
    cdef npy_intp row, size
    cdef int j
    for row in range(step.rows):
        for j in range(step.count):
            args[j] = base[step.slots[j]] + row * step.jumps[j]
        size = step.size
        step.function(args, &size, step.strides, step.data)


cdef inline void move(char** base, Step* step) noexcept nogil:
    """Pieces of memory to their places."""
    cdef char* out = base[step.slots[0]]
    cdef Piece* piece
    cdef int i
    for i in range(step.count):
        piece = &step.pieces[i]
        if piece.slot < 0:
            memset(out + piece.to, 0, piece.size)
        else:
            memcpy(out + piece.to, base[piece.slot] + piece.start, piece.size)


cdef bint holds(Tape tape, Frame frame, int i) except -1:
    """Whether a slot has the bytes that it had when the tape was made."""
    cdef Step* step = &tape.steps[i]
    cdef bytes wanted = (<tuple> tape.parts[i])[1]
    cdef int place = step.slots[0]
    if tape.slots[place].size == 1:
        return memcmp(frame.base[place], <char*> wanted, len(wanted)) == 0
    return bool((<object> (<TensorBase> frame.tensors[place]).array).tobytes() == wanted)


cdef int call(Tape tape, Frame frame, int i) except -1:
    """Call an operator, and put its results where they belong."""
    cdef tuple part = tape.parts[i], arguments = part[1], filled
    cdef object function = part[0], places = part[2], results, found
    cdef int place, j
    if type(places) is tuple:
        given = list(arguments)
        for j, place in <tuple> places:
            given[j] = frame.tensors[place]
        filled = tuple(given)
    else:
        filled = places(arguments, frame.tensors)
    if PyCapsule_CheckExact(function):
        results = call_wrapper(PyCapsule_GetPointer(function, PyCapsule_GetName(function)), filled)
    else:
        results = function(*filled)
    outputs = part[3]
    if type(outputs) is int:
        keep(tape, frame, outputs, results)
    elif outputs is not None:
        flat = part[4](results)
        for place, found in zip(outputs, flat, strict=True):
            if place >= 0:
                keep(tape, frame, place, found)
    return 0


cdef int keep(Tape tape, Frame frame, int place, object found) except -1:
    cdef ndarray array
    array = (<TensorBase> found).array if is_tensor(found) else found
    if not is_as_planned(&tape.slots[place], array):
        raise Missed(-1)
    put(tape, frame, place, array, <TensorBase> found if is_tensor(found) else None)
    return 0


cdef int again(Tape tape, Frame frame, int i) except -1:
    """A loop that raised a floating-point flag, computed by NumPy, which says so to the user."""
    cdef Step* step = &tape.steps[i]
    cdef Ufunc ufunc = tape.parts[i]
    cdef list arrays = [strided(tape, frame, step, j) for j in range(step.count)]
    arrays[step.count - 1][...] = ufunc.function(*arrays[:-1])
    return 0


cdef ndarray strided(Tape tape, Frame frame, Step* step, int j):
    """An operand of a loop as an array of its rows."""
    cdef npy_intp[4] shape = [max(step.rows, <npy_intp> 1), step.size, step.jumps[j], step.strides[j]]
    return gradspec_look(tape.dtypes[step.slots[j]], 2, shape, shape + 2, frame.base[step.slots[j]], frame.memory)


cdef struct Blocks:
    Step* steps
    Slot* slots
    char** base
    int count
    npy_intp room           # bytes of scratch memory for each element
    bint raised


cdef void run_part(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Some loops on some of their elements, a block at a time."""
    cdef Blocks* blocks = <Blocks*> context
    cdef char[NEAR] near
    cdef char* scratch = near
    cdef char* args[OPERANDS]
    cdef npy_intp room = min(stop - start, <npy_intp> BLOCK), size
    cdef Step* step
    cdef Slot* slot
    cdef int i, j
    room = (room + 15) & ~15
    if blocks.room * room > NEAR:
        scratch = <char*> malloc(blocks.room * room)
        if scratch == NULL:
            blocks.raised = True
            return
    fp_clear()
    while start < stop and not blocks.raised:
        size = min(stop - start, <npy_intp> BLOCK)
        for i in range(blocks.count):
            step = &blocks.steps[i]
            for j in range(step.count):
                slot = &blocks.slots[step.slots[j]]
                args[j] = scratch + slot.offset * room if slot.place == SCRATCH else (
                    blocks.base[step.slots[j]] + start * step.strides[j])
            step.function(args, &size, step.strides, step.data)
            if fp_raised():
                blocks.raised = True
                break
        start += size
    if scratch != near:
        free(scratch)


cdef int run_blocks(Tape tape, Frame frame, int first) except -1:
    """The loops behind a step, block by block; one by one where a floating-point flag was raised."""
    cdef Step* step = &tape.steps[first]
    cdef Blocks blocks
    cdef list held
    cdef int i, place
    blocks.steps, blocks.slots, blocks.base, blocks.count = step + 1, tape.slots, frame.base, step.count
    blocks.room, blocks.raised = step.room, False
    with nogil:
        if step.size < 2 * CHUNK // step.count:
            run_part(&blocks, 0, step.size)
        else:
            parallel(run_part, &blocks, step.size, max(<npy_intp> BLOCK, CHUNK // step.count))
    if not blocks.raised:
        return 0
    held = []
    for i in range(first + 1, first + 1 + step.count):
        place = tape.steps[i].slots[tape.steps[i].count - 1]
        if tape.slots[place].place == SCRATCH:
            held.append(np.empty(step.size, tape.dtypes[place]))
            frame.base[place] = PyArray_BYTES(<ndarray> held[len(held) - 1])
        again(tape, frame, i)
    return 0

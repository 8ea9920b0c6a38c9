# cython: boundscheck=False, wraparound=False
"""Tapes: a program as steps over slots of memory that is there already.

Owns the table that is run, which nothing changes any more: slots with their layouts, steps with the addresses of their loops.
Which loop an operator has for operands of some dtypes is NumPy's choice, by way of the operator's ufunc.
"""

from libc.stdlib cimport calloc, free, malloc

import numpy as np

from ..kernels.loops.plain cimport slot_or_bool
from ..kernels.program.ufunc cimport Ufunc, offered
from ..support cimport capi as cnp

cnp.import_array()

_KINDS = {"loop": LOOP, "blocks": BLOCKS, "call": CALL, "allocate": ALLOCATE, "free": FREE, "guard": GUARD, "copy": COPY,
          "move": MOVE, "rows": ROWS}
_PLACES = {
    "external": EXTERNAL, "constant": CONSTANT, "planned": PLANNED, "fresh": FRESH, "called": CALLED, "look": LOOK,
    "scratch": SCRATCH,
}
cdef list _TYPES = [np.dtype(name) for name in ("float32", "float64", "complex64", "complex128", "bool")]


def loop_of(str name, tuple dtypes):
    """Which loop an operator has for operands of these dtypes, None for a Python number.

    Returns
    -------
    (int, numpy.dtype, bool) or None
        The slot of the loop, the result's dtype, whether any other loop gives the same bits: arithmetic, rounded once.
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
    exact = ufunc.cost == 1 and isinstance(ufunc.function, np.ufunc)
    return slot, _TYPES[slot_or_bool(ufunc.out_types[slot])], exact


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
        self.memory, self.externals, self.results, self.frames = memory, externals, results, []
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

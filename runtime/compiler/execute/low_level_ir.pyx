# cython: boundscheck=False, wraparound=False
"""Low-level IR: slots and steps, the form of a program between instructions and an executable.

Holds the slots that each step reads and writes.
"""

from typing import NamedTuple

from cython import no_gc

cdef enum:
    ALIGNED = 64


@no_gc  # its only containers are tuples of numbers
cdef class Slot:
    """A place for an array.

    Attributes
    ----------
    place : str
        "external" (given with each call), "constant", "planned" (in permanent memory), "fresh" (allocated at each call), "called"
        (allocated by an operator), "view" (in the memory of the slot `root`, at `offset` bytes), or "scratch".  "offered" means
        planned, unless the forward that computes it returns its own array instead.
    data : ndarray or None
        The array of a constant.
    object : bool
        Whether some step needs it as a tensor.
    bytes : int
        Size of its memory, a multiple of the alignment for vectors.
    """

    def __init__(self, str place, dtype, tuple shape, tuple strides, Py_ssize_t root=-1, Py_ssize_t offset=0, data=None):
        self.fill(place, dtype, shape, strides, root, offset, data)

    cdef int fill(
        self, str place, object dtype, tuple shape, tuple strides, Py_ssize_t root, Py_ssize_t offset, object data
    ) except -1:
        cdef Py_ssize_t bytes = dtype.itemsize, size, count = 1
        self.place, self.dtype, self.shape, self.strides = place, dtype, shape, strides
        self.root, self.offset, self.data = root, offset, data
        for size in shape:
            count *= size
        self.bytes = (bytes * max(count, 1) + ALIGNED - 1) // ALIGNED * ALIGNED
        return 0


@no_gc
cdef class Loop:
    """An inner loop, run once or for each row; with a second operator, a pair of loops with one operand and two results."""

    def __init__(
        self, str operator, int which, tuple slots, tuple strides, Py_ssize_t size, Py_ssize_t rows=0, tuple jumps=(),
        str second=None,
    ):
        self.operator, self.which, self.slots, self.strides = operator, which, slots, strides
        self.size, self.rows, self.jumps, self.second = size, rows, jumps, second


class Sum(NamedTuple):
    """A sum over `outer` times rows of `length`, with `inner` numbers each."""

    slots: tuple[int, int]  # operand and result
    outer: int
    length: int
    inner: int
    mean: bool  # whether the sums are divided by the length

    @property
    def size(self) -> int:
        """Elements of the operand."""
        return self.outer * self.length * self.inner


class Blocks(NamedTuple):
    """Header of loops that run block by block: the next `loops` steps, the last one possibly a sum of their results.

    With `rows`, the blocks are whole rows, and the steps may also be loops over rows, loops over one number a row and sums of rows.
    """

    loops: int
    size: int  # elements
    room: int  # bytes of scratch memory for each element
    rows: int = 0


cdef class Step:
    """One step of a low-level program.

    Attributes
    ----------
    kind : str
        "loop", "rows", "sum", "move", "into", "forward", "call", "allocate", "free", "guard", "copy", and "blocks" before loops
        that run block by block.
    given : tuple
        As `Executable.add_step` reads it: `Loop` of "loop" and "rows", `Sum` of "sum", `Blocks` of "blocks".
    name : str
        Name of the operator.
    line : tuple or None
        The user's line.
    reads, writes : tuple of int
        Slots.
    """

    def __init__(self, str kind, given, str name, line, tuple reads=(), tuple writes=()):
        self.kind, self.given, self.name, self.line, self.reads, self.writes = kind, given, name, line, reads, writes


cdef Step step_of(str kind, object given, str name, object line, tuple reads, tuple writes):
    """`Step(...)` without the cost of a Python call."""
    cdef Step step = Step.__new__(Step)
    step.kind, step.given, step.name, step.line, step.reads, step.writes = kind, given, name, line, reads, writes
    return step


def largest_loop(list steps):
    """The largest number of elements of a loop without rows."""
    cdef Step step
    cdef Py_ssize_t most = 0
    for step in steps:
        if step.kind == "loop":
            most = max(most, (<Loop> step.given).size)
    return most


def has_blocks(list steps):
    """Whether loops run block by block."""
    cdef Step step
    for step in steps:
        if step.kind == "blocks":
            return True
    return False


def accesses(list slots, Step step, Py_ssize_t rows, Py_ssize_t length):
    """How a step of a group of rows goes through memory.

    Returns
    -------
    list of (int, int, int) or None
        For each operand, then for each result: the slot, the stride in a row, and the stride from row to row.  None if the step does
        not work on `rows` rows of `length` elements, or on one number for each of them.
    """
    cdef Loop loop
    cdef Py_ssize_t item
    if step.kind == "loop":
        loop = step.given
        if loop.size == rows * length:
            return [(place, stride, stride * length) for place, stride in zip(loop.slots, loop.strides)]
        return [(place, 0, stride) for place, stride in zip(loop.slots, loop.strides)] if loop.size == rows else None
    if step.kind == "rows":
        loop = step.given
        return list(zip(loop.slots, loop.strides, loop.jumps)) if (loop.rows, loop.size) == (rows, length) else None
    if step.kind == "sum" and step.given[1:4] == (rows, length, 1):
        item = (<Slot> slots[step.reads[0]]).dtype.itemsize
        return [(step.reads[0], item, item * length), (step.writes[0], 0, item)]
    return None


def root_of(list slots, Py_ssize_t place):
    """The slot that holds a slot's memory."""
    cdef Slot slot = slots[place]
    return slot.root if slot.place == "view" else place

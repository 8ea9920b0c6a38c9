"""Executables: a program as steps over slots of memory that is there already."""

from cpython.ref cimport PyObject

from ...kernels.fusion_engine.assignment cimport Into
from ...kernels.fusion_engine.ufunc cimport PyUFuncGenericFunction
from ...support.capi cimport npy_intp

cdef extern from "gradspec/kernels/fusion_engine/short.h":
    ctypedef struct gradspec_short:
        int operation, size
        int[3] slots
        int start, to
    void gradspec_run_short(const gradspec_short*, npy_intp, char**) noexcept nogil

cdef enum:
    OPERANDS = 4        # operands and result of a loop

cdef enum Kind:
    LOOP                # an inner loop over slots
    BLOCKS              # the loops that follow, block by block
    CALL                # an operator's wrapper, on tensors
    ALLOCATE            # new memory for a slot
    FREE                # a slot's tensor is needed no more
    GUARD               # a slot has to hold these bytes
    COPY                # bytes from slot to slot
    MOVE                # pieces of some slots, and zeros, to their places in another
    INTO                # a kernel on arrays, whose result goes into another one
    FORWARD             # an operator's forward, on arrays
    ROWS                # an inner loop over the rows of its operands
    SUM                 # a sum over rows; behind loops, of blocks that they make

cdef enum Place:
    EXTERNAL            # given with each call
    CONSTANT            # of the executable
    PLANNED             # in the frame's memory, for good
    OFFERED             # there, if the forward that makes it takes what it is offered, else an array of its own
    FRESH               # made by ALLOCATE
    CALLED              # a result of CALL
    VIEW                # at another slot's memory
    SCRATCH             # a block of a thread's own

cdef struct Slot:
    Place place
    npy_intp offset     # in the frame's memory, of a block for each element, or from the slot that it looks at
    int root            # the slot that it looks at
    int type_num
    int ndim
    npy_intp* dims      # and behind them the strides
    npy_intp size       # elements
    bint object         # whether some step wants it as a tensor

cdef struct Piece:
    int slot            # that it comes from; -1 for zeros
    npy_intp to, start, size  # bytes

cdef struct Step:
    Kind kind
    int count           # of operands and result; of BLOCKS the loops that follow; of a call its results
    int[OPERANDS] slots
    npy_intp[OPERANDS] strides
    npy_intp size
    PyUFuncGenericFunction function
    void* data
    Into into           # of INTO
    void* forward       # of FORWARD: the function,
    PyObject** arguments  # and its arguments, NULL in the place of arrays,
    int* places         # which are these slots,
    bint over           # and whether the result lies where one of them does
    npy_intp room       # bytes of scratch memory that blocks want for each element
    npy_intp rows       # of ROWS; of SUM how many times `size` rows are added,
    npy_intp inner      # of so many numbers,
    bint mean           # and whether the sums are divided by that
    npy_intp[OPERANDS] jumps  # from row to row
    bint costly         # of LOOP: an element takes longer than memory does
    Piece* pieces       # of MOVE
    int operation       # of LOOP: in kernels/fusion_engine/short.h, -1 where there is none
    int together        # how many steps from here on run at once, if no flag is raised; 0 of all but the first of them
    int shorts, last_short  # of these steps: where their instructions are,
    int saves, last_save    # and what has to be put back so that they can run again, one by one
    int next_allocation     # of the first of them, and of ALLOCATE: the place of the next of their allocations, 0 behind the last

cdef struct Save:
    int slot
    npy_intp size, place    # bytes, and where in a frame's memory they are kept

cdef class Executable:
    cdef Slot* slots
    cdef Step* steps
    cdef int slot_count, step_count
    cdef npy_intp memory        # bytes that a frame needs for what is planned,
    cdef npy_intp saving        # and bytes for what steps that run together put back
    cdef gradspec_short* shorts
    cdef Save* saves
    cdef int short_count, save_count
    cdef npy_intp* shapes       # of all slots
    cdef list dtypes, data      # of the slots
    cdef list parts             # of the steps: what is no number
    cdef list planned           # the steps as they were planned: names of operators, the user's lines
    cdef list views             # of each slot those that look at its memory
    cdef tuple passing          # slots that hold something from call to call only
    cdef list frames            # that nobody uses at the moment
    cdef tuple externals, results  # slots
    cdef bint careful           # no forward puts its result where an operand lies any more: one of them has had to give up

    cdef int add_step(self, Step* step, int place, str kind, object given) except -1
    cdef int add_forward(self, Step* step, object capsule, tuple arguments, tuple filled, object outputs) except -1
    cdef npy_intp home(self, int place) noexcept
    cdef int join(self) except -1

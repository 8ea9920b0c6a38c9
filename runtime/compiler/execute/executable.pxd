"""Executables: represent a program as steps over slots of memory that is allocated in advance."""

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
    BLOCKS              # header of the following loops, which run block by block
    CALL                # an operator's wrapper, on tensors
    ALLOCATE            # new memory for a slot
    FREE                # release of a slot's tensor
    GUARD               # comparison of a slot with bytes
    COPY                # bytes from slot to slot
    MOVE                # copies of pieces of some slots, and zeros, to a slot
    INTO                # a kernel on arrays that writes to a given array
    FORWARD             # an operator's forward, on arrays
    ROWS                # an inner loop over the rows of its operands
    SUM                 # a sum over rows; behind loops, of their blocks
    NATIVE              # a function in machine code, on the addresses of all slots

cdef enum Place:
    EXTERNAL            # given with each call
    CONSTANT            # of the executable
    PLANNED             # in the frame's permanent memory
    OFFERED             # planned, unless the forward that computes it returns its own array
    FRESH               # allocated by ALLOCATE
    CALLED              # a result of CALL
    VIEW                # in another slot's memory
    SCRATCH             # a block private to a thread

cdef struct Slot:
    Place place
    npy_intp offset     # in the frame's memory, in a scratch block (for each element), or from the root of a view
    int root            # the slot that holds a view's memory
    int type_num
    int ndim
    npy_intp* dims      # followed by the strides
    npy_intp size       # elements
    bint object         # whether some step needs it as a tensor

cdef struct Piece:
    int slot            # the source; -1 for zeros
    npy_intp to, start, size  # bytes

cdef struct Step:
    Kind kind
    int count           # operands and result; for BLOCKS the following loops; for a call its results
    int[OPERANDS] slots
    npy_intp[OPERANDS] strides
    npy_intp size
    PyUFuncGenericFunction function
    void* data
    Into into           # for INTO
    void* forward       # for FORWARD and NATIVE: the function
    PyObject** arguments  # its arguments, NULL in place of arrays
    int* places         # the slots of its arrays
    bint over           # whether the result may overwrite one of them
    npy_intp room       # bytes of scratch memory for each element of a block
    npy_intp rows       # for ROWS the number of rows; for SUM the number of sums over `size` rows
    npy_intp inner      # numbers in each row
    bint mean           # whether the sums are divided by `size`
    npy_intp[OPERANDS] jumps  # strides from row to row
    bint costly         # for LOOP: whether an element takes longer than its memory access
    Piece* pieces       # for MOVE
    int operation       # for LOOP: its number in kernels/fusion_engine/short.h, or -1
    int together        # number of steps from here on that run together unless a flag is raised; 0 except for the first of them
    int shorts, last_short  # range of their instructions
    int saves, last_save    # range of the memory restored before they run one by one
    int next_allocation     # for the first of them, and for ALLOCATE: the next allocation among them, or 0

cdef struct Save:
    int slot
    npy_intp size, place    # bytes, and the offset of the copy in a frame's memory

cdef class Executable:
    cdef Slot* slots
    cdef Step* steps
    cdef int slot_count, step_count
    cdef npy_intp memory        # bytes of planned memory in a frame
    cdef npy_intp saving        # bytes for the memory that steps that run together restore
    cdef gradspec_short* shorts
    cdef Save* saves
    cdef int short_count, save_count
    cdef npy_intp* shapes       # of all slots
    cdef list dtypes, data      # of the slots
    cdef list parts             # of the steps: objects that are not numbers
    cdef list planned           # the steps as planned, with names of operators and the user's lines
    cdef list views             # for each slot, its views
    cdef tuple passing          # slots that are released after each call
    cdef list frames            # frames that are not in use
    cdef tuple externals, results  # slots
    cdef bint careful           # whether forwards may no longer overwrite operands, because one had to give up
    cdef readonly Executable otherwise  # runs in place of a NATIVE step that raised a floating-point flag

    cdef int add_step(self, Step* step, int place, str kind, object given) except -1
    cdef int add_forward(self, Step* step, object capsule, tuple arguments, tuple filled, object outputs) except -1
    cdef npy_intp home(self, int place) noexcept
    cdef int join(self) except -1

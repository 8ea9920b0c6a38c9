"""GuardedCalls: whether a call is one that was recorded, asked without Python."""

from ...support.capi cimport npy_intp
from ..record.result_views cimport ResultView
from .executable cimport Executable

cdef struct Layout:
    int type_num
    int ndim
    int flags           # of NumPy's: aligned and writeable
    int needs           # bits of what a tensor's history is
    npy_intp* dims      # and behind them the strides

cdef class ArgumentGuards:
    cdef tuple patterns         # of the positional arguments
    cdef dict named             # of the others
    cdef list held              # tensors and arrays that the function holds
    cdef tuple graded           # of the given, those with a `.grad`
    cdef Layout* layouts        # of all that is given
    cdef npy_intp* shapes
    cdef int count, argument_count

    cdef bint match(self, tuple args, dict keywords, list given, list arrays) except -1

cdef class Recorded:
    cdef public Executable executable
    cdef public tuple wanted        # which of the given arrays the executable takes
    cdef public tuple written       # which of them are written to
    cdef public tuple counted       # the same as (given, how often, others of its memory before it), for their versions
    cdef public tuple groups        # which share memory
    cdef public tuple gradients     # (given, result or -1): leaves that have another `.grad` afterwards
    cdef public tuple roots         # results beside the executable's own: (result, given or -1, result or -1, version)
    cdef public object answer       # a result's number, or a nest of Results
    cdef public bint simple         # neither draws nor results that require grad
    cdef public Py_ssize_t calls    # since it was made; 0 where nobody counts
    cdef public Py_ssize_t next_check   # the call that is eager again

    cdef object execute(self, list given, list arrays)

cdef class Result:
    cdef readonly int number
    cdef readonly bint plain        # an ndarray
    cdef readonly object finish     # what becomes of the tensor, None for itself
    cdef readonly int given         # what is passed through, or looked at; else -1
    cdef readonly ResultView view         # the way from there, or from the result, to a view

cdef class GuardedCalls:
    cdef public list recent         # (Guards, ArgumentGuards, recordings), the latest first
    cdef public bint shut           # calls run as they are
    cdef public object dynamic      # None, or which arguments are numbers that may be others at each call
    cdef public int useless

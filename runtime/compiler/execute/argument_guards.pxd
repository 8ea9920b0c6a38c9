"""Argument guards: decide without Python whether a call fits a recording."""

from ...support.capi cimport npy_intp
from ..record.result_views cimport ResultView
from .executable cimport Executable

cdef struct Layout:
    int type_num
    int ndim
    int flags           # NumPy's flags: aligned and writeable
    int needs           # bits for a tensor's autograd state
    npy_intp* dims      # followed by the strides

cdef class ArgumentGuards:
    cdef tuple patterns         # of the positional arguments
    cdef dict named             # patterns of the keyword arguments
    cdef list held              # captured tensors and arrays
    cdef tuple graded           # inputs that have a `.grad`
    cdef Layout* layouts        # of all inputs
    cdef npy_intp* shapes
    cdef int count, argument_count

    cdef bint match(self, tuple args, dict keywords, list given, list arrays) except -1

cdef class Recorded:
    cdef public Executable executable
    cdef public tuple wanted        # numbers of the inputs that the executable uses
    cdef public tuple written       # numbers of the inputs that are written to
    cdef public tuple counted       # for versions: (input, number of writes, earlier inputs with the same memory)
    cdef public tuple groups        # shared memory of the inputs: see `aliasing.differences`
    cdef public tuple gradients     # (input, result or -1): leaves whose `.grad` is replaced
    cdef public tuple roots         # further results: (result, input or -1, result or -1, version)
    cdef public object answer       # a result's number, or a pytree of Results
    cdef public bint simple         # neither draws nor results that require grad
    cdef public Py_ssize_t calls    # number of calls; counted only for rechecks
    cdef public Py_ssize_t next_check   # the next call that runs eagerly as a check

    cdef object execute(self, list given, list arrays)

cdef class Result:
    cdef readonly int number
    cdef readonly bint plain        # an ndarray
    cdef readonly object finish     # a function applied to the tensor, or None
    cdef readonly int given         # the input that is returned or is the base of the view; else -1
    cdef readonly ResultView view         # the steps from there, or from the result, to a view

cdef class GuardedCalls:
    cdef public list recent         # (Guards, ArgumentGuards, recordings), the latest first
    cdef public bint shut           # whether calls run eagerly
    cdef public object dynamic      # the arguments that are dynamic numbers, or None
    cdef public int useless

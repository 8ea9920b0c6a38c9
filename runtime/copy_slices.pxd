"""CopySlices: a base after a recorded write to one of its views."""

from .grad_mode cimport ThreadState
from .node cimport Node
from .tensor cimport TensorBase
from .view cimport ViewStep

cdef class CopySlices(Node):
    cdef ViewStep steps         # from the base to the view; None where all of it was written
    cdef ViewStep stop          # where the steps begin; None at the base
    cdef object layout          # an array of the base's shape and strides, without its memory; None for C order

cdef int rebase(ThreadState* state, TensorBase target, TensorBase value, bint recording) except -1
cdef int rebase_history(ThreadState* state, TensorBase target, TensorBase value) except -1

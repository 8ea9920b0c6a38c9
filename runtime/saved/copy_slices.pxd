"""CopySlices: the history of a base after a recorded write to one of its views."""

from ..support.capi cimport ndarray
from ..core.grad_mode cimport ThreadState
from ..core.node cimport Node
from ..core.tensor cimport TensorBase
from .view cimport ViewStep

cdef class OfView(Node):
    cdef ViewStep steps         # from the base to the view; None if they are the same tensor
    cdef tuple shape            # of the base
    cdef object dtype
    cdef object layout          # an array with its shape and strides, without its memory; None for C order

    cdef int set_layout(self, ndarray base) except -1

cdef class AsStridedBackward(OfView):
    pass

cdef class CopySlices(OfView):
    cdef ViewStep stop          # the step after which the steps begin; None at the base

cdef int rebase(ThreadState* state, TensorBase target, TensorBase value, bint recording) except -1
cdef int rebase_history(ThreadState* state, TensorBase target, TensorBase value) except -1
cdef int pass_by(ThreadState* state, TensorBase view, TensorBase alias) except -1

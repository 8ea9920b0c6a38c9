"""FunctionNode: the node, and the `ctx`, of a custom Function."""

from ..core.node cimport Node
from .intermediate_values cimport Kept

cdef class FunctionNode(Node):
    cdef tuple saved            # pairs (saved value, version) of save_for_backward
    cdef object to_save         # the tensors of save_for_backward, until the forward is done
    cdef object for_forward     # the tensors of save_for_forward
    cdef tuple shown            # saved_tensors while jvp runs
    cdef object dirty
    cdef object non_differentiable
    cdef tuple needs_input_grad_
    cdef tuple is_tensor        # for each argument of apply
    cdef object guard           # for a node created inside of a vmap: the mapping that refuses rows in its backward
    cdef Kept kept              # intermediate values that were kept, else None
    cdef set no_gradient        # numbers of the outputs that are not differentiable
    cdef bint materialize
    cdef bint materialize_non_differentiable
    cdef bint pure_view         # the output is a view with declared steps, which a write to it follows
    cdef bint lasting           # saved values survive a pass, as other outputs need them

    cdef int save(self) except -1
    cdef object differentiate(self, object grad, bint recorded)
    cdef object checked(self, object result, bint recorded)

"""AccumulateGrad, and the edges that lead from a new node to the producers of its inputs."""

from cpython.ref cimport PyObject

from .grad_mode cimport GRAD_DISABLED, ThreadState
from .node cimport Node, NodeHooks
from .tensor cimport REQUIRES_GRAD, TANGENT, VIEW, TensorBase, is_tensor

cdef class AccumulateGrad(Node):
    cdef TensorBase leaf

    cdef NodeHooks ensure_hooks(self)
    cdef run_post_hooks(self)

cdef Node grad_accumulator(TensorBase leaf)
cdef Node gradient_edge(TensorBase tensor)
cdef int connect(Node node, ThreadState* state, PyObject** operands, Py_ssize_t count) except -1
cdef int connect_all(Node node, ThreadState* state, tuple operands) except -1
cdef int set_history(TensorBase tensor, Node node, int output_nr) except -1
cdef int set_histories(list tensors, Node node) except -1
cdef bint view_needs_grad(ThreadState* state, TensorBase value) except -1

cdef inline int connect_one(Node node, ThreadState* state, object x) except -1:
    cdef PyObject* operand = <PyObject*> x
    return connect(node, state, &operand, 1)

cdef inline int connect_two(Node node, ThreadState* state, object a, object b) except -1:
    cdef PyObject* operands[2]
    operands[0], operands[1] = <PyObject*> a, <PyObject*> b
    return connect(node, state, operands, 2)

cdef inline bint needs_grad(ThreadState* state, object value) except -1:
    """Whether an operation on `value` has to be recorded."""
    if not is_tensor(value) or not (<TensorBase> value).flags & (REQUIRES_GRAD | TANGENT | VIEW):
        return False
    if (<TensorBase> value).flags & (TANGENT | VIEW):
        return view_needs_grad(state, <TensorBase> value)
    return not state.flags & GRAD_DISABLED

cdef inline bint any_needs_grad(ThreadState* state, tuple values) except -1:
    for value in values:
        if needs_grad(state, value):
            return True
    return False

# cython: boundscheck=False, wraparound=False
"""AccumulateGrad: where gradients end, and edges: where a new node's gradients go.

Owns the rules for `.grad` (steal, add in place, layout) and the collection of next edges.  A leaf holds its
AccumulateGrad weakly and the node holds the leaf, so neither keeps the other alive in a circle; an edge to a leaf is the
leaf itself, and the node is made when a backward pass or a user asks for it.
"""

from cpython.ref cimport Py_INCREF, PyObject
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport UINT64_MAX
cimport numpy as cnp
from numpy cimport ndarray

import numpy as np

from .capi cimport (
    NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, PyArray_DIMS, PyArray_FLAGS, PyArray_NDIM,
    PyArray_STRIDES, PyObject_GC_IsTracked, PyObject_GC_UnTrack, PyTupleObject, Py_REFCNT,
)
from .dispatch import ops
from .grad_mode cimport ThreadState
from .kernels.ufunc cimport add_into
from . cimport node as node_module
from .node cimport Node, NodeHooks, Wanted
from .tensor cimport REQUIRES_GRAD, VIEW, TensorBase, check_view, is_inexact, is_tensor, wrap

cnp.import_array()

cdef class AccumulateGrad(Node):
    """Adds the gradient that arrives to its leaf's `.grad`."""

    def __dealloc__(self):
        if self.leaf is not None:
            self.leaf.accumulator = NULL

    @property
    def variable(self):
        """The leaf."""
        return self.leaf

    cdef NodeHooks ensure_hooks(self):
        """The leaf keeps the hooks: this node may be gone, and made again, before a gradient arrives."""
        if self.hooks is None:
            self.hooks = self.leaf.hooks_of_node()
            self.track()
        return self.hooks

    cdef object apply(self, object grad, Wanted wanted):
        cdef TensorBase leaf = self.leaf
        cdef ndarray array = grad
        if leaf.grad_ is not None and leaf.grad_.grad_fn_ is None:
            add_to(leaf.grad_, array)
        elif leaf.grad_ is not None:
            leaf.grad_ = ops.add(leaf.grad_, wrap(array))
        else:
            leaf.grad_ = wrap(array if is_ours(array) and has_layout_of(array, leaf.array) else copy_like(array, leaf.array))
        self.run_post_hooks()
        return None

    cdef object apply_recorded(self, object grad, Wanted wanted):
        cdef TensorBase leaf = self.leaf
        cdef TensorBase value = grad
        if leaf.grad_ is None:
            leaf.grad_ = value if value.flags & REQUIRES_GRAD else wrap(copy_like(value.array, leaf.array))
            if leaf.grad_ is not value and value.extra is not None:
                leaf.grad_.extra = value.extra  # a tangent, in forward over reverse
                leaf.grad_.flags |= value.flags
        else:
            leaf.grad_ = ops.add(leaf.grad_, value)
        self.run_post_hooks()
        return None

    cdef run_post_hooks(self):
        if self.hooks is not None:
            for hook in tuple(self.hooks.post_accumulate.values()):
                if hook(self.leaf) is not None:
                    raise RuntimeError("post accumulate grad hooks should return None.")


cdef add_to(TensorBase total, ndarray term):
    """Accumulate in place, so that whoever holds the old `.grad` sees the sum."""
    if not PyArray_FLAGS(total.array) & NPY_ARRAY_WRITEABLE:
        total.array = total.array.copy()
    add_into(total.array, term)
    total.bump()


cdef bint is_ours(ndarray array) noexcept:
    """True where nobody else can see the buffer: the engine's reference is the only one."""
    cdef int wanted = NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE
    return PyArray_FLAGS(array) & wanted == wanted and Py_REFCNT(array) <= 2


cdef bint has_layout_of(ndarray grad, ndarray leaf) noexcept:
    cdef int i
    if PyArray_FLAGS(grad) & PyArray_FLAGS(leaf) & NPY_ARRAY_C_CONTIGUOUS:
        return True
    for i in range(PyArray_NDIM(leaf)):
        if PyArray_DIMS(leaf)[i] > 1 and PyArray_STRIDES(grad)[i] != PyArray_STRIDES(leaf)[i]:
            return False
    return True


cdef ndarray copy_like(ndarray grad, ndarray leaf):
    """A copy in the leaf's memory order where the leaf is dense, else in C order."""
    cdef ndarray result = np.empty_like(leaf, dtype=grad.dtype, order="K")
    result[...] = grad
    return result


cdef Node grad_accumulator(TensorBase leaf):
    """The node that accumulates into `leaf`; the same one as long as some graph holds it."""
    cdef AccumulateGrad node
    if leaf.accumulator != NULL:
        return <Node> leaf.accumulator
    node = AccumulateGrad.__new__(AccumulateGrad)
    PyObject_GC_UnTrack(<void*> node)
    node.leaf = leaf
    node.sequence_nr = UINT64_MAX  # leaves are served as soon as they are ready
    node.next_nodes = ()
    node.describe(0, leaf.array)
    if leaf.extra is not None and leaf.extra.leaf_hooks is not None:
        node.hooks = leaf.extra.leaf_hooks
        node.track()
    leaf.accumulator = <void*> node
    return node


cdef Node accumulator_of_leaf(object leaf):
    return grad_accumulator(<TensorBase> leaf)


node_module.accumulator_of = accumulator_of_leaf


cdef Node gradient_edge(TensorBase tensor):
    """The node that the gradient of `tensor` goes to."""
    return tensor.grad_fn_ if tensor.grad_fn_ is not None else grad_accumulator(tensor)


cdef int connect(Node node, ThreadState* state, PyObject** operands, Py_ssize_t count) except -1:
    """Give a new node its place: a sequence number, and an edge for each operand that needs a gradient."""
    cdef Py_ssize_t i
    cdef TensorBase operand
    cdef object target
    cdef bint tracked = False
    cdef tuple next_nodes = PyTuple_New(count)
    node.sequence_nr = state.sequence_nr
    state.sequence_nr += 1
    for i in range(count):
        # That something is recorded is known: what is left of needs_grad is the operand's own flags.
        operand = <TensorBase> operands[i] if is_tensor(<object> operands[i]) else None
        if operand is not None and operand.flags & VIEW:
            check_view(operand)
        if operand is not None and operand.flags & REQUIRES_GRAD:
            if operand.grad_fn_ is not None:
                target = operand.grad_fn_
                tracked = tracked or operand.grad_fn_.tracked
            else:
                target = operand
                node.has_leaves = True
                tracked = tracked or (operand.extra is not None and PyObject_GC_IsTracked(operand))
            if operand.output_nr_ != 0:
                if node.next_nrs == NULL:
                    node.next_nrs = <int*> node.allocate(count * sizeof(int))
                node.next_nrs[i] = operand.output_nr_
            Py_INCREF(target)
            PyTuple_SET_ITEM(next_nodes, i, target)
        else:
            Py_INCREF(None)
            PyTuple_SET_ITEM(next_nodes, i, None)
    node.next_nodes = next_nodes
    if tracked:  # below a hook: part of whatever circle the hook closes
        node.track()
    else:
        PyObject_GC_UnTrack(<void*> next_nodes)
        PyObject_GC_UnTrack(<void*> node)
    return 0


cdef int connect_all(Node node, ThreadState* state, tuple operands) except -1:
    """`connect` for any number of operands."""
    return connect(node, state, (<PyTupleObject*> operands).ob_item, len(operands))


cdef int set_history(TensorBase tensor, Node node, int output_nr) except -1:
    """Make `tensor` output `output_nr` of `node`; integer results carry no gradient."""
    if not is_inexact(tensor.array):
        return 0
    node.describe(output_nr, tensor.array)
    tensor.grad_fn_ = node
    tensor.output_nr_ = output_nr
    tensor.flags |= REQUIRES_GRAD
    if node.tracked:
        tensor.track()
    return 0


cdef int set_histories(list tensors, Node node) except -1:
    """`set_history` for an operator whose one output is a list."""
    cdef int i
    node.set_outputs(len(tensors))
    for i in range(len(tensors)):
        set_history(tensors[i], node, i)
    return 0

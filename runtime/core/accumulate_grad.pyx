# cython: boundscheck=False, wraparound=False
"""AccumulateGrad: accumulate gradients into leaves, and connect new nodes by edges.

Defines the rules for `.grad` (steal, add in place) and collects the next edges of a new node.  A leaf references its
AccumulateGrad weakly and the node references the leaf, so there is no reference cycle.  An edge to a leaf is the leaf itself;
the node is created when a backward pass or a user asks for it.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport UINT64_MAX, uint32_t, uint64_t
cimport cython

import os
import time

import numpy as np

from ..support cimport capi as cnp
from ..support.capi cimport (
    NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, PyArray_FLAGS, PyObject_GC_IsTracked, PyObject_GC_UnTrack,
    PyThread_get_thread_ident, PyTupleObject, Py_REFCNT, ndarray,
)
from ..support.dispatch import ops
from .forward_ad cimport levels_of
from .grad_mode cimport ANOMALY, BY_OPERATOR, DUAL, GRAD_DISABLED, ThreadState, thread_state
from .leaf_gradient cimport copy_like, has_layout_of, overlaps, type_of_gradient
from .non_operator_events cimport call_hook
from ..kernels.fusion_engine.ufunc cimport add_plain
from . cimport node as node_module
from .node cimport Node, NodeHooks, Wanted
from .provenance cimport current_line, remember_forward
from . cimport tensor as tensor_module
from .tensor cimport (
    ACCUMULATING, MOVED, REQUIRES_GRAD, TANGENT, VIEW, TensorBase, TensorExtra, check_view, is_inexact, is_tensor, wrap,
)

cnp.import_array()

# Which thread adds to a `.grad` that has the flag ACCUMULATING: address of the tensor -> number of the thread.
cdef dict adding = {}
if hasattr(os, "register_at_fork"):  # other threads do not survive in a child, nor do their additions
    os.register_at_fork(after_in_child=adding.clear)


@cython.no_gc_clear  # __dealloc__ needs the leaf to reset its pointer: the collector must not clear it before
cdef class AccumulateGrad(Node):
    """Adds the arriving gradient to its leaf's `.grad`.

    Several threads may bring gradients to one leaf.  A result that was computed with the GIL released is stored only if
    `.grad` is unchanged since; an addition in place holds either the GIL or the flag ACCUMULATING.
    """

    def __dealloc__(self):
        if self.leaf is not None and self.leaf.accumulator == <void*> self:
            self.leaf.accumulator = NULL

    @property
    def variable(self):
        """The leaf."""
        return self.leaf

    cdef NodeHooks ensure_hooks(self):
        """The leaf keeps the hooks: this node may be freed, and created again, before a gradient arrives."""
        if self.hooks is None:
            self.hooks = self.leaf.hooks_of_node()
            self.track()
        return self.hooks

    cdef int describe(self, int output_nr, ndarray array) except -1:
        Node.describe(self, output_nr, array)
        self.output.type_num = type_of_gradient(self.leaf, array)
        return 0

    cdef object dtype_of_output(self, int output_nr):
        return (<object> self.leaf.array).dtype

    cdef object apply(self, object grad, Wanted wanted):
        cdef TensorBase leaf = self.leaf, fresh
        cdef ndarray array = grad
        if leaf.flags & MOVED and array is not None:
            refuse_other_shape(leaf, (<object> array).shape)
        if array is None or not leaf.flags & REQUIRES_GRAD:  # undefined, or the leaf was frozen after the forward
            pass
        elif leaf.grad_ is None:
            fresh = wrap(array if is_ours(array) and has_layout_of(array, leaf.array) else copy_like(array, leaf.array))
            if leaf.grad_ is None:
                leaf.grad_ = fresh
            else:  # another thread was first
                add_to(leaf.grad_, array)
        else:
            add_to(leaf.grad_, array)
        self.run_post_hooks()
        return None

    cdef object apply_recorded(self, object grad, Wanted wanted):
        cdef TensorBase leaf = self.leaf, value = grad, total, fresh
        cdef bint in_place = thread_state().flags & GRAD_DISABLED != 0
        if leaf.flags & MOVED and value is not None:
            refuse_other_shape(leaf, value.shape)
        if value is None or not leaf.flags & REQUIRES_GRAD:
            pass
        elif leaf.grad_ is None:
            fresh = value
            if not (is_free(value) and has_layout_of(value.array, leaf.array)) or in_place and value.flags & REQUIRES_GRAD:
                # Recorded, with its tangents: the gradient may belong to another leaf, or to the user.
                fresh = laid_out(ops.copy(value), leaf)
            if leaf.grad_ is None:
                leaf.grad_ = fresh
            else:
                replace_sum(leaf, value)
        elif not in_place:
            replace_sum(leaf, value)
        else:
            total = leaf.grad_
            if (total.flags | value.flags) & TANGENT or thread_state().flags & BY_OPERATOR:
                total.add_(value)
            else:
                add_to(total, value.array)
        self.run_post_hooks()
        return None

    cdef bint takes_undefined(self):
        """Hooks run even if there is nothing to add."""
        return self.hooks is not None and bool(self.hooks.post_accumulate)

    cdef run_post_hooks(self):
        if self.hooks is not None:
            for hook in tuple(self.hooks.post_accumulate.values()):
                if call_hook(self, hook, (self.leaf,)) is not None:
                    raise RuntimeError("post accumulate grad hooks should return None.")


cdef int refuse_other_shape(TensorBase leaf, tuple shape) except -1:
    """Refuse a gradient that was recorded before the leaf took an array of a different shape."""
    if shape != (<object> leaf.array).shape:
        raise RuntimeError(f"a gradient of shape {list(shape)} arrives at a leaf whose data was replaced by an array of shape "
                           f"{list((<object> leaf.array).shape)} since; call backward first, or compute it again")
    return 0


cdef int add_to(TensorBase total, ndarray term) except -1:
    """Accumulate in place, so that holders of the old `.grad` see the sum."""
    if total.flags & ACCUMULATING:
        wait_for(total)
    total.bump()
    if not (PyArray_FLAGS(total.array) & NPY_ARRAY_WRITEABLE and add_plain(total.array, term)):
        add_slowly(total, term)
    return 0


cdef int add_slowly(TensorBase total, ndarray term) except -1:
    """Add the operands that no single loop adds; NumPy releases the GIL, so other threads are kept away meanwhile."""
    cdef bint nested = total.flags & ACCUMULATING != 0  # inside itself, in a callback of np.errstate
    if (<object> total.array).shape != (<object> term).shape:
        raise RuntimeError(f"a gradient of shape {list((<object> term).shape)} cannot be added to a .grad of shape "
                           f"{list((<object> total.array).shape)}; was .data replaced? Set .grad to None first")
    total.flags |= ACCUMULATING
    adding[<size_t> <void*> total] = PyThread_get_thread_ident()
    try:
        if not PyArray_FLAGS(total.array) & NPY_ARRAY_WRITEABLE:
            total.array = total.array.copy()
        elif overlaps(total.array):
            raise RuntimeError("unsupported operation: more than one element of .grad refers to a single memory location, so "
                               "nothing can be added to it in place; assign a copy of it")
        np.add(total.array, term, out=total.array)
    finally:
        if not nested:
            total.flags &= ~<unsigned int> ACCUMULATING
            adding.pop(<size_t> <void*> total, None)
    return 0


cdef int wait_for(TensorBase total) except -1:
    """Wait until no other thread adds to `total`."""
    cdef size_t place = <size_t> <void*> total, here = PyThread_get_thread_ident()
    while total.flags & ACCUMULATING and adding.get(place) != here:
        if place in adding:
            time.sleep(2e-5)
        else:  # begun in the parent process before the fork
            total.flags &= ~<unsigned int> ACCUMULATING
    return 0


cdef int replace_sum(TensorBase leaf, TensorBase term) except -1:
    """Replace `.grad` by a recorded sum; repeat if another thread changed `.grad` meanwhile."""
    cdef TensorBase total, fresh
    cdef uint32_t version
    while True:
        total = leaf.grad_
        if total is None:
            fresh, version = laid_out(ops.copy(term), leaf), 0
        else:
            if total.flags & ACCUMULATING:
                wait_for(total)
            version = total.version()
            fresh = laid_out(ops.add(total, term), leaf)
        if leaf.grad_ is total and (total is None or total.version() == version and not total.flags & ACCUMULATING):
            leaf.grad_ = fresh
            return 0


cdef bint is_ours(ndarray array) noexcept:
    """True if no other code can see the buffer: the engine's reference is the only one."""
    cdef int wanted = NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE
    return PyArray_FLAGS(array) & wanted == wanted and Py_REFCNT(array) <= 2


cdef bint is_free(TensorBase value) noexcept:
    """True if only the engine holds a tensor and its memory: it may become a `.grad`."""
    cdef ndarray array = value.array
    return Py_REFCNT(value) <= 2 and not value.flags & VIEW and is_ours(array)


cdef TensorBase laid_out(TensorBase fresh, TensorBase leaf):
    """A new tensor that no other code has seen, in the memory order of a gradient of `leaf`."""
    if not has_layout_of(fresh.array, leaf.array):
        fresh.array = copy_like(fresh.array, leaf.array)
    return fresh


cdef Node grad_accumulator(TensorBase leaf):
    """The node that accumulates into `leaf`; the same one as long as some graph holds it."""
    cdef AccumulateGrad node
    if leaf.accumulator != NULL:
        return <Node> leaf.accumulator
    node = AccumulateGrad.__new__(AccumulateGrad)
    PyObject_GC_UnTrack(<void*> node)
    node.sequence_nr = UINT64_MAX  # leaves are processed as soon as possible
    node.leaf = leaf
    node.describe(0, leaf.array)
    if leaf.accumulator != NULL:  # allocation may collect garbage, and so run any code
        return <Node> leaf.accumulator
    if leaf.extra is not None and leaf.extra.leaf_hooks is not None:
        node.hooks = leaf.extra.leaf_hooks
        node.track()
    leaf.accumulator = <void*> node
    return node


cdef int leave(TensorBase leaf) except -1:
    """Make the leaf a new variable from here on: earlier recordings keep their accumulator.

    Nodes recorded before a leaf first moved have the leaf for an edge; nodes recorded later have the accumulator of that time.
    """
    cdef TensorExtra extra
    if not leaf.flags & REQUIRES_GRAD or leaf.grad_fn_ is not None:
        return 0
    extra = leaf.ensure_extra()
    if extra.former is None:
        extra.former = grad_accumulator(leaf)
        extra.former.track()
        leaf.track()
    leaf.accumulator = NULL
    leaf.flags |= MOVED
    return 0


cdef Node accumulator_of_leaf(object value, bint is_edge):
    """The node that receives the gradient of `value`: for new recordings, or for a node that has the leaf itself for an edge."""
    cdef TensorBase leaf = value
    if is_edge and leaf.flags & MOVED and leaf.extra is not None and leaf.extra.former is not None:
        return leaf.extra.former
    return grad_accumulator(leaf)


tensor_module.leave_accumulator, node_module.accumulator_of = leave, accumulator_of_leaf


cdef Node gradient_edge(TensorBase tensor):
    """The node that receives the gradient of `tensor`."""
    return tensor.grad_fn_ if tensor.grad_fn_ is not None else grad_accumulator(tensor)


cdef int connect(Node node, ThreadState* state, PyObject** operands, Py_ssize_t count) except -1:
    """Initialise a new node: its sequence number, and an edge for each operand that needs a gradient."""
    cdef Py_ssize_t i
    cdef TensorBase operand
    cdef object target
    cdef bint tracked = False
    node.edge_count = <int> count
    if count > 2:
        node.all_edges = (None,) * count
    node.sequence_nr = state.sequence_nr
    state.sequence_nr += 1
    node.origin = current_line()
    for i in range(count):
        # The caller knows that the operation is recorded: of needs_grad only the operand's own flags remain to be tested.
        operand = <TensorBase> operands[i] if is_tensor(<object> operands[i]) else None
        if operand is not None and operand.flags & VIEW:
            check_view(operand)
        if operand is not None and operand.flags & REQUIRES_GRAD:
            if operand.grad_fn_ is not None:
                target = operand.grad_fn_
                tracked = tracked or operand.grad_fn_.tracked
            elif operand.flags & MOVED:
                target = grad_accumulator(operand)
                tracked = True
            else:
                target = operand
                node.leaves |= <uint64_t> 1 << min(i, 63)
                tracked = tracked or (operand.extra is not None and PyObject_GC_IsTracked(operand))
            if operand.output_nr_ != 0:
                if node.next_nrs == NULL:
                    node.next_nrs = <int*> node.allocate(count * sizeof(int))
                node.next_nrs[i] = operand.output_nr_
            if count > 2:
                node.put_edge(i, target)
            elif i:
                node.second_edge = target
            else:
                node.first_edge = target
    if tracked:  # below a hook: part of any reference cycle that the hook closes
        node.track()
    else:
        if count > 2:
            PyObject_GC_UnTrack(<void*> node.all_edges)
        PyObject_GC_UnTrack(<void*> node)
    if state.flags & ANOMALY:
        remember_forward(state, node)
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


cdef bint view_needs_grad(ThreadState* state, TensorBase value) except -1:
    """`needs_grad` of a view, which follows its base first, or of a tensor with a tangent."""
    if value.flags & TANGENT and not state.flags & DUAL:
        levels_of((value,))  # tangents of another thread are refused
    if state.flags & GRAD_DISABLED:
        return False
    if value.flags & VIEW:
        check_view(value)
    return value.flags & REQUIRES_GRAD != 0

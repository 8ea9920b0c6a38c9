"""Node: one recorded operation, and the engine's data about it and its outputs."""

from cpython.ref cimport PyObject
from libc.stdint cimport UINT64_MAX, uint64_t

from ..support.capi cimport PyTupleObject, ndarray, npy_intp

cdef enum:
    INLINE_DIMS = 4

cdef struct InputMetadata:
    int ndim
    int type_num
    npy_intp* dims              # points to `inline_dims`, or into the node's `memory` beyond 4 dimensions
    npy_intp[INLINE_DIMS] inline_dims

# The gradients that a task requests from a node: bit i for the gradient of input i.  With more than 64 inputs all bits are set.
ctypedef uint64_t Wanted

cdef struct TaskSlot:
    uint64_t task               # id of the GraphTask that wrote these fields; 0 before the first
    int dependencies            # edges into the node with gradients still to arrive
    bint visited                # the traversal of the task has reached the node
    bint needed                 # on a path to a requested gradient
    bint captured               # some gradient that arrives here is a result
    Wanted wanted               # the inputs whose gradients the task requests from this node
    PyObject* buffer            # the gradient so far, an owned reference; a list if there are several outputs

cdef class NodeHooks:
    cdef public dict tensor_pre      # output number -> {id: hook}; run first, on one gradient
    cdef public dict retains_grad    # output number -> weak reference to the tensor that keeps its gradient
    cdef public dict pre             # {id: hook(grads)}
    cdef public dict post            # {id: hook(grad_inputs, grad_outputs)}
    cdef public dict post_accumulate  # {id: hook(tensor)}, leaves only
    cdef public dict metadata        # the user's own notes

cdef class Node:
    cdef int edge_count         # one for each input of the forward: the Node that computed it, a leaf itself, or None
    cdef object first_edge      # for one or two edges
    cdef object second_edge
    cdef tuple all_edges        # for more edges; else None
    cdef void* following        # in the list of nodes that are about to be freed
    cdef uint64_t leaves        # bit i: edge i ends at a leaf, whose AccumulateGrad is created on demand; bit 63: any other edge
    cdef int* next_nrs          # the output number at each next node; NULL if all are 0; lies in `memory`
    cdef uint64_t sequence_nr   # in order of creation; the engine runs the greatest first
    cdef int n_outputs
    cdef InputMetadata output   # of output 0
    cdef InputMetadata* outputs  # of all outputs; NULL if there is one; lies in `memory`
    cdef list memory            # memory behind the pointers: Python objects, so that nodes need no destructor
    cdef bint released          # saved values were dropped
    cdef uint64_t origin        # the line that recorded the node, as provenance numbers it; 0 if unknown

    cdef TaskSlot slot          # data of the GraphTask that traverses this node
    cdef NodeHooks hooks        # None until a hook or metadata is attached
    cdef object __weakref__

    cdef bint tracked           # tracked by the cyclic collector

    cdef object apply(self, object grad, Wanted wanted)
    cdef object apply_recorded(self, object grad, Wanted wanted)
    cdef object apply_rows(self, object grad, Wanted wanted)
    cdef void release_variables(self)
    cdef bint takes_undefined(self)
    cdef bint takes_batch(self)
    cdef bint takes_deferred(self)
    cdef object dtype_of_output(self, int output_nr)

    cdef inline PyObject* edge(self, Py_ssize_t i) noexcept:
        """The target of edge `i`, borrowed."""
        if self.edge_count > 2:
            return (<PyTupleObject*> self.all_edges).ob_item[i]
        return <PyObject*> self.second_edge if i else <PyObject*> self.first_edge

    cdef inline bint needs(self, int i) noexcept:
        """Whether input `i` has a gradient (needs_input_grad)."""
        return self.edge(i) != <PyObject*> None

    cdef inline Wanted edges(self) noexcept:
        """The mask of all inputs that have a gradient: the value of `wanted` if all are requested."""
        cdef Py_ssize_t i
        cdef Wanted mask = 0
        if self.edge_count > 64:
            return UINT64_MAX
        for i in range(self.edge_count):
            if self.edge(i) != <PyObject*> None:
                mask |= <Wanted> 1 << i
        return mask

    cdef inline Node next_node(self, Py_ssize_t i):
        """The node that receives the gradient of input `i`, or None."""
        cdef PyObject* item = self.edge(i)
        if self.leaves and self.is_leaf(i):
            return accumulator_of(<object> item, True)
        return <Node> item

    cdef inline bint is_leaf(self, Py_ssize_t i) noexcept:
        """Whether the gradient of input `i` ends at a leaf."""
        if i < 63:
            return (self.leaves >> i) & 1
        cdef PyObject* item = self.edge(i)
        return item != <PyObject*> None and not isinstance(<object> item, Node)

    cdef inline int next_nr(self, int i) noexcept:
        return 0 if self.next_nrs == NULL else self.next_nrs[i]

    cdef inline InputMetadata* metadata(self, int output_nr) noexcept:
        return &self.output if self.outputs == NULL else &self.outputs[output_nr]

    cdef NodeHooks ensure_hooks(self)
    cdef void* allocate(self, Py_ssize_t size) except NULL
    cdef int set_outputs(self, int count) except -1
    cdef int put_edge(self, Py_ssize_t i, object target) except -1
    cdef int set_edges(self, list nodes, list output_nrs) except -1
    cdef int describe(self, int output_nr, ndarray array) except -1
    cdef void track(self) noexcept

# Finds the AccumulateGrad of an edge that ends at a leaf; set by `accumulate_grad`, which depends on tensors.
ctypedef Node (*LeafNode)(object, bint)
cdef LeafNode accumulator_of

# Checks a gradient that the user passes to a node; set by `input_buffer`.
ctypedef object (*GradientCheck)(Node, int, object)
cdef GradientCheck check_gradient

# Reads the field `saved_x` for `node._saved_x` and `node._raw_saved_x`; set by `saved_variable`.
ctypedef object (*SavedReader)(Node, str, bint)
cdef SavedReader read_saved

cdef tuple metadata_shape(InputMetadata* metadata)

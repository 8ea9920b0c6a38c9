"""Node: one recorded operation, and what the engine knows of its outputs."""

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

# What a task asks of a node: bit i for the gradient of input i.  All bits are set where there are more than 64 inputs.
ctypedef uint64_t Wanted

cdef struct TaskSlot:
    uint64_t task               # id of the GraphTask that these notes belong to, 0 for none
    int dependencies            # edges into the node whose gradients have not arrived
    bint visited                # the walk of the task has met the node
    bint needed                 # on a path to what was asked for
    bint captured               # some gradient that arrives here is a result
    Wanted wanted               # the inputs whose gradients the task asks this node for
    PyObject* buffer            # the gradient so far, owned; a list of them where there are several outputs

cdef class NodeHooks:
    cdef public dict tensor_pre      # output number -> {id: hook}; run first, on one gradient
    cdef public dict retains_grad    # output number -> weak reference to the tensor that keeps its gradient
    cdef public dict pre             # {id: hook(grads)}
    cdef public dict post            # {id: hook(grad_inputs, grad_outputs)}
    cdef public dict post_accumulate  # {id: hook(tensor)}, leaves only
    cdef public dict metadata        # the user's own notes

cdef class Node:
    cdef int edge_count         # one for each input of the forward: the Node that made it, a leaf itself, or None
    cdef object first_edge      # where there are one or two
    cdef object second_edge
    cdef tuple all_edges        # where there are more; else None
    cdef void* following        # in the list of nodes that are about to be freed
    cdef uint64_t leaves        # bit i: edge i ends at a leaf, whose AccumulateGrad is made when it is asked for; 63 for the rest
    cdef int* next_nrs          # the output number at each next node; NULL where all are 0; lies in `memory`
    cdef uint64_t sequence_nr   # in order of creation; the engine runs the greatest first
    cdef int n_outputs
    cdef InputMetadata output   # of output 0
    cdef InputMetadata* outputs  # of all outputs; NULL where there is one; lies in `memory`
    cdef list memory            # what the pointers point into: Python objects, so that nodes need no destructor
    cdef bint released          # saved tensors are gone
    cdef uint64_t origin        # which line made it, as provenance numbers them; 0 where that is unknown

    cdef TaskSlot slot          # notes of the GraphTask that walks this node
    cdef NodeHooks hooks        # None until a hook or metadata is attached
    cdef object __weakref__

    cdef bint tracked           # the cyclic collector knows this node

    cdef object apply(self, object grad, Wanted wanted)
    cdef object apply_recorded(self, object grad, Wanted wanted)
    cdef object apply_rows(self, object grad, Wanted wanted)
    cdef void release_variables(self)
    cdef bint takes_undefined(self)
    cdef bint takes_batch(self)
    cdef bint takes_deferred(self)
    cdef object dtype_of_output(self, int output_nr)

    cdef inline PyObject* edge(self, Py_ssize_t i) noexcept:
        """What made input `i`, borrowed."""
        if self.edge_count > 2:
            return (<PyTupleObject*> self.all_edges).ob_item[i]
        return <PyObject*> self.second_edge if i else <PyObject*> self.first_edge

    cdef inline bint needs(self, int i) noexcept:
        """Whether input `i` has a gradient (needs_input_grad)."""
        return self.edge(i) != <PyObject*> None

    cdef inline Wanted edges(self) noexcept:
        """The mask of all inputs that have a gradient: `wanted` where nothing is left out."""
        cdef Py_ssize_t i
        cdef Wanted mask = 0
        if self.edge_count > 64:
            return UINT64_MAX
        for i in range(self.edge_count):
            if self.edge(i) != <PyObject*> None:
                mask |= <Wanted> 1 << i
        return mask

    cdef inline Node next_node(self, Py_ssize_t i):
        """The node that the gradient of input `i` goes to, or None."""
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

# How an edge that ends at a leaf, of a node with that number, finds its AccumulateGrad; set by the module of that class,
# which knows tensors.
ctypedef Node (*LeafNode)(object, bint)
cdef LeafNode accumulator_of

# How a gradient that the user passes to a node is checked; set by the module of InputBuffer.
ctypedef object (*GradientCheck)(Node, int, object)
cdef GradientCheck check_gradient

# How `node._saved_x` and `node._raw_saved_x` read the field `saved_x`; set by the module of SavedVariable.
ctypedef object (*SavedReader)(Node, str, bint)
cdef SavedReader read_saved

cdef tuple metadata_shape(InputMetadata* metadata)

# cython: boundscheck=False, wraparound=False
"""Node: one recorded operation of the backward graph.

Holds the edges to the next nodes, the metadata that an arriving gradient must match, and the hooks.  Subclasses, mostly
generated, add their saved values and the formulas that map an output's gradient to their inputs' gradients.  Independent of
tensors and of the execution order.

Nodes are untracked by Python's cyclic collector until an attached object could close a cycle: a collection that walks a
million live nodes costs more than the nodes' own work.
"""

from cpython.object cimport PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM

from ..support cimport capi as cnp
from ..support.capi cimport (
    PyArray_DIMS, PyArray_NDIM, PyArray_TYPE, PyByteArray_AS_STRING, PyObject_GC_IsTracked, PyObject_GC_Track, Py_REFCNT,
    ndarray, npy_intp,
)
from ..support.hooks import RemovableHandle
from ..kernels.loops cimport memory as memory_module
from ..support.recycling cimport gradspec_drop_spares, gradspec_recycle, gradspec_spare_size

cnp.import_array()

cdef LeafNode accumulator_of = NULL
cdef SavedReader read_saved = NULL
cdef GradientCheck check_gradient = NULL


cdef PyObject* dying = NULL  # nodes about to be freed, each with the reference that keeps it alive
cdef bint freeing = False


cdef inline bint is_last(PyObject* edge) noexcept:
    """Whether this is the last reference to a node."""
    return edge != <PyObject*> None and Py_REFCNT(<object> edge) == 1


cdef inline void postpone(PyObject* node) noexcept:
    """Keep a node that is about to be freed alive until its predecessor has been freed."""
    global dying
    Py_INCREF(<object> node)
    (<Node> node).following = dying
    dying = node


cdef inline void let_go() noexcept:
    global dying
    cdef PyObject* node = dying
    dying = <PyObject*> (<Node> node).following
    Py_DECREF(<object> node)


cdef tuple metadata_shape(InputMetadata* metadata):
    cdef int i
    return tuple([metadata.dims[i] for i in range(metadata.ndim)])


cdef class NodeHooks:
    """The rare fields of a node, created when the first of them is set."""

    def __cinit__(self):
        self.tensor_pre, self.retains_grad, self.pre, self.post = {}, {}, {}, {}
        self.post_accumulate, self.metadata = {}, {}


cdef class Node:
    """One operation of the graph that `backward` walks.

    Users see nodes as `tensor.grad_fn` and through `next_functions`.  A generated subclass saves the value `x` in its field
    `saved_x`, with `version_x` beside it for a tensor: the prefixes avoid collisions with the fields of this class.
    """

    saves = ()  # names of the saved values

    def __init__(self, *args, **kwargs):
        raise TypeError(f"cannot create '{type(self).__name__}' instances: nodes are made by operations")

    def __dealloc__(self):
        """Free the nodes behind this one iteratively, not recursively."""
        global freeing
        if self.edge_count > 2:
            return  # the tuple's own deallocation does that
        if not self.leaves & 1:
            if is_last(<PyObject*> self.first_edge):
                postpone(<PyObject*> self.first_edge)
            self.first_edge = None  # before the second, which may be the same node
        if not self.leaves & 2 and is_last(<PyObject*> self.second_edge):
            postpone(<PyObject*> self.second_edge)
            self.second_edge = None
        if dying != NULL and not freeing:
            freeing = True
            while dying != NULL:
                let_go()
            freeing = False

    cdef void* allocate(self, Py_ssize_t size) except NULL:
        """Zeroed memory that is freed with the node."""
        cdef bytearray block = bytearray(size)
        if self.memory is None:
            self.memory = []
        self.memory.append(block)
        return <void*> PyByteArray_AS_STRING(block)

    cdef object apply(self, object grad, Wanted wanted):
        """Gradients of the inputs, from arrays to arrays: one array, or a tuple if there are several inputs."""
        raise NotImplementedError(f"{type(self).__name__} has no apply")

    cdef object apply_recorded(self, object grad, Wanted wanted):
        """The same on tensors, through operators, so that it is recorded and carries tangents."""
        raise NotImplementedError(f"{type(self).__name__} has no apply_recorded")

    cdef object apply_rows(self, object grad, Wanted wanted):
        """`apply_recorded` for gradients with an extra leading axis; NotImplemented if there is no rule for it."""
        return NotImplemented

    cdef void release_variables(self):
        """Drop the saved values."""

    cdef bint takes_undefined(self):
        """Whether apply must be called even if no gradient arrived."""
        return False

    cdef bint takes_batch(self):
        """Whether apply, on gradients with an extra leading axis, computes each row as it would alone."""
        return False

    cdef bint takes_deferred(self):
        """Whether apply only passes its gradient to programs and ufuncs, so that the gradient may be deferred."""
        return False

    cdef int set_outputs(self, int count) except -1:
        """Allocate the metadata of several outputs; a single output needs no call."""
        cdef int i
        self.n_outputs = count
        self.output.ndim = -1  # until described
        if count != 1:
            self.outputs = <InputMetadata*> self.allocate(max(count, 1) * sizeof(InputMetadata))
            for i in range(count):
                self.outputs[i].ndim = -1
                self.outputs[i].dims = self.outputs[i].inline_dims
        return 0

    cdef int put_edge(self, Py_ssize_t i, object target) except -1:
        """Set the target of edge `i` of a new node, which is None so far; `edge_count` and `all_edges` have their final size."""
        if self.edge_count <= 2:
            if i:
                self.second_edge = target
            else:
                self.first_edge = target
            return 0
        Py_INCREF(target)  # for the tuple, which no other code has seen
        Py_DECREF(None)
        PyTuple_SET_ITEM(self.all_edges, i, target)
        return 0

    cdef int set_edges(self, list nodes, list output_nrs) except -1:
        """Set the edges: nodes and their output numbers."""
        cdef int i
        self.edge_count = <int> len(nodes)
        if self.edge_count > 2:
            self.all_edges = (None,) * self.edge_count
        for i in range(self.edge_count):
            self.put_edge(i, nodes[i])
        if any(output_nrs):
            self.next_nrs = <int*> self.allocate(len(output_nrs) * sizeof(int))
            for i in range(len(output_nrs)):
                self.next_nrs[i] = output_nrs[i]
        return 0

    cdef int describe(self, int output_nr, ndarray array) except -1:
        """Record shape and dtype of an output: its gradient has to match them."""
        cdef InputMetadata* metadata
        cdef int i
        if self.outputs == NULL:
            self.n_outputs = 1
            metadata = &self.output
        else:
            metadata = &self.outputs[output_nr]
        metadata.ndim = PyArray_NDIM(array)
        metadata.type_num = PyArray_TYPE(array)
        metadata.dims = metadata.inline_dims
        if metadata.ndim > INLINE_DIMS:
            metadata.dims = <npy_intp*> self.allocate(metadata.ndim * sizeof(npy_intp))
        for i in range(metadata.ndim):
            metadata.dims[i] = PyArray_DIMS(array)[i]
        return 0

    cdef void track(self) noexcept:
        """Have the cyclic collector track this node."""
        self.tracked = True
        if not PyObject_GC_IsTracked(self):
            PyObject_GC_Track(self)
        if self.all_edges is not None and not PyObject_GC_IsTracked(self.all_edges):
            PyObject_GC_Track(self.all_edges)

    cdef NodeHooks ensure_hooks(self):
        if self.hooks is None:
            self.hooks = NodeHooks.__new__(NodeHooks)
            self.track()
        return self.hooks

    def name(self):
        """The node's class name, as in `MultiplyBackward`."""
        return type(self).__name__

    def __getattr__(self, name):
        if name.startswith("_saved_"):
            return read_saved(self, name[7:], False)
        if name.startswith("_raw_saved_"):
            return read_saved(self, name[11:], True)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self):
        fields = {prefix + name for name in type(self).saves for prefix in ("saved_", "version_")}
        shown = {prefix + name for name in type(self).saves for prefix in ("_saved_", "_raw_saved_")}
        return sorted(set(object.__dir__(self)) - fields | shown)

    @property
    def next_functions(self):
        """Pairs (node, output number), one for each input; (None, 0) if no gradient is needed."""
        cdef int i
        return tuple([(self.next_node(i), self.next_nr(i)) for i in range(self.edge_count)])

    @property
    def metadata(self):
        """A dictionary for the user's own notes."""
        return self.ensure_hooks().metadata

    cdef object dtype_of_output(self, int output_nr):
        """The dtype of an output."""
        return cnp.PyArray_DescrFromType(self.metadata(output_nr).type_num)

    @property
    def _input_metadata(self):
        return [_Metadata(metadata_shape(self.metadata(i)), self.dtype_of_output(i))
                for i in range(self.n_outputs) if self.metadata(i).ndim >= 0]

    def _sequence_nr(self):
        return self.sequence_nr

    def _set_sequence_nr(self, uint64_t value):
        self.sequence_nr = value

    def register_hook(self, hook):
        """Call `hook(grad_inputs, grad_outputs)` after this node ran; a returned tuple replaces the gradients.

        Returns
        -------
        RemovableHandle
        """
        return RemovableHandle(self.ensure_hooks().post, hook)

    def register_prehook(self, hook):
        """Call `hook(grad_outputs)` before this node runs; a returned tuple replaces the gradients.

        Returns
        -------
        RemovableHandle
        """
        return RemovableHandle(self.ensure_hooks().pre, hook)

    def __call__(self, *grads):
        """The gradients of the inputs from the outputs' gradients, both as tensors, without running any hook."""
        if len(grads) != self.n_outputs:
            raise TypeError(f"{type(self).__name__} expected {self.n_outputs} arguments, got {len(grads)} instead")
        if not grads:
            raise RuntimeError(f"{type(self).__name__} has no outputs yet: it can be called when its forward is done")
        grads = [check_gradient(self, i, grad) for i, grad in enumerate(grads)]
        if all([grad is None for grad in grads]) and not self.takes_undefined():
            return None if self.edge_count == 1 else (None,) * self.edge_count
        return self.apply_recorded(grads[0] if self.outputs == NULL else grads, self.edges())

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"


gradspec_recycle(<PyTypeObject*> Node)
memory_module.node_bytes, memory_module.drop_nodes = gradspec_spare_size, gradspec_drop_spares


class _Metadata:
    """Shape and dtype of one output, as Python objects."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

"""The engine that runs a backward graph."""

from libc.stdint cimport uint64_t

from .node cimport Node, TaskSlot
from .ready_queue cimport ReadyQueue
from .tensor cimport TensorBase

cdef class GraphRoot(Node):
    cdef tuple grads

cdef class GraphTask:
    cdef uint64_t id
    cdef bint keep_graph
    cdef bint create_graph
    cdef bint recording         # gradients are tensors: create_graph, or a dual level is open
    cdef bint everything        # no `inputs=`: every node runs
    cdef bint capturing         # grad(): results are captured, no leaf accumulates
    cdef ReadyQueue ready
    cdef GraphRoot root
    cdef dict captures          # Node -> {output number: position among the results}
    cdef list results
    cdef dict shared            # Node -> SharedSlot, for nodes that another running task holds
    cdef list callbacks
    cdef list leaves            # the AccumulateGrads of this pass

    cdef TaskSlot* slot(self, Node node) except NULL
    cdef TaskSlot* claim(self, Node node) except NULL
    cdef int release(self, Node node) except -1
    cdef int count_dependencies(self) except -1
    cdef int mark_needed(self) except -1
    cdef int run(self) except -1
    cdef int run_node(self, Node node) except -1
    cdef int deliver(self, Node source, Node target, int output_nr, object grad) except -1
    cdef int capture(self, Node node, object grads) except -1
    cdef object merge(self, TaskSlot* slot, object grad)
    cdef int set_skip(self, Node node) except -1
    cdef object as_user(self, object grad)
    cdef object from_user(self, object grad)
    cdef object checked(self, Node node, int output_nr, object old, object new)
    cdef object run_tensor_hooks(self, Node node, object grads)
    cdef retain(self, TensorBase tensor, TensorBase grad)
    cdef object run_pre_hooks(self, Node node, object grads)
    cdef object run_post_hooks(self, Node node, object results, object grads)
    cdef tuple checked_tuple(self, Node node, str kind, tuple old, object new)
    cdef int abandon(self) except -1

cdef list run_backward(tuple roots, tuple grads, bint keep_graph, bint create_graph, list inputs, bint capture)

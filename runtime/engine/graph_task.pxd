"""GraphTask: one backward pass, and its data about the nodes that it traverses."""

from libc.stdint cimport uint64_t

from ..support.capi cimport npy_intp
from ..core.node cimport Node, TaskSlot, Wanted
from .ready_queue cimport ReadyQueue

cdef class GraphRoot(Node):
    cdef tuple grads

cdef class GraphTask:
    cdef uint64_t id
    cdef bint keep_graph
    cdef bint create_graph
    cdef bint recording         # gradients are tensors: create_graph, an open dual level, or a listener by operator
    cdef bint everything        # no `inputs=`: every node runs
    cdef bint check_nan         # NaN in a gradient is an error
    cdef bint listening         # listeners hear of its nodes and hooks
    cdef npy_intp large         # smallest size of a gradient that may be deferred; -1 to defer nothing
    cdef list fusions           # deferred work; None before the first
    cdef bint capturing         # grad(): results are captured, no leaf accumulates
    cdef Py_ssize_t batch       # the length of the first axis of every gradient; 0 without batches
    cdef ReadyQueue ready
    cdef GraphRoot root
    cdef dict captures          # Node -> {output number: position among the results}
    cdef list results
    cdef list asked             # the nodes named in `inputs=`
    cdef dict shared            # Node -> SharedSlot, for nodes that another running task has claimed
    cdef list callbacks
    cdef list leaves            # the AccumulateGrads of this pass
    cdef int depth              # number of enclosing passes
    cdef set executed           # all nodes that this pass executes, once computed

    cdef inline TaskSlot* slot(self, Node node) except NULL:
        """This task's data about a node that its traversal has reached."""
        return &node.slot if node.slot.task == self.id else self.shared_slot(node)

    cdef TaskSlot* shared_slot(self, Node node) except NULL
    cdef TaskSlot* claim(self, Node node) except NULL
    cdef int release(self, Node node) except -1
    cdef bint knows(self, Node node) except -1
    cdef int ask(self, list inputs) except -1
    cdef int walk(self) except -1
    cdef int abandon(self) except -1
    cdef set nodes(self)
    cdef bint executes(self, Node node) except -1
    cdef list execution_order(self)

cdef GraphTask start_task(tuple roots, tuple grads, bint keep_graph, bint create_graph, bint recording)
cdef GraphTask running_task(uint64_t id)
cdef int finish_task(GraphTask task) except -1

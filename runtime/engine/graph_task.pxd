"""GraphTask: one backward pass, and its notes on the nodes that it walks."""

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
    cdef bint recording         # gradients are tensors: create_graph, a dual level is open, or somebody listens by operator
    cdef bint everything        # no `inputs=`: every node runs
    cdef bint check_nan         # a gradient that is NaN is an error
    cdef bint listening         # somebody hears of its nodes and hooks
    cdef npy_intp large         # from how many elements on gradients may be put off; -1 where none may
    cdef list fusions           # what was put off; None until something is
    cdef bint capturing         # grad(): results are captured, no leaf accumulates
    cdef Py_ssize_t batch       # the length of the first axis of every gradient, 0 where they have none of their own
    cdef ReadyQueue ready
    cdef GraphRoot root
    cdef dict captures          # Node -> {output number: position among the results}
    cdef list results
    cdef list asked             # the nodes that `inputs=` names
    cdef dict shared            # Node -> SharedSlot, for nodes that another running task holds
    cdef list callbacks
    cdef list leaves            # the AccumulateGrads of this pass
    cdef int depth              # of passes that run around this one
    cdef set executed           # all nodes that this pass executes, once somebody asked

    cdef inline TaskSlot* slot(self, Node node) except NULL:
        """This task's notes on a node that its walk has met."""
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

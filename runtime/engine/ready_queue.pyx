# cython: boundscheck=False, wraparound=False
"""ReadyQueue and NodeStack: the orders of execution and of graph traversal.

Both hold borrowed references; the graph keeps the nodes alive.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, realloc

from ..core.node cimport Node


cdef class ReadyQueue:
    """Nodes whose gradients are complete; the most recently created node is first."""

    def __dealloc__(self):
        free(self.items)

    cdef int push(self, Node node) except -1:
        cdef Py_ssize_t child = self.count, parent
        cdef uint64_t key = node.sequence_nr
        if self.count == self.capacity:
            self.capacity = max(16, 2 * self.capacity)
            self.items = <ReadyNode*> realloc(self.items, self.capacity * sizeof(ReadyNode))
            if self.items == NULL:
                raise MemoryError()
        self.count += 1
        while child > 0:
            parent = (child - 1) // 2
            if self.items[parent].sequence_nr >= key:
                break
            self.items[child] = self.items[parent]
            child = parent
        self.items[child].sequence_nr = key
        self.items[child].node = <PyObject*> node
        return 0

    cdef Node pop(self):
        cdef Node node = <Node> self.items[0].node
        cdef ReadyNode moved
        cdef Py_ssize_t hole = 0, child
        self.count -= 1
        moved = self.items[self.count]
        while True:
            child = 2 * hole + 1
            if child >= self.count:
                break
            if child + 1 < self.count and self.items[child + 1].sequence_nr > self.items[child].sequence_nr:
                child += 1
            if self.items[child].sequence_nr <= moved.sequence_nr:
                break
            self.items[hole] = self.items[child]
            hole = child
        self.items[hole] = moved
        return node


cdef class NodeStack:
    """A stack of borrowed nodes for traversals of the graph, each with its position among the node's edges."""
    def __dealloc__(self):
        free(self.steps)

    cdef int push(self, Node node) except -1:
        if self.count == self.capacity:
            self.capacity = max(64, 2 * self.capacity)
            self.steps = <Step*> realloc(self.steps, self.capacity * sizeof(Step))
            if self.steps == NULL:
                raise MemoryError()
        self.steps[self.count].node, self.steps[self.count].edge = <PyObject*> node, 0
        self.count += 1
        return 0

    cdef Node pop(self):
        self.count -= 1
        return <Node> self.steps[self.count].node

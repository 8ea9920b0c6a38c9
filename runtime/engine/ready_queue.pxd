"""ReadyQueue and NodeStack: the orders of execution and of graph traversal."""

from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t

from ..core.node cimport Node

cdef struct ReadyNode:
    uint64_t sequence_nr
    PyObject* node          # borrowed: the graph's roots keep it alive

cdef class ReadyQueue:
    cdef ReadyNode* items   # a binary heap, greatest sequence number first
    cdef Py_ssize_t count
    cdef Py_ssize_t capacity
    cdef int push(self, Node node) except -1
    cdef Node pop(self)

cdef struct Step:
    PyObject* node          # borrowed
    Py_ssize_t edge         # the next edge to visit, in a depth-first traversal

cdef class NodeStack:
    cdef Step* steps
    cdef Py_ssize_t count
    cdef Py_ssize_t capacity
    cdef int push(self, Node node) except -1
    cdef Node pop(self)

"""Views and in-place writes."""

from numpy cimport ndarray

from .grad_mode cimport ThreadState
from .node cimport Node
from .tensor cimport TensorBase

cdef int attach_view(TensorBase view, object operand) except -1
cdef TensorBase writable(object target, str op)
cdef int check_inplace(ThreadState* state, TensorBase target, bint recording, str op) except -1
cdef TensorBase value_before(TensorBase target, bint copy)
cdef TensorBase overwrite(TensorBase target, TensorBase value, str op)
cdef int copy_into(ndarray target, ndarray value, str op) except -1
cdef TensorBase finish_inplace(TensorBase target, Node node)
cdef int refuse_out(ThreadState* state, TensorBase target, bint recording, str op) except -1
cdef int rebase(TensorBase target, TensorBase value) except -1
cdef TensorBase write_out(TensorBase target, object result, str op)

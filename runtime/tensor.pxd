"""TensorBase: one ndarray and its place in the graph."""

from cpython.object cimport PyTypeObject, Py_TYPE
from libc.stdint cimport uint32_t
from numpy cimport ndarray

from .node cimport Node, NodeHooks

cdef enum:
    REQUIRES_GRAD = 1
    VIEW = 2            # shares memory with `extra.base`
    INFERENCE_TENSOR = 4
    TANGENT = 8         # `extra.tangents` may hold a tangent of an open level
    RETAINS_GRAD = 16
    FOREIGN = 256       # made for an operator out of an ndarray, which its owner may write to unseen
    ACCUMULATING = 1 << 16  # some thread adds to this `.grad` with the GIL given up

cdef class VersionCounter:
    cdef uint32_t value     # in-place writes so far
    cdef uint32_t rebased   # recorded in-place writes: views made before one have a stale history

cdef class TensorExtra:
    cdef TensorBase base        # what a view was taken from, itself never a view
    cdef uint32_t rebased       # the base's count when the view was taken
    cdef object steps           # the ViewStep that leads from the base to a view; None where both are the same array
    cdef object tangents        # the innermost ForwardGrad, or None
    cdef dict attributes        # what the user set on the tensor
    cdef NodeHooks leaf_hooks   # hooks of a leaf, shared with its AccumulateGrad

cdef class TensorBase:
    cdef ndarray array
    cdef Node grad_fn_              # the node that made it; None for a leaf
    cdef int output_nr_
    cdef unsigned int flags
    cdef VersionCounter counter     # shared by views and detached tensors; None: never written to, never shared
    cdef TensorBase grad_
    cdef void* accumulator          # a leaf's AccumulateGrad while some graph holds it, borrowed
    cdef TensorExtra extra          # None until something rare is attached
    cdef object __weakref__

    cdef VersionCounter shared_counter(self)
    cdef TensorExtra ensure_extra(self)
    cdef void track(self) noexcept
    cdef void bump(self)
    cdef TensorBase alias(self)
    cdef TensorBase alias_with_history(self)
    cdef NodeHooks hooks_of_node(self)

    cdef inline uint32_t version(self) noexcept:
        return 0 if self.counter is None else self.counter.value

cdef PyTypeObject* tensor_type

cdef inline bint is_tensor(object value) noexcept:
    """isinstance(value, TensorBase), quick for what the library makes itself."""
    return Py_TYPE(value) == tensor_type or isinstance(value, TensorBase)

cdef TensorBase wrap(ndarray array)
cdef bint is_inexact(ndarray array) noexcept

cdef bint is_stale(TensorBase view) noexcept
cdef int check_view(TensorBase view) except -1

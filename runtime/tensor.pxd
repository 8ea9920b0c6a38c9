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

cdef class VersionCounter:
    cdef uint32_t value     # in-place writes so far
    cdef uint32_t rebased   # recorded in-place writes: views made before one have a stale history

cdef class TensorExtra:
    cdef TensorBase base        # what a view was taken from, itself never a view
    cdef uint32_t rebased       # the base's count when the view was taken
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
    cdef NodeHooks hooks_of_node(self)

    cdef inline uint32_t version(self) noexcept:
        return 0 if self.counter is None else self.counter.value

cdef PyTypeObject* tensor_type

cdef inline bint is_tensor(object value) noexcept:
    """isinstance(value, TensorBase), quick for what the library makes itself."""
    return Py_TYPE(value) == tensor_type or isinstance(value, TensorBase)

cdef TensorBase wrap(ndarray array)
cdef TensorBase as_tensor(object data, str op, str argument)
cdef object slow_operand(object value, str op, str argument)
cdef object slow_wrap(object result)
cdef tuple as_operands(object values, str op, str argument)
cdef list arrays_of(tuple values)
cdef object as_index(object index)
cdef object as_mask(object mask)
cdef object as_ints(object value, str op, str argument)
cdef object as_scalar(object value, str op, str argument)
cdef object as_dtype(object dtype)
cdef object numpy_of(object value)
cdef object shape_of(object value)
cdef object ndim_of(object value)
cdef object size_of(object value)
cdef object dtype_of(object value)
cdef bint is_other_operand(object value) noexcept
cdef object star(tuple values)
cdef bint is_inexact(ndarray array) noexcept

cdef inline bint is_operand(object value) noexcept:
    """Whether an operator takes `value`; anything else may know better what to do with a tensor."""
    return is_tensor(value) or type(value) is float or type(value) is int or is_other_operand(value)

cdef inline object as_operand(object value, str op, str argument):
    """A tensor as it is, a Python number as it is (weakly typed), anything else as a tensor."""
    if is_tensor(value) or type(value) is float or type(value) is int:
        return value
    return slow_operand(value, op, argument)

cdef inline object wrap_forward(object result):
    """A forward's result as a tensor, several results as a tuple of them."""
    return wrap(<ndarray> result) if type(result) is ndarray else slow_wrap(result)

cdef inline object array_of(object value):
    """What a forward computes on: the tensor's array, or the Python number."""
    return (<TensorBase> value).array if is_tensor(value) else value

cdef bint is_stale(TensorBase view) noexcept
cdef int check_view(TensorBase view) except -1

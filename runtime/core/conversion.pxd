"""Operands: convert users' arguments to the forms that operators and kernels take."""

from ..support cimport capi as cnp
from ..support.capi cimport PyArray_TYPE, ndarray
from .grad_mode cimport INFERENCE, inference_used, thread_state
from .tensor cimport INFERENCE_TENSOR, TensorBase, is_tensor, wrap

# Which numbers an operator takes, if it does not take all: the `dtype` of its entry.
cdef enum Claim:
    REALS
    COMPLEXES
    INTEGERS        # booleans included
    BOOLEANS

cdef TensorBase as_tensor(object data, str op, str argument)
cdef object slow_operand(object value, str op, str argument)
cdef object slow_wrap(object result)
cdef tuple as_operands(object values, str op, str argument)
cdef object claimed_operand(object value, Claim claim, str op, str argument)
cdef object as_complex_operand(object value, str op, str argument)
cdef object as_int_operand(object value, str op, str argument)
cdef object as_bool_operand(object value, str op, str argument)
cdef tuple as_real_operands(object values, str op, str argument)
cdef tuple as_complex_operands(object values, str op, str argument)
cdef tuple as_int_operands(object values, str op, str argument)
cdef tuple as_bool_operands(object values, str op, str argument)
cdef object listed(tuple values)
cdef list arrays_of(tuple values)
cdef object slow_as_index(object index, str op, str argument, int depth)
cdef object slow_index_of(object index)
cdef object as_mask(object mask, str op, str argument)
cdef object numpy_of(object value, int depth=*)
cdef object shape_of(object value)
cdef object ndim_of(object value)
cdef object size_of(object value)
cdef object dtype_of(object value)
cdef bint is_other_operand(object value) noexcept
cdef object star(tuple values, dict keyword, str op, str argument, bint optional)
cdef tuple shape_and_dtype(tuple values, object dtype)

cdef inline bint is_operand(object value) noexcept:
    """Whether an operator takes `value`; for other types the reflected method may handle the tensor better."""
    return is_tensor(value) or type(value) is float or type(value) is int or is_other_operand(value)

cdef inline object as_operand(object value, str op, str argument):
    """A tensor unchanged, a Python number unchanged (weakly typed), anything else as a tensor."""
    if is_tensor(value) or type(value) is float or type(value) is int:
        return value
    return slow_operand(value, op, argument)

cdef inline object as_real_operand(object value, str op, str argument):
    """`as_operand` for an operator of real numbers: complex numbers are refused."""
    if type(value) is float or type(value) is int:
        return value
    if is_tensor(value) and not cnp.PyTypeNum_ISCOMPLEX(PyArray_TYPE((<TensorBase> value).array)):
        return value
    return claimed_operand(value, REALS, op, argument)

cdef inline object as_index(object index, str op, str argument):
    """An index with its tensors and arrays unchanged, anything else converted by NumPy's rules."""
    return index if type(index) is int else slow_as_index(index, op, argument, 0)

cdef inline object index_of(object index):
    """The index for a forward: arrays in place of tensors."""
    return index if type(index) is int or type(index) is slice else slow_index_of(index)

cdef inline object wrap_forward(object result):
    """A forward's result as a tensor, several results as a tuple of tensors."""
    cdef TensorBase tensor
    if type(result) is not ndarray:
        return slow_wrap(result)
    tensor = wrap(<ndarray> result)
    if inference_used and thread_state().flags & INFERENCE:
        tensor.flags |= INFERENCE_TENSOR
    return tensor

cdef inline object array_of(object value):
    """The operand of a forward: the tensor's array, or the Python number."""
    return (<TensorBase> value).array if is_tensor(value) else value

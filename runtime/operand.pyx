"""Operands: what users pass to operators, as what wrappers, formulas and kernels take.

Owns the conversions of tensors, arrays, numbers, indices, axes and dtypes, their refusals, and the two ways in: `tensor`
and `asarray`.  Knows no graphs.
"""

cimport numpy as cnp
from numpy cimport ndarray

import math
import operator

import numpy as np

from .capi cimport PyArray_CheckExact, PyArray_TYPE
from .grad_mode cimport GRAD_DISABLED, INFERENCE, thread_state
from .tensor cimport FOREIGN, INFERENCE_TENSOR, REQUIRES_GRAD, TensorBase, is_tensor, wrap

cnp.import_array()

cdef TensorBase as_tensor(object data, str op, str argument):
    """`data` as a tensor, without a copy where it is an array."""
    cdef ndarray array
    if isinstance(data, TensorBase):
        return data
    array = data if PyArray_CheckExact(data) else np.asarray(data)
    if array.dtype.kind not in "fciub":
        raise TypeError(f"{op}: argument '{argument}' must be a tensor, an array or a number, "
                        f"got {type(data).__name__}{'' if array.dtype.kind == 'O' else f' of dtype {array.dtype}'}")
    cdef TensorBase result = wrap(array)
    if type(data) is not list and type(data) is not tuple:
        result.flags |= FOREIGN
    return result


cdef object slow_operand(object value, str op, str argument):
    if type(value) is complex or type(value) is bool or value is None:
        return value
    return as_tensor(value, op, argument)


cdef object slow_wrap(object result):
    """`wrap_forward` of several results, of what NumPy made a scalar of, and where inference mode may be on."""
    cdef TensorBase tensor
    if type(result) is tuple or type(result) is list:
        return tuple([slow_wrap(item) for item in result])
    tensor = wrap(result if type(result) is ndarray else np.asarray(result))
    if thread_state().flags & INFERENCE:
        tensor.flags |= INFERENCE_TENSOR
    return tensor


cdef tuple as_operands(object values, str op, str argument):
    """A list of arrays as a tuple of operands."""
    if isinstance(values, TensorBase) or not isinstance(values, (list, tuple)):
        try:
            values = tuple(values)
        except TypeError:
            raise TypeError(f"{op}: argument '{argument}' must be a sequence of tensors, got {type(values).__name__}") from None
    return tuple([as_operand(value, op, argument) for value in values])


# What each claim takes: kinds of dtypes, in words, and how a value gets there.
cdef tuple CLAIMS = (
    ("fiub", "real numbers", "abs(), or .real and .imag, make real arrays of it"),
    ("iub", "integers and booleans", "astype(int) makes integers of it, a comparison booleans"),
    ("b", "booleans", "a comparison, or astype(bool), makes booleans of it"),
)


cdef object claimed_operand(object value, Claim claim, str op, str argument):
    """`as_operand` for an operator whose entry claims some dtypes only."""
    cdef str kinds, takes, way_out
    value = as_operand(value, op, argument)
    if value is None:
        return None
    dtype = (<TensorBase> value).array.dtype if isinstance(value, TensorBase) else np.dtype(type(value))
    kinds, takes, way_out = CLAIMS[claim]
    if dtype.kind not in kinds:
        given = f"dtype {dtype}" if isinstance(value, TensorBase) else f"type {type(value).__name__}"
        raise TypeError(f"{op}: argument '{argument}' is of {given}, but {op} takes {takes}; {way_out}")
    return value


cdef object as_int_operand(object value, str op, str argument):
    return claimed_operand(value, INTEGERS, op, argument)


cdef object as_bool_operand(object value, str op, str argument):
    return claimed_operand(value, BOOLEANS, op, argument)


cdef tuple as_real_operands(object values, str op, str argument):
    return tuple([as_real_operand(value, op, argument) for value in as_operands(values, op, argument)])


cdef tuple as_int_operands(object values, str op, str argument):
    return tuple([claimed_operand(value, INTEGERS, op, argument) for value in as_operands(values, op, argument)])


cdef tuple as_bool_operands(object values, str op, str argument):
    return tuple([claimed_operand(value, BOOLEANS, op, argument) for value in as_operands(values, op, argument)])


cdef object listed(tuple values):
    """What `*operands` received: the arrays, where it was given one list of them."""
    return values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values


cdef list arrays_of(tuple values):
    return [array_of(value) for value in values]


cdef object as_mask(object mask, str op, str argument):
    """Booleans: a tensor or an array of them as it is; of other numbers a new array says which are not zero."""
    cdef ndarray array
    if is_tensor(mask) and PyArray_TYPE((<TensorBase> mask).array) == cnp.NPY_BOOL:
        return mask
    array = np.asarray(numpy_of(mask))
    if array.dtype.kind not in "fciub":
        raise TypeError(f"{op}: argument '{argument}' must be booleans, got {type(mask).__name__}"
                        f"{'' if array.dtype.kind == 'O' else f' of dtype {array.dtype}'}")
    return array if array.dtype.kind == "b" else array.astype(bool)


cdef object as_ints(object value, str op, str argument, Py_ssize_t count):
    """A tuple of ints, from one int or a sequence of them; None stays None.

    Where the type gives a `count` (-1: it does not) one int stands for that many, and another number of them is refused.
    """
    cdef tuple ints
    if value is None:
        return None
    try:
        if isinstance(value, (int, np.integer)):
            return (operator.index(value),) * (1 if count < 0 else count)
        ints = tuple([operator.index(item) for item in value])
    except TypeError:
        wanted = "a sequence of ints" if count < 0 else f"{count} ints"
        raise TypeError(f"{op}: argument '{argument}' must be an int or {wanted}, got {value!r}") from None
    if count >= 0 and len(ints) != count:
        raise ValueError(f"{op}: argument '{argument}' must be an int or {count} ints, got {len(ints)}: {ints}")
    return ints


cdef object as_scalar(object value, str op, str argument):
    """A Python number; a tensor that requires grad is refused, because its gradient would be lost."""
    if isinstance(value, TensorBase):
        if (<TensorBase> value).flags & REQUIRES_GRAD:
            raise TypeError(f"{op}: argument '{argument}' is a plain number and cannot be differentiated; pass "
                            f"{argument}.item() if no gradient should flow")
        return value.item()
    return value


cdef object as_dtype(object dtype):
    return None if dtype is None else np.dtype(dtype)


cdef object shape_of(object value):
    if isinstance(value, TensorBase):
        value = (<TensorBase> value).array
    if isinstance(value, (list, tuple)):
        return tuple([shape_of(item) for item in value])
    return value.shape if isinstance(value, ndarray) else ()


cdef object ndim_of(object value):
    return len(shape_of(value))


cdef object size_of(object value):
    return math.prod(shape_of(value))


cdef object dtype_of(object value):
    if isinstance(value, TensorBase):
        value = (<TensorBase> value).array
    return value.dtype if isinstance(value, ndarray) else np.result_type(value)


cdef bint is_other_operand(object value) noexcept:
    return isinstance(value, (TensorBase, float, int, complex, ndarray, np.generic, list, tuple))


cdef object star(tuple values, dict keyword, str op, str argument, bint optional):
    """The ints of `x.f(2, 3)`, `x.f((2, 3))` or `x.f(argument=(2, 3))`; None where they may be left out and are."""
    if keyword:
        if list(keyword) != [argument] or values:
            raise TypeError(f"{op}: expected ints or {argument}=..., got the keywords {', '.join(keyword)}"
                            f"{' as well as ints' if values else ''}")
        return keyword[argument]
    if not values and optional:
        return None
    return values[0] if len(values) == 1 else values


cdef object numpy_of(object value):
    """Tensors replaced by their arrays, in sequences and slices too."""
    if isinstance(value, TensorBase):
        return (<TensorBase> value).array
    if type(value) is tuple or type(value) is list:
        return type(value)([numpy_of(item) for item in value])
    if type(value) is slice:
        return slice(index_number(value.start), index_number(value.stop), index_number(value.step))
    return value


cdef object index_number(object value):
    return value.item() if isinstance(value, TensorBase) else value


cdef object slow_as_index(object index, str op, str argument):
    """`as_index` of what is no int; a list that holds sequences or slices is read as a tuple."""
    cdef list parts
    cdef bint same = True
    if index is None or index is Ellipsis:
        return index
    if type(index) is slice:
        return plain_slice(index)
    if type(index) is list and any([isinstance(i, (list, tuple, slice, TensorBase, ndarray)) or i is None or i is ...
                                    for i in index]):
        index = tuple(index)
    if type(index) is tuple or type(index) is list:
        parts = []
        for part in index:
            plain = as_index(part, op, argument)
            same = same and plain is part
            parts.append(plain)
        return index if same else type(index)(parts)
    return index_array(index, op, argument)


cdef object index_array(object index, str op, str argument):
    """Integers or booleans: a tensor or an array as it is, a single number as Python's."""
    cdef ndarray array
    cdef object found = index
    if isinstance(index, TensorBase):
        array = (<TensorBase> index).array
    elif isinstance(index, ndarray):
        array = index
    elif hasattr(index, "__index__"):
        return index if isinstance(index, int) else operator.index(index)
    else:
        found = array = np.asarray(index)
        if array.size == 0:
            found = array = array.astype(np.intp)
    if array.dtype.kind not in "iub":
        raise IndexError(f"{op}: argument '{argument}' must hold integers, booleans or slices, got {type(index).__name__}"
                         f"{'' if array.dtype.kind == 'O' else f' of dtype {array.dtype}'}")
    return array.item() if array.ndim == 0 else found


cdef object slow_index_of(object index):
    if isinstance(index, TensorBase):
        return (<TensorBase> index).array
    if type(index) is tuple or type(index) is list:
        for part in index:
            if isinstance(part, (TensorBase, tuple, list)):
                return type(index)([index_of(part) for part in index])
    return index


cdef object plain_slice(object index):
    """A slice whose ends are no tensors, which could be written to."""
    if isinstance(index.start, TensorBase) or isinstance(index.stop, TensorBase) or isinstance(index.step, TensorBase):
        return slice(index_number(index.start), index_number(index.stop), index_number(index.step))
    return index


cdef bint holds_history(object data):
    if isinstance(data, TensorBase):
        return (<TensorBase> data).flags & REQUIRES_GRAD != 0
    return isinstance(data, (list, tuple)) and any([holds_history(item) for item in data])


def tensor(data, dtype=None, requires_grad=False):
    """A new leaf with a copy of `data`.

    Parameters
    ----------
    data : array_like
        Numbers, nested sequences, an array or a tensor.
    dtype : dtype, optional
        NumPy's choice by default: float64 for Python floats.
    requires_grad : bool
        Whether operations on it are recorded.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        `data` holds a tensor that requires grad, whose history a new leaf would drop.
    """
    if holds_history(data) and not thread_state().flags & GRAD_DISABLED:
        raise RuntimeError("tensor: data holds a tensor that requires grad, and a new leaf would drop its history. Use clone() "
                           "or stack() to keep it, detach() first to drop it")
    return as_leaf(np.array(numpy_of(data), dtype=dtype, copy=True), requires_grad)


def asarray(data, dtype=None, requires_grad=False, *, copy=None):
    """A tensor around `data`, sharing its memory where that is possible; a tensor is returned as it is.

    Parameters
    ----------
    data : array_like
    dtype : dtype, optional
    requires_grad : bool
    copy : bool, optional
        True always copies; False refuses to.

    Returns
    -------
    Tensor
    """
    if isinstance(data, TensorBase) and not copy and (dtype is None or data.dtype == np.dtype(dtype)):
        return data.requires_grad_() if requires_grad else data
    if isinstance(data, TensorBase) and (<TensorBase> data).flags & REQUIRES_GRAD:
        return data.astype(dtype if dtype is not None else data.dtype)
    return as_leaf(np.array(numpy_of(data), dtype=dtype, copy=copy), requires_grad)


cdef TensorBase as_leaf(ndarray array, requires_grad):
    if array.dtype.kind not in "fciub":
        raise TypeError(f"tensor: expected numbers, got an array of dtype {array.dtype}")
    cdef TensorBase result = wrap(array)
    if thread_state().flags & INFERENCE:
        result.flags |= INFERENCE_TENSOR
    if requires_grad:
        result.requires_grad = True
    return result

"""Operands: convert users' arguments to the forms that wrappers, formulas and kernels take.

Converts tensors, arrays, numbers and indices, refuses the rest, and defines the two entry points `tensor` and `asarray`.
Independent of graphs.
"""

from cpython.number cimport PyIndex_Check
from cpython.object cimport Py_TYPE

import math
import operator

import numpy as np

from ..support cimport capi as cnp
from ..support.capi cimport PyArray_CheckExact, PyArray_TYPE, ndarray
from ..support.dispatch import ops
from ..support.errors import explain
from ..support.error_hints cimport answer_calls
from ..support.error_hints import of_keyword
from ..support.keywords import renamed
from ..kernels.loops.copying cimport copy_alike
from .events cimport note_event
from .grad_mode cimport DUAL, GRAD_DISABLED, INFERENCE, LISTENING, MAPPED, ThreadState, thread_state
from .tensor cimport FOREIGN, INFERENCE_TENSOR, REQUIRES_GRAD, TANGENT, TensorBase, is_tensor, tensor_type, wrap

cnp.import_array()
answer_calls()

cdef enum:
    DEPTH = 64      # levels of nested lists, as many as NumPy's arrays have axes: a list that contains itself ends there

cdef TensorBase as_tensor(object data, str op, str argument):
    """`data` as a tensor, without a copy if it is an array; a list of tensors with a history is stacked, recorded."""
    cdef ndarray array
    if isinstance(data, TensorBase):
        return data
    if (type(data) is list or type(data) is tuple) and holds_history(data, 0):
        try:
            return stacked(data, 0)
        except (TypeError, ValueError) as error:
            raise explain(error, op, **{argument: data}) from None
    array = data if PyArray_CheckExact(data) else array_from(data, op, argument)
    if array.dtype.kind not in "fciub":
        raise TypeError(f"{op}: argument '{argument}' must be a tensor, an array or a number, "
                        f"got {type(data).__name__}{'' if array.dtype.kind == 'O' else f' of dtype {array.dtype}'}")
    cdef TensorBase result = wrap(array)
    if type(data) is not list and type(data) is not tuple:
        result.flags |= FOREIGN
    return result


def foreign(data):
    """An ndarray as operators take it: the user may write to it unseen, so a graph saves small ones as copies."""
    return as_tensor(data, "compile", "argument")


cdef ndarray array_from(object data, str op, str argument):
    """np.asarray of data that is not a plain array, if nothing is lost by it."""
    cdef object kind = type(data)
    if isinstance(data, ndarray):
        if kind.__mul__ is not ndarray.__mul__ or kind.__array_ufunc__ is not ndarray.__array_ufunc__:
            raise TypeError(f"{op}: argument '{argument}' is a {kind.__name__}, whose operators mean something else than those "
                            "of an ndarray; pass numpy.asarray() of it, or what it stands for")
    elif kind is list or kind is tuple:
        check_parts(data, op, argument)
    try:
        return np.asarray(data)
    except Exception as error:
        if isinstance(getattr(np, op, None), np.ufunc) and getattr(kind, "__array_ufunc__", None) is not None:
            raise TypeError(f"{op}: argument '{argument}' is a {kind.__name__} that holds what no ndarray can hold, as a tensor "
                            f"with a history; np.{op} asks it what to do") from error
        raise explain(error, op, **{argument: data}) from None


cdef int check_parts(object data, str op, str argument) except -1:
    """Refuse nested lists that contain a tensor with a history or a tangent, which np.asarray would drop or fail on."""
    if holds_history(data, 0):
        raise TypeError(f"{op}: argument '{argument}' is a sequence that holds a tensor which requires grad or has a "
                        "tangent; stack() or concat() makes a tensor of it")
    return 0


cdef bint holds_history(object data, int depth) except -1:
    """Whether nested lists contain a tensor with a history or a tangent."""
    for item in data:
        if isinstance(item, TensorBase):
            if loses(item):
                return True
        elif (type(item) is list or type(item) is tuple) and depth < DEPTH and holds_history(item, depth + 1):
            return True
    return False


cdef object stacked(object data, int depth):
    """Nested lists of tensors and numbers as one tensor, recorded."""
    if type(data) is not list and type(data) is not tuple:
        return data
    if depth >= DEPTH:
        raise ValueError("a sequence is nested too deeply")
    return ops.stack([stacked(item, depth + 1) for item in data])


cdef bint loses(TensorBase item) noexcept:
    """Whether a copy of the values of `item` would drop a history or a tangent, or whether `item` may lack own values."""
    cdef unsigned int state = thread_state().flags
    if item.flags & REQUIRES_GRAD and not state & GRAD_DISABLED:
        return True
    if state & MAPPED and Py_TYPE(item) != tensor_type:  # it may represent a batch, whose values are elsewhere
        return True
    return item.flags & TANGENT and state & DUAL


cdef object slow_operand(object value, str op, str argument):
    if type(value) is complex or type(value) is bool:
        return value
    return as_tensor(value, op, argument)


cdef object slow_wrap(object result):
    """`wrap_forward` for a tuple of results, for a result that NumPy made a scalar, and for inference mode."""
    cdef TensorBase tensor
    if type(result) is tuple or type(result) is list:
        return tuple([slow_wrap(item) for item in result])
    tensor = wrap(result if type(result) is ndarray else np.asarray(result))
    if thread_state().flags & INFERENCE:
        tensor.flags |= INFERENCE_TENSOR
    return tensor


cdef tuple as_operands(object values, str op, str argument):
    """A list of arrays as a tuple of operands."""
    if not isinstance(values, (list, tuple, TensorBase, ndarray)) or is_single(values):
        raise TypeError(f"{op}: argument '{argument}' must be a sequence of tensors, got {type(values).__name__}")
    return tuple([as_operand(value, op, argument) for value in values])


# For each claim: kinds of dtypes, in words, and the conversion to suggest.
cdef tuple CLAIMS = (
    ("fiub", "real numbers", "abs(), or .real and .imag, make real arrays of it"),
    ("c", "complex numbers", "astype(complex) makes complex numbers of it"),
    ("iub", "integers and booleans", "astype(int) makes integers of it, a comparison booleans"),
    ("b", "booleans", "a comparison, or astype(bool), makes booleans of it"),
)


cdef object claimed_operand(object value, Claim claim, str op, str argument):
    """`as_operand` for an operator whose entry accepts some dtypes only."""
    cdef str kinds, takes, way_out
    value = as_operand(value, op, argument)
    dtype = (<TensorBase> value).array.dtype if isinstance(value, TensorBase) else np.dtype(type(value))
    kinds, takes, way_out = CLAIMS[claim]
    if dtype.kind not in kinds:
        given = f"dtype {dtype}" if isinstance(value, TensorBase) else f"type {type(value).__name__}"
        raise TypeError(f"{op}: argument '{argument}' is of {given}, but {op} takes {takes}; {way_out}")
    return value


cdef object as_complex_operand(object value, str op, str argument):
    return claimed_operand(value, COMPLEXES, op, argument)


cdef object as_int_operand(object value, str op, str argument):
    return claimed_operand(value, INTEGERS, op, argument)


cdef object as_bool_operand(object value, str op, str argument):
    return claimed_operand(value, BOOLEANS, op, argument)


cdef tuple as_real_operands(object values, str op, str argument):
    return tuple([as_real_operand(value, op, argument) for value in as_operands(values, op, argument)])


cdef tuple as_complex_operands(object values, str op, str argument):
    return tuple([claimed_operand(value, COMPLEXES, op, argument) for value in as_operands(values, op, argument)])


cdef tuple as_int_operands(object values, str op, str argument):
    return tuple([claimed_operand(value, INTEGERS, op, argument) for value in as_operands(values, op, argument)])


cdef tuple as_bool_operands(object values, str op, str argument):
    return tuple([claimed_operand(value, BOOLEANS, op, argument) for value in as_operands(values, op, argument)])


cdef bint is_single(object value):
    """Whether the value lacks an axis to take items along."""
    return isinstance(value, (TensorBase, ndarray)) and value.ndim == 0


cdef object listed(tuple values):
    """The operands passed as `*operands`: the items of a single list, if that is the only argument."""
    return values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values


cdef list arrays_of(tuple values):
    return [array_of(value) for value in values]


cdef object as_mask(object mask, str op, str argument):
    """Booleans: a tensor or an array of booleans is unchanged; other numbers become a new array that is True at nonzeros."""
    cdef ndarray array
    if is_tensor(mask) and PyArray_TYPE((<TensorBase> mask).array) == cnp.NPY_BOOL:
        return mask
    array = array_from(numpy_of(mask), op, argument)
    if array.dtype.kind not in "fciub":
        raise TypeError(f"{op}: argument '{argument}' must be booleans, got {type(mask).__name__}"
                        f"{'' if array.dtype.kind == 'O' else f' of dtype {array.dtype}'}")
    return array if array.dtype.kind == "b" else array.astype(bool)


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
    """The ints of `x.f(2, 3)`, `x.f((2, 3))` or `x.f(argument=(2, 3))`; None if they are optional and absent."""
    if keyword:
        keyword = renamed(keyword, (argument,), op)
    if keyword:
        if list(keyword) != [argument] or values:
            hints = "".join([of_keyword(name, (argument,)) for name in keyword])
            raise TypeError(f"{op}: expected ints or {argument}=..., got the keywords {', '.join(keyword)}"
                            f"{' as well as ints' if values else ''}{hints}")
        return keyword[argument]
    if not values and optional:
        return None
    return values[0] if len(values) == 1 else values


cdef tuple shape_and_dtype(tuple values, object dtype):
    """The ints of `zeros(2, 3)` and a dtype, which NumPy has by position behind one shape: `zeros((2, 3), int)`."""
    if len(values) == 2 and dtype is None and not PyIndex_Check(values[1]) and not isinstance(values[1], (tuple, list)):
        return values[:1], values[1]
    return values, dtype


cdef object numpy_of(object value, int depth=0):
    """Tensors replaced by their arrays, also in sequences."""
    if isinstance(value, TensorBase):
        return (<TensorBase> value).array
    if (type(value) is tuple or type(value) is list) and depth < DEPTH:
        return type(value)([numpy_of(item, depth + 1) for item in value])
    return value


cdef object index_number(object value):
    return value.item() if isinstance(value, TensorBase) else value


cdef object slow_as_index(object index, str op, str argument, int depth):
    """`as_index` of an index that is not an int; a list is one array of positions, as in NumPy."""
    cdef list parts
    cdef bint same = True
    if index is None or index is Ellipsis or type(index) is int:
        return index
    if type(index) is slice:
        return plain_slice(index)
    if type(index) is list and any([i is None or i is ... or type(i) is slice for i in index]):
        index = tuple(index)  # PyTorch's reading; NumPy refuses it
    if type(index) is tuple or type(index) is list:
        if depth > DEPTH:
            raise IndexError(f"{op}: argument '{argument}' is nested too deeply")
        parts = []
        for part in index:
            plain = slow_as_index(part, op, argument, depth + 1)
            same = same and plain is part
            parts.append(plain)
        return index if same else type(index)(parts)
    return index_array(index, op, argument)


cdef object index_array(object index, str op, str argument):
    """Integers or booleans: a tensor or an array unchanged; a single number as Python's, unless there are listeners."""
    cdef ndarray array
    cdef object found = index
    if isinstance(index, TensorBase):
        array = (<TensorBase> index).array
    elif isinstance(index, ndarray):
        array = index
    elif hasattr(index, "__index__"):
        return index if isinstance(index, int) else operator.index(index)
    else:
        found = array = array_from(index, op, argument)
        if array.size == 0:
            found = array = array.astype(np.intp)
    if array.dtype.kind not in "iub":
        raise IndexError(f"{op}: argument '{argument}' must hold integers, booleans or slices, got {type(index).__name__}"
                         f"{'' if array.dtype.kind == 'O' else f' of dtype {array.dtype}'}")
    return array.item() if array.ndim == 0 and not thread_state().flags & LISTENING else found


cdef object slow_index_of(object index):
    if isinstance(index, TensorBase):
        return (<TensorBase> index).array
    if type(index) is tuple or type(index) is list:
        for part in index:
            if isinstance(part, (TensorBase, tuple, list)):
                return type(index)([index_of(part) for part in index])
    return index


cdef object plain_slice(object index):
    """A slice whose ends are not tensors, which could be written to."""
    if isinstance(index.start, TensorBase) or isinstance(index.stop, TensorBase) or isinstance(index.step, TensorBase):
        return slice(index_number(index.start), index_number(index.stop), index_number(index.step))
    return index


cdef int check_new_leaf(object data, str op) except -1:
    """Refuse data whose history or tangents a new leaf would drop."""
    if isinstance(data, (list, tuple)):
        check_parts(data, op, "data")
    elif isinstance(data, TensorBase) and loses(data):
        raise RuntimeError(f"{op}: data requires grad or has a tangent, and a new leaf would drop its history. Use clone() "
                           "to keep it, detach() first to drop it")
    return 0


def tensor(data, dtype=None, requires_grad=False):
    """A new leaf with a copy of `data`.

    Parameters
    ----------
    data : array_like
        Numbers, nested sequences, an array or a tensor.
    dtype : dtype, optional
        NumPy's choice by default: float64 for Python floats.
    requires_grad : bool
        Whether operations on the tensor are recorded.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        `data` holds a tensor that requires grad or has a tangent, which a new leaf would drop.
    """
    check_new_leaf(data, "tensor")
    return as_leaf(leaf_array(data, dtype, True), requires_grad, "tensor", data)


def asarray(data, dtype=None, *, requires_grad=False, copy=None):
    """A tensor around `data`, sharing its memory if possible.

    Parameters
    ----------
    data : array_like
        A tensor is returned unchanged, a list of tensors with a history is stacked and recorded.
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
    if isinstance(data, TensorBase) and ((<TensorBase> data).flags & (REQUIRES_GRAD | TANGENT) or loses(data)):
        return data.astype(dtype if dtype is not None else data.dtype)
    if (type(data) is list or type(data) is tuple) and holds_history(data, 0):
        return asarray(stacked(data, 0), dtype, requires_grad=requires_grad)
    check_new_leaf(data, "asarray")
    return as_leaf(leaf_array(data, dtype, copy), requires_grad, "asarray", data)


cdef ndarray leaf_array(object data, object dtype, object copy):
    """`np.array` of tensors' data, too; a large copy has memory of the pool."""
    data = numpy_of(data)
    if copy and PyArray_CheckExact(data) and (dtype is None or data.dtype == dtype):
        return copy_alike(data)
    return np.array(data, dtype=dtype, copy=copy)


cdef TensorBase as_leaf(ndarray array, requires_grad, str op, object data):
    cdef ThreadState* state = thread_state()
    if array.dtype.kind not in "fciub":
        raise TypeError(f"tensor: expected numbers, got an array of dtype {array.dtype}")
    cdef TensorBase result = wrap(array)
    if state.flags & INFERENCE:
        result.flags |= INFERENCE_TENSOR
    if requires_grad:
        result.requires_grad = True
    if state.flags & LISTENING:
        note_event(state, "made", op, (data,), result)
    return result

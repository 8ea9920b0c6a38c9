"""Arguments: convert users' non-array arguments to the forms that operators and kernels take.

Converts integers, numbers, booleans, strings and dtypes; a refusal names the operator and the argument.  Mutable values are
read once, here.
"""

import operator

import numpy as np

from ..support.capi cimport ndarray
from ..support.errors import describe, meant
from ..support.generator import as_generator as generator_from
from .events cimport note_event
from .grad_mode cimport DUAL, LISTENING, MAPPED, ThreadState, thread_state
from .tensor cimport REQUIRES_GRAD, TANGENT, TensorBase


cdef object refusal(object value, str op, str argument, str wanted):
    cdef str reason = f"argument '{argument}' must be {wanted}, got {describe(value)}"
    return TypeError(f"{op}: {reason}{meant(op, reason)}")


cdef bint is_bool(object value):
    """Whether `value` is a truth value: an integer for Python, but neither an axis nor a length."""
    if isinstance(value, TensorBase):
        value = (<TensorBase> value).array
    return isinstance(value, (bool, np.bool_)) or isinstance(value, ndarray) and value.dtype.kind == "b"


cdef object number_of(object value):
    """The number in an array or a tensor of one element; anything else unchanged."""
    cdef ThreadState* state
    if isinstance(value, TensorBase):
        state = thread_state()
        if state.flags & MAPPED:  # a row has no single number
            note_event(state, "left", "item", (value,), None)
        value = (<TensorBase> value).array
        return value.item() if value.size == 1 else value
    return value[()] if isinstance(value, ndarray) and value.ndim == 0 else value


cdef int check_constant(object value, str op, str argument) except -1:
    """Refuse a tensor whose gradient or tangent would be dropped."""
    if not isinstance(value, TensorBase):
        return 0
    if (<TensorBase> value).flags & REQUIRES_GRAD:
        raise TypeError(f"{op}: argument '{argument}' is a plain number and cannot be differentiated; pass "
                        f"{argument}.item() if no gradient should flow")
    if (<TensorBase> value).flags & TANGENT and thread_state().flags & DUAL:
        raise TypeError(f"{op}: argument '{argument}' is a plain number and cannot carry a tangent; pass "
                        f"{argument}.item() if it should be dropped")
    return 0


cdef object slow_int(object value, str op, str argument):
    cdef object found
    if not is_bool(value):
        try:
            found = operator.index(value)
            if -2**63 <= found < 2**63:
                return found
        except TypeError:
            pass
        else:
            raise OverflowError(f"{op}: argument '{argument}' must be an int of 64 bits, got {describe(value)}")
    raise refusal(value, op, argument, "an int") from None


cdef object slow_float(object value, str op, str argument):
    cdef object number
    check_constant(value, op, argument)
    number = number_of(value)
    if not is_bool(number) and not isinstance(number, ndarray) and hasattr(type(number), "__float__"):
        try:
            return float(number)
        except (TypeError, ValueError, OverflowError):
            pass
    raise refusal(value, op, argument, "a real number") from None


cdef object slow_bool(object value, str op, str argument):
    cdef object number = number_of(value)
    if isinstance(number, (bool, int, np.bool_, np.integer)):
        return bool(number)
    raise refusal(value, op, argument, "True or False")


cdef object slow_scalar(object value, str op, str argument):
    cdef object number
    check_constant(value, op, argument)
    number = number_of(value)
    if isinstance(number, (int, float, complex, np.number, np.bool_)):
        return number
    if not isinstance(number, ndarray) and hasattr(type(number), "__float__"):
        return slow_float(number, op, argument)
    raise refusal(value, op, argument, "a number")


cdef object as_axes(object value, object x, str op):
    """The axes of `x` as a tuple.  Axis 0 of a number is left out, as in PyTorch and in NumPy's sums."""
    cdef tuple axes = as_ints(value, op, "axis", -1)
    if len(axes) == 1 and (axes[0] == 0 or axes[0] == -1) and np.ndim((<TensorBase> x).array if isinstance(x, TensorBase) else x) == 0:
        return ()
    return axes


cdef object as_ints(object value, str op, str argument, Py_ssize_t count):
    """A tuple of ints, from one int or a sequence of them.

    If the type fixes a `count` (otherwise it is -1), one int, alone or in a sequence, is repeated that often; any other length is
    refused.
    """
    cdef tuple ints
    cdef str wanted = "an int or a sequence of ints" if count < 0 else f"an int or {count} ints"
    if type(value) is not tuple and type(value) is not list:
        if hasattr(value, "__index__") and not (isinstance(value, (TensorBase, ndarray)) and value.ndim):
            try:
                return (as_int(value, op, argument),) * (1 if count < 0 else count)
            except TypeError:
                pass
        if isinstance(value, (str, bytes, bytearray, dict, set, frozenset)) or not hasattr(value, "__len__"):
            raise refusal(value, op, argument, wanted) from None
    try:
        ints = tuple([as_int(item, op, argument) for item in value])
    except TypeError:
        raise refusal(value, op, argument, wanted) from None
    if len(ints) == 1 and count > 1:
        return ints * count
    if count >= 0 and len(ints) != count:
        raise ValueError(f"{op}: argument '{argument}' must be {wanted}, got {len(ints)}: {ints}")
    return ints


cdef object as_str(object value, str op, str argument):
    if isinstance(value, str):
        return value
    raise refusal(value, op, argument, "a string")


cdef object as_generator(object generator, str op, str argument):
    """The generator that a random operator draws from; listeners are told of it."""
    cdef ThreadState* state = thread_state()
    cdef object source = generator_from(generator, op, argument)
    if state.flags & LISTENING:
        note_event(state, "draw", op, (generator,), source)
    return source


cdef object as_dtype(object dtype, str op, str argument):
    """A dtype of numbers."""
    try:
        found = np.dtype(dtype)
    except Exception:
        raise refusal(dtype, op, argument, "a dtype") from None
    if found.kind not in "fciub" or dtype is None:
        raise refusal(dtype, op, argument, "a dtype of numbers")
    return found

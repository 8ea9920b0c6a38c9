"""Memory as events: find the arrays in an event's inputs and outputs."""

from .tensor cimport TensorBase
from ..support.capi cimport ndarray

cdef inline ndarray array_in(object value):
    """The array itself, or a tensor's array; else None."""
    if isinstance(value, TensorBase):
        return (<TensorBase> value).array
    return <ndarray> value if isinstance(value, ndarray) else None


cdef inline bint is_list_of_numbers(object value):
    """Whether the value is a list, perhaps a long one, that does not begin with an array."""
    return isinstance(value, (tuple, list)) and (len(value) == 0 or array_in(value[0]) is None)

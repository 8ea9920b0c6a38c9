"""Memory as events: the arrays in what an event took and gave."""

from .tensor cimport TensorBase
from ..support.capi cimport ndarray

cdef inline ndarray array_in(object value):
    """The array that a value is or holds, else None."""
    if isinstance(value, TensorBase):
        return (<TensorBase> value).array
    return <ndarray> value if isinstance(value, ndarray) else None


cdef inline bint is_list_of_numbers(object value):
    """Whether it is a list, which may be long, and does not begin with an array."""
    return isinstance(value, (tuple, list)) and (len(value) == 0 or array_in(value[0]) is None)

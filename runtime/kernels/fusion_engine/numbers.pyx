"""Python numbers as operands beside arrays: convert a number to the dtype of the array beside it.

The result of numbers alone stays a Python number.
"""

from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.long cimport PyLong_AsDouble
from libc.math cimport isinf

import numpy as np


cdef bint store_number(object value, int slot, Number* number) except -1:
    """Write a Python number in the dtype of `slot`; False if NumPy has to decide (complex, out of range)."""
    cdef double real
    if type(value) is float:
        real = PyFloat_AS_DOUBLE(value)
    elif type(value) is int or type(value) is bool:
        try:
            real = PyLong_AsDouble(value)
        except OverflowError:
            return False
    else:
        return False
    if slot == 1:
        number.d = real
    elif slot == 3:
        number.D[0] = real
        number.D[1] = 0.0
    else:
        if slot == 0:
            number.f = <float> real
        else:
            number.F[0] = <float> real
            number.F[1] = 0.0
        if isinf(<float> real) and not isinf(real):
            return False
    return True


cdef bint is_number(object value) noexcept:
    return type(value) is float or type(value) is int or type(value) is complex or type(value) is bool


cdef object weak(object result):
    """A Python number for a result of Python numbers alone: it adopts the dtype of an array that it is combined with."""
    return result.item() if isinstance(result, (np.generic, np.ndarray)) else result

"""Deferred arrays: values that represent arrays not yet computed.

Defines their interface: a ufunc or program that receives a deferred array calls its method `call` for the result.
"""

from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE


cdef class Deferred:
    """An array that is computed on request."""

    cdef ndarray computed(self):
        """The array."""
        return self.array

    cdef object call(self, object function, tuple operands, unsigned int wanted):
        """The result of a ufunc or a program whose operands include this value."""
        raise NotImplementedError


cdef Deferred deferred_among(tuple operands):
    """The first deferred operand, or None."""
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(operands)):
        if isinstance(<object> PyTuple_GET_ITEM(operands, i), Deferred):
            return <Deferred> PyTuple_GET_ITEM(operands, i)
    return None

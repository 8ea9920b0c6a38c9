"""Deferred arrays: values that stand for arrays not yet computed.

Owns the interface of a deferred array: a ufunc or program that receives one asks it what the call returns.
"""

from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE


cdef class Deferred:
    """An array that is computed when it is asked for."""

    cdef ndarray computed(self):
        """The array."""
        return self.array

    cdef object call(self, object function, tuple operands, unsigned int wanted):
        """What a ufunc or a program gives for operands of which this is one."""
        raise NotImplementedError


cdef Deferred deferred_among(tuple operands):
    """The first of some operands that is deferred; None where there is none."""
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(operands)):
        if isinstance(<object> PyTuple_GET_ITEM(operands, i), Deferred):
            return <Deferred> PyTuple_GET_ITEM(operands, i)
    return None

"""Values that stand for arrays which nobody has computed yet.

Owns what ufuncs and programs, which meet such values in the place of arrays, need to know of them: that whoever put them off
says what a call makes of them.
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

"""Kernels that put their result into an array that is there, so that a replay needs no new one.

Owns which operators have one, by name; the kernel itself says so.  It computes the bits that the operator's forward computes on
the same operands, gives the same warnings, and takes an array of the dtype and the shape of the result, in C's layout, that
shares no memory with an operand.
"""

from libc.stdint cimport uintptr_t

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_CopyInto

cnp.import_array()

cdef dict _kernels = {}


cdef int offer_into(str name, int operands, Into function) except -1:
    """Say that an operator on so many arrays has such a kernel."""
    _kernels[name] = operands, <uintptr_t> function
    return 0


cdef Into into_of(str name):
    return <Into> <uintptr_t> _kernels[name][1]


def goes_into(str name, operands):
    """Whether an operator on so many arrays, and nothing else, has such a kernel."""
    return _kernels.get(name, (None, 0))[0] == operands


cdef int cast_into(PyObject** operands, ndarray out) except -1:
    """Numbers in another dtype, as ``np.array(x, dtype)``: no operator's, but what a replay makes of `gs.tensor(x, dtype)`."""
    return PyArray_CopyInto(out, <ndarray> operands[0])


offer_into("cast", 1, cast_into)

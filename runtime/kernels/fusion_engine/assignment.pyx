"""Kernels that write their result into an existing array, so that a replay does not allocate.

Holds the kernels by operator name; a kernel registers itself.  It must compute the same bits as the operator's forward, and give
the same warnings.  The array has the dtype and shape of the result, is C-contiguous, and shares no memory with an operand.
"""

from libc.stdint cimport uintptr_t

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_CopyInto

cnp.import_array()

cdef dict _kernels = {}


cdef int offer_into(str name, int operands, Into function) except -1:
    """Register such a kernel for an operator on `operands` arrays."""
    _kernels[name] = operands, <uintptr_t> function
    return 0


cdef Into into_of(str name):
    return <Into> <uintptr_t> _kernels[name][1]


def goes_into(str name, operands):
    """Whether an operator on `operands` arrays, and no other arguments, has such a kernel."""
    return _kernels.get(name, (None, 0))[0] == operands


cdef int cast_into(PyObject** operands, ndarray out) except -1:
    """Convert to another dtype, as ``np.array(x, dtype)``: not an operator, but how a replay computes `gs.tensor(x, dtype)`."""
    return PyArray_CopyInto(out, <ndarray> operands[0])


offer_into("cast", 1, cast_into)

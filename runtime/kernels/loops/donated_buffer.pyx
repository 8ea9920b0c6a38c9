"""Donation of a buffer: a caller offers an existing array for the next result.

`empty` of `memory` returns the offered array to the first request of the same thread for its dtype and shape.  So a kernel that
writes its result into the first array that it allocates writes it in place, without knowing of the offer.  The caller then checks
the address of the result: the kernel may have used the offered array for something else, or NumPy may have allocated the result.
The array may share the memory of an operand if the operator's entry allows it.  A kernel that has begun to write and then leaves
the result to NumPy calls `give_up`, because the operand has been overwritten.
"""

from ...support.capi cimport PyArray_BYTES

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() noexcept

cdef unsigned long thread = 0   # that offered it


cdef bint is_mine() noexcept:
    """Whether this thread offered the array: another thread may run meanwhile, because kernels release the GIL."""
    return PyThread_get_thread_ident() == thread


cdef void offer(ndarray array) noexcept:
    """Offer a C-contiguous array; the caller keeps its reference until `take_back`."""
    global offered, thread
    offered, thread = <PyObject*> array, PyThread_get_thread_ident()


cdef bint take_back(ndarray array) noexcept:
    """Withdraw an offer; whether the array was still on offer."""
    global offered
    if offered != <PyObject*> array:
        return False
    offered = NULL
    return True


class Overwritten(Exception):
    """A loop has overwritten its operand with part of a result, which must be recomputed from the start by other means."""


cdef int give_up(ndarray y, ndarray operand) except -1:
    """Leave to NumPy a result that a loop has begun in `y`.

    Raises
    ------
    Overwritten
        `y` shares the memory of the operand.
    """
    if PyArray_BYTES(y) == PyArray_BYTES(operand):
        raise Overwritten
    return 0

"""Offers: an array that is there, for the next result.

Owns the one that is offered.  Who calls a kernel and has memory for its result offers an array around it; the first array of its
dtype and shape that the thread asks for (`empty` of `memory`) is that one.  So kernels that put their result into the first array
that they take put it where it belongs, and know nothing of it.  Who offers looks where the result lies: a kernel may have used
the array for something else, or NumPy may have made the result.  It may lie where an operand lies, if the operator's entry says
that its kernel can do with that; a kernel that has begun and leaves the result to NumPy gives up, for its operand is gone.
"""

from ...support.capi cimport PyArray_BYTES

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() noexcept

cdef unsigned long thread = 0   # that offered it


cdef bint is_mine() noexcept:
    """Whether this thread has offered the array: kernels give up the GIL."""
    return PyThread_get_thread_ident() == thread


cdef void offer(ndarray array) noexcept:
    """Offer a C-contiguous array, which the caller holds until it takes it back."""
    global offered, thread
    offered, thread = <PyObject*> array, PyThread_get_thread_ident()


cdef bint take_back(ndarray array) noexcept:
    """An array is offered no more; whether it still was."""
    global offered
    if offered != <PyObject*> array:
        return False
    offered = NULL
    return True


class Overwritten(Exception):
    """A result was begun in an operand's place, and has to be computed by other means, from the start."""


cdef int give_up(ndarray y, ndarray operand) except -1:
    """Say that NumPy has to compute what a loop has begun in `y`.

    Raises
    ------
    Overwritten
        The operand was there.
    """
    if PyArray_BYTES(y) == PyArray_BYTES(operand):
        raise Overwritten
    return 0

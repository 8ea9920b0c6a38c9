"""Offers: an array that is there, for the next result.

Owns the one that is offered.  Who calls a kernel and has memory for its result offers an array around it; the first array of its
dtype and shape that the thread asks for (`empty` of `memory`) is that one.  So kernels that put their result into the first array
that they take put it where it belongs, and know nothing of it.  Who offers looks where the result lies: a kernel may have used
the array for something else, or NumPy may have made the result.
"""

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


cdef void take_back(ndarray array) noexcept:
    """An array is offered no more."""
    global offered
    if offered == <PyObject*> array:
        offered = NULL
